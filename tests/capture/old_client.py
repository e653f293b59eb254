"""Writes ``samples/old_client.pcap.gz``: the frames of ``samples/create_topics.hex`` as a capture.

::

    python -m tests.capture.old_client

The requests are CreateTopics of versions 0 and 1, which release 4.0 removed, so that the question
of an upgrade has a client to name. Addresses and times are invented.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from kafka_admin_proto.capture import FrameDecoder, read_blocks
from tests.capture.packets import conversation, pcap

_SAMPLES = Path(__file__).parents[2] / "samples"
DUMP = _SAMPLES / "create_topics.hex"
CAPTURE = _SAMPLES / "old_client.pcap.gz"
#: 2026-11-21T03:00:00Z, behind the other captures.
_START_US = 1_795_230_000_000_000


def old_client() -> bytes:
    """The capture: one connection, a packet for each frame."""
    decoder = FrameDecoder()
    frames = [each for block in read_blocks(DUMP.read_bytes()) for each in decoder.decode(block)]
    turns = [(each.direction == "request", each.data) for each in frames]
    return pcap(conversation(turns, ts=_START_US))


if __name__ == "__main__":
    CAPTURE.write_bytes(gzip.compress(old_client(), mtime=0))
