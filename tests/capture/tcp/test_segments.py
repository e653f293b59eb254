"""Segments of packets that were cut off, whatever their headers say."""

from __future__ import annotations

import pytest

from kafka_admin_proto.capture.tcp.segments import read_segment
from tests.capture.packets import KINDS, Packet


@pytest.mark.parametrize("header", range(5, 16))
def test_headers_that_reach_beyond_the_packet(header: int) -> None:
    """No bytes are missing then, rather than fewer than none, for which chunks have no number."""
    link, wrap = KINDS["ethernet"]
    whole = bytearray(wrap(Packet(("10.0.0.1", 40000), ("10.0.0.2", 9092), 1, data=bytes(50))))
    whole[14 + 20 + 12] = header << 4
    for size in range(20, 120):
        whole[16:18] = size.to_bytes(2, "big")
        for captured in range(14 + 40, len(whole)):
            segment = read_segment(link, bytes(whole[:captured]))
            if segment is None:
                continue
            _, _, _, payload, missing, _ = segment
            assert len(payload) + missing == max(size - 20 - 4 * header, 0)
            assert missing >= 0
