"""Segments in any order give the bytes in order; bytes that never come are reported as missing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.capture.tcp.reassembly import (
    REASSEMBLY_TIMEOUT_US,
    ReassemblyState,
    StreamReassembler,
)
from kafka_admin_proto.capture.tcp.segments import read_segment
from tests.capture.packets import KINDS, Packet

START = (1 << 32) - 20  # sequence numbers wrap


class Sink:
    def __init__(self) -> None:
        self.events: list[bytes | int] = []

    def data(self, data: bytes, ts: int) -> None:
        self.events.append(data)

    def missing(self, size: int, ts: int, *, cut_off: bool = False) -> None:
        self.events.append(size)

    @property
    def bytes(self) -> bytes:
        return b"".join(each for each in self.events if isinstance(each, bytes))


def started() -> tuple[StreamReassembler, Sink]:
    sink = Sink()
    found = StreamReassembler(sink, ReassemblyState())
    assert found.start(START)
    return found, sink


@given(st.permutations(range(12)), st.lists(st.integers(0, 11), max_size=4))
def test_any_order_with_repeats_gives_the_stream(order: list[int], again: list[int]) -> None:
    stream = bytes(range(60))
    found, sink = started()
    for number in [*order[:6], *again, *order[6:]]:
        at = 5 * number
        assert found.segment((START + at) % (1 << 32), stream[at : at + 5], 0, 0)
    assert sink.bytes == stream
    assert not found.has_gap


def test_a_gap_is_awaited_and_then_missing() -> None:
    found, sink = started()
    found.segment((START + 4) % (1 << 32), b"late", 0, 0)
    assert found.has_gap
    assert not sink.events
    found.segment((START + 8) % (1 << 32), b"more", 0, REASSEMBLY_TIMEOUT_US + 1)
    assert sink.events == [4, b"late", b"more"]


def test_acknowledged_bytes_are_not_awaited_for_long() -> None:
    found, sink = started()
    found.segment((START + 4) % (1 << 32), b"late", 0, 0)
    found.acknowledged((START + 8) % (1 << 32), 100)
    assert not sink.events
    found.acknowledged((START + 8) % (1 << 32), 300_000)
    assert sink.events == [4, b"late"]


def test_a_segment_far_away_is_another_connections() -> None:
    found, _ = started()
    assert not found.segment((START + (1 << 30)) % (1 << 32), b"x", 0, 0)


@given(st.integers(0, 11))
def test_a_state_goes_on(stop: int) -> None:
    stream = bytes(range(60))
    found, sink = started()
    for number in range(11, -1, -1):
        if number == stop:
            found = StreamReassembler(sink, found.state())
        found.segment((START + 5 * number) % (1 << 32), stream[5 * number : 5 * number + 5], 0, 0)
    assert sink.bytes == stream


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
