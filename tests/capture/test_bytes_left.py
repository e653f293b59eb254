"""Requests with bytes behind their bodies, which brokers pass over, are requests as others are."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_admin_proto import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.capture import DecodedFrame, FrameDecoder, read_blocks
from kafka_admin_proto.messages.api_versions_response import ApiVersion
from tests.capture.packets import conversation, pcap
from tests.capture.test_captures import Turn, answers, asks, read


def longer(turn: Turn, rest: bytes) -> Turn:
    """The frame with bytes behind its body."""
    is_client, data = turn
    size = int.from_bytes(data[:4], "big") + len(rest)
    return is_client, size.to_bytes(4, "big") + data[4:] + rest


#: As librdkafka 0.9.1 to 0.11 asks.
OLD_LIBRDKAFKA = [
    longer(asks(ApiVersionsRequest(), 0, 1), bytes(4)),
    answers(ApiVersionsResponse(api_keys=[ApiVersion(3, 0, 5)]), 0, 1),
    asks(MetadataRequest(topics=[]), 0, 2),
    answers(MetadataResponse(), 0, 2),
]


def facts(frames: list[DecodedFrame]) -> list[tuple[object, ...]]:
    """Those of a connection without its start wait, and are out of their order."""
    rows = [(each.ts, each.direction, each.api, each.client, each.client_id) for each in frames]
    return [row[1:] for row in sorted(rows)]


@pytest.mark.parametrize("handshake", [True, False])
def test_librdkafkas_api_versions(handshake: bool, tmp_path: Path) -> None:
    frames = read(tmp_path, pcap(conversation(OLD_LIBRDKAFKA, handshake=handshake)))
    assert [each.problem for each in frames] == [None] * 4
    assert facts(frames) == [
        (direction, api, "10.0.0.1:40000", "me")
        for api in ("ApiVersions", "Metadata")
        for direction in ("request", "response")
    ]
    assert {each.latency_us for each in frames} == {None, 100}


def test_of_a_dump() -> None:
    decoder = FrameDecoder()
    text = "\n\n".join(data.hex() for _, data in OLD_LIBRDKAFKA)
    frames = [each for block in read_blocks(text.encode()) for each in decoder.decode(block)]
    assert [each.problem for each in frames] == [None] * 4
    assert [each.direction for each in frames] == ["request", "response", "request", "response"]


@pytest.mark.parametrize("rest", [b"\1", b"more bytes", b"\xff" * 40])
def test_other_bytes_left_over(rest: bytes, tmp_path: Path) -> None:
    """They are said; the request counts for boundaries, pairs and the client's id."""
    turns = [
        longer(asks(HeartbeatRequest(group_id="g"), 4, 1), rest),
        answers(HeartbeatResponse(), 4, 1),
        longer(asks(HeartbeatRequest(group_id="g"), 4, 2), rest),
        answers(HeartbeatResponse(), 4, 2),
    ]
    frames = read(tmp_path, pcap(conversation(turns)))
    assert [each.latency_us for each in frames] == [None, 100] * 2
    assert [each.problem is None for each in frames] == [False, True] * 2
    assert {each.client_id for each in frames} == {"me"}
    # Without the start of the connection a password may be among what does not read whole.
    frames = read(tmp_path, pcap(conversation(turns, handshake=False)))
    assert [row[:3:2] for row in facts(frames)] == [
        ("request", "10.0.0.1:40000"), ("response", "10.0.0.1:40000"),
    ] * 2  # fmt: skip
