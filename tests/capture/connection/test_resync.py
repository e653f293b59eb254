"""Resynchronisation: the boundary of a frame is found among other bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_admin_proto.capture.connection.pairing import PendingRequest, RequestTable
from kafka_admin_proto.capture.connection.resync import Boundary, end_to_end, find_boundary
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.protocol import frame, write_request, write_response

REQUEST = frame(write_request(DeleteTopicsRequest(topic_names=["apples"]), 3, 7, client_id="me"))
RESPONSE = frame(write_response(DeleteTopicsResponse(), 3, 7))


def search(
    data: bytes,
    from_client: bool | None,
    *,
    complete: bool = False,
    options: DecodeOptions = DEFAULT_OPTIONS,
) -> Boundary | None:
    pending = RequestTable()
    pending.expect(7, PendingRequest(20, 3))
    return find_boundary(
        bytearray(data), from_client, pending, options, complete=complete, full=False
    )


@pytest.mark.parametrize(("data", "from_client"), [(REQUEST, True), (RESPONSE, False)])
def test_a_frame_over_the_limit_is_no_boundary(data: bytes, from_client: bool) -> None:
    """The stream would lose its sync at it again, and find it again, for ever."""
    at_limit = DecodeOptions(limit=len(data) - 4)
    assert search(data, from_client, options=at_limit) == (0, from_client)
    assert search(data, from_client, options=DecodeOptions(limit=len(data) - 5)) is None


@given(st.binary(max_size=40).map(lambda rest: b"\xff" + rest.replace(b"\0", b"\1")))
def test_frames_behind_other_bytes(rest: bytes) -> None:
    assert search(rest + REQUEST, True) == (len(rest), True)
    assert search(rest + REQUEST, None) == (len(rest), True)
    assert search(rest + RESPONSE, False) == (len(rest), False)
    assert search(rest, True) is None


def test_a_cut_frame_is_not_a_boundary() -> None:
    assert search(b"\xff" + REQUEST[:-1], True) is None
    assert search(b"\xff" + RESPONSE[:-1], False) is None


def test_sizes_alone_are_enough_at_the_end_of_what_may_be_responses() -> None:
    unpaired = b"\0\0\0\4\0\0\0\x63" * 3
    assert search(unpaired, False) is None
    assert search(unpaired, False, complete=True) == (0, False)
    assert search(unpaired, None, complete=True) == (0, None)
    assert search(unpaired, True, complete=True) is None
    assert search(unpaired[:-1], False, complete=True) is None
    assert end_to_end(bytearray(unpaired), 100, complete=True)
    assert not end_to_end(bytearray(unpaired), 3, complete=True)
