r"""The debug log of kafka-python: what each connection sent and received, in chunks::

    2026-01-31 12:00:00,123 DEBUG:kafka.protocol.parser:node=1[10.0.0.2:9092] Send: bytearray(b'…')
    2026-01-31 12:00:00,125 DEBUG:kafka.protocol.parser:node=1[10.0.0.2:9092] Recv: b'\x00\x00…'

Other lines are passed over. Times are taken as UTC.
"""

from __future__ import annotations

import re

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.chunks import ChunkJoiner
from kafka_admin_proto.capture.dumps.strings import read_string
from kafka_admin_proto.capture.dumps.text import lines
from kafka_admin_proto.capture.text_times import time_in

#: The connection, the direction, and the quote of the bytes.
_BYTES = re.compile(r"(?<!\S)(\S{1,300}) (Send|Recv): (?:bytearray\()?b(['\"])")


def matches(sample: bytes) -> bool:
    return b" Send: b" in sample and any(_BYTES.search(line) for _, line in lines(sample))


def read(data: bytes) -> list[Block]:
    joiner = ChunkJoiner()
    for number, line in lines(data):
        logged = _BYTES.search(line)
        if logged is not None:
            moved = bytearray()
            read_string(line, logged.end(), logged[3], moved, number)
            connection = logged[1].rpartition(":kafka.protocol.parser:")[2]
            joiner.add(f"{connection} {logged[2]}", bytes(moved), number, time_in(line[:64]))
    return joiner.finish()


READER = Reader("kafka-python", "kafka-python's log at DEBUG", matches, read, rank=4)
