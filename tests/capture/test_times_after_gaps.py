"""Frames of a capture that lacks a part have the times, latencies and pairs of the whole one."""

from __future__ import annotations

import gzip
import random
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.capture import DecodedFrame, read_captures
from kafka_admin_proto.capture.tcp.segments import read_segment
from tests.capture import packets as made
from tests.capture.packets import Packet, conversation, pcap
from tests.capture.test_captures import USUAL, Turn, read
from tests.capture.test_captures_hard import SECOND, heartbeats
from tests.helpers.profile import sample

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.pcap.gz"))
_HEADER = struct.Struct("<4I")


def at(turns: Sequence[Turn], times: Sequence[float], *, handshake: bool) -> list[Packet]:
    """A packet for each turn, so many seconds after the first; all before it is acknowledged."""
    packets = conversation(turns, handshake=handshake, farewell=False)
    start = packets[0].ts
    opening = len(packets) - len(turns)
    timed = [
        replace(packet, ts=start + round(after * SECOND))
        for packet, after in zip(packets[opening:], times, strict=True)
    ]
    return made.with_acknowledgements([*packets[:opening], *timed])


def same_ids(count: int) -> list[Turn]:
    """The requests of a client that gives all the same correlation id."""
    asked, answered = heartbeats(8)[-2:]
    return [each for _ in range(count) for each in (asked, answered)]


def times(frames: Iterable[DecodedFrame], start: int) -> list[tuple[str, int, float, int | None]]:
    return [
        (each.direction, each.correlation_id, ((each.ts or 0) - start) / SECOND, each.latency_us)
        for each in frames
        if each.correlation_id is not None
    ]


def test_a_start_that_was_not_captured(tmp_path: Path) -> None:
    """Its frames wait until a request says where frames begin, and have their own times then."""
    turns = heartbeats(3)[1:]
    packets = at(turns, [0, 3, 3.03, 6, 6.03], handshake=False)
    frames = read(tmp_path, pcap(packets))
    assert sorted(times(frames, packets[0].ts)) == [
        ("request", 1, 3.0, None),
        ("request", 2, 6.0, None),
        ("response", 0, 0.0, None),
        ("response", 1, 3.03, 30_000),
        ("response", 2, 6.03, 30_000),
    ]


def test_a_pair_that_was_lost(tmp_path: Path) -> None:
    """The frames behind the hole wait for its end, and are neither late nor in another order."""
    moments = [3 * number + late for number in range(7) for late in (0, 0.002)]
    packets = at(heartbeats(7), moments, handshake=True)
    start = packets[3].ts
    data = [each for each in packets if each.data]
    kept = [each for each in packets if each not in data[4:6]]
    frames = [each for each in read(tmp_path, pcap(kept)) if each.problem is None]
    expected = [
        (direction, number, 3 * number + late, None if direction == "request" else 2000)
        for number in (0, 1, 3, 4, 5, 6)
        for direction, late in (("request", 0), ("response", 0.002))
    ]
    assert times(frames, start) == [pytest.approx(each) for each in expected]


@pytest.mark.parametrize("seed", range(30))
def test_pairs_between_gaps_of_both_sides(tmp_path: Path, seed: int) -> None:
    """A gap of the responses does not end the wait for the requests, which have one too."""
    dice = random.Random(seed)
    packets = at(heartbeats(40), [0.02 * number for number in range(80)], handshake=True)
    data = [each for each in packets if each.data]
    lost = set(dice.sample(range(2, 20), 5))
    kept = [each for each in packets if each not in [data[number] for number in lost]]
    frames = [each for each in read(tmp_path, pcap(kept)) if each.direction == "response"]
    latencies = {each.correlation_id: each.latency_us for each in frames}
    assert latencies == {
        number: None if 2 * number in lost else 20_000
        for number in range(40)
        if 2 * number + 1 not in lost
    }


@pytest.mark.parametrize("lost", [[2], [3], [3, 4], [2, 3], [5, 6, 7]])
@pytest.mark.parametrize("handshake", [True, False])
def test_ids_that_repeat(lost: list[int], handshake: bool, tmp_path: Path) -> None:
    """Behind a hole a response is not that of an older request with its id, which lost its own."""
    moments = [3 * number + late for number in range(9) for late in (0, 0.002)]
    packets = at(same_ids(9), moments, handshake=handshake)
    data = [each for each in packets if each.data]
    kept = [each for each in packets if each not in [data[number] for number in lost]]
    frames = [each for each in read(tmp_path, pcap(kept)) if each.direction == "response"]
    assert {each.latency_us for each in frames} <= {None, 2000}
    # Those of a request that was captured, and of no hole.
    assert [each.latency_us for each in frames][-2:] == [2000, 2000]


