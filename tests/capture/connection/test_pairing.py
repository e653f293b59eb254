"""The table of pending requests: bounded, in order, and each kept frame leaves it once."""

from __future__ import annotations

import pytest

from kafka_admin_proto.capture.connection import pairing
from kafka_admin_proto.capture.connection.pairing import PendingRequest, RequestTable
from kafka_admin_proto.capture.frames import DecodedFrame


def kept(number: int) -> PendingRequest:
    frame = DecodedFrame(capture="", direction="request", data=bytes(10), stream_offset=number)
    return PendingRequest(3, 12, ts=number, frame=frame)


def test_the_oldest_of_one_id_is_answered_first() -> None:
    table = RequestTable()
    for number in range(3):
        table.expect(7, kept(number))
    taken = [table.take(7) for _ in range(4)]
    assert [each and each.ts for each in taken] == [0, 1, 2, None]
    assert len(table) == 0


def test_requests_without_a_response_are_handed_out_once() -> None:
    unanswered: list[DecodedFrame] = []
    table = RequestTable(max_ids=2, max_same_id=2, unanswered=unanswered)
    for number in range(3):
        table.expect(number, kept(number))
    assert [each.stream_offset for each in unanswered] == [0]
    for number in range(3, 5):
        table.expect(2, kept(number))
    assert [each.stream_offset for each in unanswered] == [0, 2]
    assert list(table.newest_ids(5)) == [2, 1]
    table.take(1)
    table.finish()
    assert [each.stream_offset for each in unanswered] == [0, 2, 3, 4]


def test_kept_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "MAX_KEPT_BYTES", 35)
    unanswered: list[DecodedFrame] = []
    table = RequestTable(unanswered=unanswered)
    for number in range(5):
        table.expect(number, kept(number))
    assert [each.stream_offset for each in unanswered] == [0, 1]
    taken = [table.take(number) for number in range(5)]
    assert [each is not None and each.frame is not None for each in taken] == [
        False, False, True, True, True,
    ]  # fmt: skip
