"""Raw bytes: any input that is not a text."""

from __future__ import annotations

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.text import encoding_of


def matches(sample: bytes) -> bool:
    return bool(sample) and not encoding_of(sample)


def read(data: bytes) -> list[Block]:
    return [Block(data)] if data else []


READER = Reader("raw", "bytes as they are", matches, read, rank=70)