def test_a_hole_in_a_short_connection_without_its_start(tmp_path: Path) -> None:
    """The hole in the responses is found at the end, and so are the requests before it."""
    moments = [number / 100 for number in range(9)]
    packets = at(heartbeats(5)[1:], moments, handshake=False)
    frames = read(tmp_path, pcap(packets[:4] + packets[5:]))
    latencies = {each.correlation_id: each.latency_us for each in frames if not each.problem}
    assert latencies == {1: 10_000, 2: None, 3: 10_000, 4: 10_000}


def test_an_answer_captured_before_its_request(tmp_path: Path) -> None:
    packets = conversation(heartbeats(1))
    asked, answer = [p for p in packets if p.data]
    i, j = packets.index(asked), packets.index(answer)
    packets[i], packets[j] = replace(answer, ts=asked.ts), replace(asked, ts=answer.ts)
    frames = read(tmp_path, pcap(packets))
    (response,) = [each for each in frames if each.direction == "response"]
    assert response.latency_us is None
    assert response.body is not None
    assert response.problem is not None
    assert "it was captured 100 microseconds before its request, so that it ha" in response.problem


def records(capture: bytes) -> Iterator[bytes]:
    """The packets of a pcap file, each with its header."""
    place = 24
    while place < len(capture):
        size = 16 + _HEADER.unpack_from(capture, place)[2]
        yield capture[place : place + size]
        place += size


def facts(
    frames: Iterable[DecodedFrame],
) -> dict[tuple[object, ...], list[tuple[int | None, int | None, str | None]]]:
    """The time, latency and api of each frame that was read, by its ends and its bytes."""
    found: dict[tuple[object, ...], list[tuple[int | None, int | None, str | None]]]
    found = defaultdict(list)
    for each in frames:
        if each.header is not None and not each.forwarded:
            key = (frozenset((each.client, each.server)), each.direction, each.data)
            found[key].append((each.ts, each.latency_us, each.api))
    return found


def without(count: int, chance: random.Random) -> set[int]:
    """Packets to leave out: the start, the end, some in a row, or some at random."""
    kind = chance.choice(["start", "end", "rows", "random"])
    if kind == "start":
        return set(range(chance.randrange(count)))
    if kind == "end":
        return set(range(chance.randrange(count), count))
    if kind == "random":
        return {number for number in range(count) if chance.random() < 0.03}
    starts = [number for number in range(count) if chance.random() < 0.02]
    ends = [min(start + chance.randrange(1, 8), count) for start in starts]
    return {each for start, end in zip(starts, ends, strict=True) for each in range(start, end)}


def check(folder: Path, whole: bytes, chance: random.Random) -> None:
    packets = list(records(whole))
    lost = without(len(packets), chance)
    # What was sent again has another time: it is lost with the first packet of its bytes.
    segments = [read_segment(whole[20], each[16:]) or (b"", 0, 0, b"", 0, 0) for each in packets]
    sent = [(each[0], each[1], each[3]) if each[3] else None for each in segments]
    again = {sent[each] for each in lost} - {None}
    kept = b"".join(
        each
        for number, each in enumerate(packets)
        if number not in lost and sent[number] not in again
    )
    file = folder / "cut.pcap"
    file.write_bytes(whole)
    expected = facts(read_captures([file]))
    file.write_bytes(whole[:24] + kept)
    wrong = [
        (key[1], key[2][:24], found, expected[key])  # type: ignore[index]
        for key, rows in facts(read_captures([file])).items()
        for found in rows
        if key in expected
        and not any(
            found[0] == ts and found[2] == api and found[1] in (latency, None)
            for ts, latency, api in expected[key]
        )
    ]
    assert wrong == []


@pytest.mark.parametrize("name", [each.name for each in SAMPLES])
def test_a_part_of_a_capture_is_lost(name: str, tmp_path: Path) -> None:
    whole = gzip.decompress((SAMPLES[0].parent / name).read_bytes())
    for seed in sample(range(200), 8):
        check(tmp_path, whole, random.Random(seed))


@given(st.integers(0, 2**32), st.sampled_from([100, 5_000, 900_000]))
def test_a_part_of_a_conversation_is_lost(
    tmp_path_factory: pytest.TempPathFactory, seed: int, most: int
) -> None:
    chance = random.Random(seed)
    turns = [*USUAL, *heartbeats(130)[200:]] if chance.random() < 0.5 else heartbeats(40)
    packets = conversation(turns, handshake=chance.random() < 0.7, size=chance.choice([60, 1448]))
    ts = packets[0].ts
    timed = []
    for packet in packets:
        ts += chance.randrange(1, most)
        timed.append(replace(packet, ts=ts))
    if chance.random() < 0.7:
        timed = made.with_acknowledgements(timed)
    check(tmp_path_factory.getbasetemp(), pcap(timed), chance)
