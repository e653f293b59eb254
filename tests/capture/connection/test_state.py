"""A conversation that goes on from its state gives the frames that it gives without a stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_admin_proto.capture.connection.conversation import Conversation
from kafka_admin_proto.capture.connection.state import (
    STATE_VERSION,
    ConversationState,
    StateError,
    read_state,
    write_state,
)
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.capture.tcp.segments import Segment, read_segment, reversed_key

SAMPLE = Path(__file__).parents[3] / "samples" / "admin42.pcap.gz"
OPTIONS = DecodeOptions(keep_requests=frozenset({3, 19, 20}))


def segments() -> dict[bytes, list[tuple[int, int, Segment]]]:
    """The segments of each conversation of a sample: time, end, segment."""
    found: dict[bytes, list[tuple[int, int, Segment]]] = {}
    with SAMPLE.open("rb") as stream:
        for ts, link, data in read_packets(open_packets(stream), lambda at, error: None):
            segment = read_segment(link, data)
            if segment is not None and segment[0]:
                key, other = segment[0], reversed_key(segment[0])
                found.setdefault(min(key, other), []).append((ts, int(other < key), segment))
    return found


Record = dict[str, Any]


def decoded(
    stop_every: int, *, lost: int = 0
) -> tuple[list[tuple[Record, Record | None]], list[Record]]:
    """The frames, each with its request, and the requests without a response.

    After every ``stop_every`` packets the conversation goes on from its state; one packet of
    ``lost`` is left out.
    """
    out: list[DecodedFrame] = []
    unanswered: list[DecodedFrame] = []
    names = TopicNameIndex()
    ordinal = 0
    for key, packets in segments().items():
        conversation = Conversation(key, OPTIONS, names, out)
        for ts, end, (_, sequence, flags, payload, missing, acknowledged) in packets:
            ordinal += 1
            if lost and ordinal % lost == 0:
                continue
            conversation.segment(
                end, sequence, flags, payload, missing, acknowledged, ts, ordinal, "sample"
            )
            state = conversation.state() if ordinal % stop_every == 0 else None
            if state is not None:
                unanswered += conversation.unanswered
                conversation = Conversation.from_state(state, key, OPTIONS, names, out)
        conversation.close()
        unanswered += conversation.unanswered
    frames = [
        (frame_record(each, raw=True), None if each.request is None else frame_record(each.request))
        for each in out
    ]
    return frames, [frame_record(each) for each in unanswered]


@pytest.mark.parametrize("lost", [0, 23])
def test_a_stop_changes_no_frame(lost: int) -> None:
    assert decoded(3, lost=lost) == decoded(1 << 30, lost=lost)


def test_responses_know_their_requests_and_the_others_are_unanswered() -> None:
    frames, unanswered = decoded(1 << 30)
    answers = [
        (record, request)
        for record, request in frames
        if record["direction"] == "response" and record["api_key"] in OPTIONS.keep_requests
    ]
    assert answers
    for record, request in answers:
        assert request is not None
        assert request["direction"] == "request"
        assert request["correlation_id"] == record["correlation_id"]
        assert request["ts"] == record["ts"] - record["latency_us"]
    _, missed = decoded(1 << 30, lost=7)
    assert len(missed) > len(unanswered)


def test_another_version_or_damage_is_refused() -> None:
    data = write_state(ConversationState(connections=2))
    assert read_state(data).connections == 2
    with pytest.raises(StateError, match=f"reads version {STATE_VERSION}"):
        read_state(b"\xff\xff" + data[2:])
    with pytest.raises(StateError, match="damaged"):
        read_state(data[:-1])


def test_a_state_of_before_or_after_a_field_was_added_is_read() -> None:
    """A stream goes on with the next release, and with the one before where it is put back."""
    key, packets = max(segments().items(), key=lambda each: len(each[1]))
    decoder = Conversation(key, OPTIONS, TopicNameIndex(), [])
    for ordinal, (ts, end, segment) in enumerate(packets[: len(packets) // 2]):
        decoder.segment(end, *segment[1:], ts, ordinal, "capture")
    data = decoder.state()
    assert data is not None
    state, older = read_state(data), msgspec.msgpack.decode(data[2:])
    assert older["connection"].pop("client_id")
    older["connection"]["field of the next release"] = 1
    found = read_state(b"\0\2" + msgspec.msgpack.encode(older))
    assert found.connection is not None
    assert state.connection is not None
    found.connection.client_id = state.connection.client_id
    assert found == state
