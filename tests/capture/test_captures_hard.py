"""What made captures go wrong once: late and missing packets, hostile streams, logins cut short."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from kafka_admin_proto import (
    CreateDelegationTokenResponse,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
    RequestHeader,
    ResponseHeader,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_admin_proto.protocol import frame
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from tests.capture import packets as made
from tests.capture.packets import Packet, conversation, ip4, pcap
from tests.capture.test_captures import SECRET, USUAL, Turn, answers, asks, plain, read

SECOND = 1_000_000
#: Microseconds since 1970.
START = 1_700_000_000_000_000


def heartbeats(count: int) -> list[Turn]:
    turns = []
    for number in range(count):
        turns.append(asks(HeartbeatRequest(group_id="g"), 4, number))
        turns.append(answers(HeartbeatResponse(), 4, number))
    return turns


def spread(packets: Sequence[Packet], gap: int, latency: int) -> list[Packet]:
    """Requests ``gap`` apart, each answered ``latency`` later; acknowledged at once."""
    found, ts = [], packets[0].ts
    for packet in packets:
        ts += latency if packet.source == made.SERVER else gap - latency
        found.append(replace(packet, ts=ts))
    return found


@pytest.mark.parametrize("side", [made.CLIENT, made.SERVER])
@pytest.mark.parametrize("acknowledged", [True, False])
def test_a_lost_packet_costs_no_more_than_itself(
    tmp_path: Path, side: tuple[str, int], acknowledged: bool
) -> None:
    packets = spread(conversation(heartbeats(200)), 100_000, 5000)
    if acknowledged:
        packets = made.with_acknowledgements(packets)
    lost = [p for p in packets if p.source == side and p.data][5]
    packets.remove(lost)
    frames = read(tmp_path, pcap(packets))
    decoded = [f for f in frames if f.problem is None]
    assert len(decoded) == (398 if side == made.CLIENT else 399)
    assert {f.latency_us for f in decoded if f.direction == "response"} == {5000}
    times = [f.ts for f in decoded if f.direction == "request"]
    assert {b - a for a, b in pairwise(times) if a and b} <= {100_000, 200_000}


def test_times_of_a_connection_captured_from_the_middle(tmp_path: Path) -> None:
    packets = spread(conversation(heartbeats(5), handshake=False), 60 * SECOND, 5000)
    frames = read(tmp_path, pcap(packets))
    assert {f.latency_us for f in frames if f.direction == "response"} == {5000}
    times = [f.ts for f in frames if f.direction == "request"]
    assert {b - a for a, b in pairwise(times) if a and b} == {60 * SECOND}


LOGIN = [
    asks(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1),
    answers(SaslHandshakeResponse(mechanisms=["PLAIN"]), 0, 1),
    (True, frame(b"\0alice\0" + SECRET)),
]


def test_requests_after_the_tokens_are_none(tmp_path: Path) -> None:
    newer = (True, frame(RequestHeader(3, 99, 7, "me").encode(2) + b"?"))
    own = (True, frame(RequestHeader(10001, 0, 8, "me").encode(2) + b"?"))
    turns = [*LOGIN, (False, frame(b"")), newer, own, *heartbeats(2)]
    frames = read(tmp_path, pcap(conversation(turns)))
    assert [f.is_token for f in frames] == [False, False, True, True] + [False] * 6
    assert [(f.api_key, f.api_version) for f in frames[4:6]] == [(3, 99), (10001, 0)]
    assert {f.principal for f in frames[4:]} == {"User:alice"}


@pytest.mark.parametrize("cut", ["hole", "snapped", "no handshake"])
def test_a_password_after_a_handshake_that_is_cut_is_masked(tmp_path: Path, cut: str) -> None:
    packets = conversation(LOGIN, size=20 if cut == "hole" else 1448)
    if cut == "hole":
        packets.remove([p for p in packets if p.data and p.source == made.CLIENT][1])
    data = pcap(packets)
    if cut == "snapped":
        data = pcap([packets[3]], snap=14 + 20 + 32 + 24) + pcap(packets[:3] + packets[4:])[24:]
    if cut == "no handshake":
        data = pcap(conversation(LOGIN[2:]))
    for each in read(tmp_path, data):
        assert SECRET.hex() not in str(frame_record(each, raw=True))


def test_a_token_in_a_response_of_an_unknown_version_is_masked(tmp_path: Path) -> None:
    made_by = CreateDelegationTokenResponse(hmac=SECRET).encode(3)
    turns = [
        (True, frame(RequestHeader(38, 99, 0x30001, "me").encode(2) + b"?")),
        (False, frame(ResponseHeader(0x30001).encode(1) + made_by)),
    ]
    for each in read(tmp_path, pcap(conversation(turns))):
        for body in (True, False):
            assert SECRET.hex() not in str(frame_record(each, raw=True, body=body))


@pytest.mark.parametrize("version", [12, 17])
def test_records_of_the_metadata_topic_are_secrets(tmp_path: Path, version: int) -> None:
    batch = write_batch(Batch.of([Record(0, 0, None, SECRET)]))
    topic = FetchableTopicResponse(partitions=[PartitionData(records=batch)])
    if version < 13:
        topic.topic = "__cluster_metadata"
    else:
        topic.topic_id = METADATA_TOPIC_ID
    turns = [
        asks(FetchRequest(), version, 1),
        answers(FetchResponse(responses=[topic]), version, 1),
    ]
    frames = read(tmp_path, pcap(conversation(turns)))
    record = frame_record(frames[1], raw=True)
    assert record["body"]["responses"][0]["partitions"][0]["records"] == "********"
    assert SECRET.hex() not in record["raw"]
    assert frame_record(frames[1], mask=False, raw=True)["raw"] == frames[1].data.hex()
    topic.topic, topic.topic_id = "apples" if version < 13 else "", topic.topic_id
    assert "batches" in str(frame_record(frames[1], records=True)["body"])


def test_a_client_with_apis_of_its_own_is_not_taken_for_a_stranger(tmp_path: Path) -> None:
    turns = []
    for number in range(6):
        turns.append((True, frame(RequestHeader(10001, 0, number, None).encode(1) + b"own")))
        turns.append((False, frame(ResponseHeader(number).encode(0) + b"own")))
    frames = read(tmp_path, pcap(conversation(turns)))
    assert [f.api_key for f in frames] == [10001] * 12


def test_every_byte_of_a_stranger_is_counted(tmp_path: Path) -> None:
    nonsense = frame(b"\x7f" * 8) * 3 + b"\x7f" * 504
    frames = read(tmp_path, pcap(conversation([(True, nonsense)])))
    assert sum(f.size for f in frames) == len(nonsense)


@pytest.mark.parametrize("start", [b"GET / HTTP/1.1 200\n", b"HTTP/1.1 302 -", b"\x16\x03\x01 log"])
def test_a_payload_that_starts_like_a_stranger(tmp_path: Path, start: bytes) -> None:
    tail = (True, start + b"the rest of a frame whose start was not captured")
    frames = read(tmp_path, pcap(conversation([tail, *heartbeats(3)], handshake=False)))
    assert [f.api for f in frames if f.problem is None] == ["Heartbeat"] * 6
    assert sum(f.size for f in frames if f.problem) == len(tail[1])


def test_many_bad_sizes_in_one_segment(tmp_path: Path) -> None:
    one = asks(MetadataRequest(), 12, 1)[1] + b"\xff\xff\xff\xff"
    frames = read(tmp_path, pcap(conversation([(True, one * 400)], size=60_000)))
    assert len([f for f in frames if f.api == "Metadata" and f.problem is None]) == 400
    assert sum(f.size for f in frames) == 400 * len(one)


@pytest.mark.exhaustive
@pytest.mark.parametrize("filling", [b"\0", b"\0\0\0\x20\0\x03\0\x01\0\0\0\x01\0\0", b"x"])
def test_searching_long_streams_is_quick(tmp_path: Path, filling: bytes) -> None:
    data = filling * (2_000_000 // len(filling))
    packets = conversation([(True, data), (False, data)], handshake=False, size=60_000)
    start = time.thread_time()
    frames = read(tmp_path, pcap(packets))
    assert time.thread_time() - start < 10  # it took a minute once
    assert sum(f.size for f in frames) == 2 * len(data)


def test_fragments_are_reported(tmp_path: Path) -> None:
    def fragment(packet: Packet) -> bytes:
        data = bytearray(ip4(packet))
        data[6:8] = b"\x20\x00"  # more fragments
        return bytes(data)

    made.KINDS["fragments"] = (101, fragment)
    try:
        (row,) = read(tmp_path, pcap(conversation(USUAL), "fragments"))
    finally:
        del made.KINDS["fragments"]
    assert "fragments of IP packets are not put together" in str(row.problem)


def test_other_connections_on_the_same_ports_without_a_handshake(tmp_path: Path) -> None:
    one = conversation(heartbeats(3), starts=(1000, 1000))[:-3]
    two = conversation(
        heartbeats(3), handshake=False, starts=(500_000_000, 900_000_000), ts=one[-1].ts + SECOND
    )
    frames = read(tmp_path, pcap([*one, *two]))
    assert [f.problem for f in frames if f.problem] == []
    assert [f.connection for f in frames][-1] == "10.0.0.1:40000-10.0.0.2:9092#2"
    assert len(plain(frames)) == 12


def test_a_connection_of_an_endpoint_with_itself(tmp_path: Path) -> None:
    loop = [
        Packet(made.CLIENT, made.CLIENT, sequence, flag, b"", START)
        for sequence, flag in ((1, made.SYN), (2, made.RST))
    ]
    later = conversation(heartbeats(3), ts=START + 60 * SECOND)
    frames = read(tmp_path, pcap([*loop, *later]))
    assert [f.api for f in frames] == ["Heartbeat"] * 6


def size_of(frames: Sequence[DecodedFrame]) -> int:
    return sum(f.size for f in frames)


def test_metadata_answers_still_pair_after_a_hole(tmp_path: Path) -> None:
    turns = [
        asks(MetadataRequest(), 12, 1),
        answers(MetadataResponse(cluster_id="x" * 3000), 12, 1),
        *heartbeats(4),
    ]
    packets = conversation(turns)
    packets.remove([p for p in packets if p.source == made.SERVER and p.data][1])
    frames = read(tmp_path, pcap(packets))
    assert len([f for f in frames if f.api == "Heartbeat" and f.problem is None]) == 8
    assert size_of(frames) == sum(len(data) for _, data in turns) - 1448
