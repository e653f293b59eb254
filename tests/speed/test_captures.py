"""The rows that the engine writes of captures are those that plain Python writes."""

from __future__ import annotations

import gzip
import lzma
import os
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from kafka_admin_proto import FetchRequest, FetchResponse, MetadataRequest, MetadataResponse, codec
from kafka_admin_proto.capture.connection.connection import Connection
from kafka_admin_proto.capture.connection.conversation import Conversation
from kafka_admin_proto.capture.connection.pairing import PendingRequest
from kafka_admin_proto.capture.connection.stream_decoder import StreamDecoder
from kafka_admin_proto.capture.connection.topic_names import NAMING_API_KEYS
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.record import RECORD_KEYS
from kafka_admin_proto.cli.captures import decode, frame_table
from kafka_admin_proto.cli.captures.filters import Filter, WhatThereIs
from kafka_admin_proto.cli.times import TimeOfDay
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages.fetch_request import FetchTopic
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.protocol import api_keys, frame, write_request, write_response
from kafka_admin_proto.schema.catalog import catalog
from tests.capture.credentials import LOGINS, Leaks
from tests.capture.packets import (
    KINDS,
    conversation,
    duplicated,
    pcap,
    pcapng,
    resegmented,
    shuffled,
    simple_pcapng,
)
from tests.fuzz.seeds import filled
from tests.helpers.processes import python
from tests.helpers.profile import EXHAUSTIVE, SEED
from tests.speed import damaged
from tests.speed.compiled import speed
from tests.speed.rows import EVERYTHING, File, Rows, rows
from tests.speed.test_engine import blocks

ROOT = Path(__file__).parents[2]
SAMPLES = sorted(ROOT.joinpath("samples").glob("*.pcap.gz"))
KEPT = sorted(ROOT.joinpath("tools", "traffic", "kept").glob("*.pcap.xz"))
#: Outputs, and whether they have bodies.
FORMS = [
    ("jsonl", True), ("jsonl", False), ("tsv", True), ("tsv", False), ("summary", True),
    ("summary", False), ("table", True), ("table", False), ("json", True),
]  # fmt: skip
DAMAGED = 2000 if EXHAUSTIVE else 60

KEYS = frozenset({api_keys.METADATA, api_keys.FETCH, api_keys.ENVELOPE, api_keys.API_VERSIONS})
START = 1_795_228_469_000_000
FILTERS = [
    Filter(api_keys=KEYS),
    Filter(api_keys=frozenset({api_keys.CREATE_TOPICS})),
    Filter(api_keys=frozenset({api_keys.CREATE_TOPICS, 127})),
    Filter(client_id="adminclient-1"),
    Filter(client_id="me", errors_only=True),
    Filter(connection="127.0.0.1"),
    Filter(connection="10.0.0.1:40000", slower_than_us=1),
    Filter(connection="127.0.0.1:19092", api_keys=KEYS, errors_only=True),
    Filter(errors_only=True),
    Filter(slower_than_us=0),
    Filter(slower_than_us=5000),
    Filter(since=START, until=START + 3_000_000),
    Filter(since=TimeOfDay(9_270_500_000)),
    Filter(topic="rivers"),
    Filter(topic="fruit"),
    Filter(topic="__consumer_offsets", client_id="adminclient-1"),
]
#: Those that match nothing of the samples.
NOTHING = [
    Filter(api_keys=frozenset({127})),
    Filter(client_id="nobody"),
    Filter(connection="1.2.3.4", client_id="nobody", api_keys=KEYS),
    Filter(slower_than_us=1 << 60),
    Filter(since=1 << 60),
    Filter(errors_only=True, api_keys=frozenset({api_keys.HEARTBEAT})),
]
FILTERS += NOTHING

Turn = tuple[bool, bytes]


@cache
def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else lzma.decompress(data)


def check(files: list[File], **options: Any) -> Rows:
    """The rows of a capture, which are the same with the engine and without."""
    found, expected = rows(files, speed(), **options), rows(files, None, **options)
    assert found.frames == expected.frames
    if found.text != expected.text:
        for ours, theirs in zip(found.text.splitlines(), expected.text.splitlines(), strict=True):
            assert ours == theirs
    assert found[:-1] == expected[:-1]
    return found


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples(path: Path) -> None:
    for (output, body), mask in product(FORMS, (True, False)):
        if mask or output != "summary":
            found = check([(path.name, content(path))], output=output, body=body, mask=mask)
            assert found.plain > 0.75 * found.frames


def test_pages_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_table, "_PAGE_BYTES", 2000)
    check([(SAMPLES[0].name, content(SAMPLES[0]))], output="table")


def bodies_of(wanted: Filter) -> frozenset[int] | None:
    """Those that `kap decode` reads for a filter."""
    return None if wanted.api_keys is None else wanted.api_keys | NAMING_API_KEYS


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_filters(wanted: Filter) -> None:
    for path in SAMPLES[:2]:
        for output, body in (FORMS[0], FORMS[4]):
            check(
                [(path.name, content(path))], output=output, body=body, wanted=wanted,
                bodies=bodies_of(wanted),
            )  # fmt: skip


@pytest.mark.parametrize("wanted", [Filter(client_id="adminclient-1"), Filter(topic="fruit")])
def test_filtered_frames_are_the_engines(wanted: Filter) -> None:
    """Once a frame has matched, those that do not are passed over by the engine."""
    path = SAMPLES[0]
    assert check([(path.name, content(path))], wanted=wanted).plain > 20


@pytest.mark.parametrize("wanted", NOTHING, ids=str)
def test_frames_of_which_none_matches_are_the_engines(
    wanted: Filter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts what there is instead, but for the few frames that plain Python reads."""
    looked_at: list[DecodedFrame] = []
    add = WhatThereIs.add

    def counted(there: WhatThereIs, frame: DecodedFrame) -> None:
        looked_at.append(frame)
        add(there, frame)

    monkeypatch.setattr(WhatThereIs, "add", counted)
    found = rows([(SAMPLES[0].name, content(SAMPLES[0]))], speed(), wanted=wanted)
    assert not found.text
    assert f"0 of {found.frames} frames match" in str(found.known)
    assert len(looked_at) < found.frames // 4


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_captures_of_real_brokers(path: Path) -> None:
    for output, body in (FORMS[0], FORMS[3], FORMS[4], FORMS[6]):
        found = check([(path.name, content(path))], output=output, body=body)
        assert found.plain > 0.5 * found.frames or path.name.startswith("other")


def test_columns_are_those_of_the_record() -> None:
    writer = speed().RowWriter
    assert writer(None, "jsonl", [*RECORD_KEYS, "number", "time"], True)
    with pytest.raises(ValueError, match="elsewhere"):
        writer(None, "jsonl", [*RECORD_KEYS, "elsewhere"], True)


@cache
def each_api() -> list[tuple[str, list[Turn]]]:
    """A request and a response of each api and version: with values in all fields, and without."""
    found = []
    for name in catalog().names():
        entry = catalog().entry(name)
        if entry.type != "request" or entry.api_key is None:
            continue
        answer = catalog().name_of(entry.api_key, "response")
        turns: list[Turn] = []
        for version in entry.versions:
            try:
                asks, answers = codec(name, version), codec(answer or "", version)
            except UnsupportedVersionError:
                continue
            for number in (version * 2, version * 2 + 1):
                is_full = number % 2
                request = filled(asks.grammar) if is_full else asks.value_class()
                response = filled(answers.grammar) if is_full else answers.value_class()
                turns.append((True, frame(write_request(request, version, number, "me"))))
                turns.append((False, frame(write_response(response, version, number))))
        found.append((name, turns))
    return found


def test_every_message() -> None:
    plain = 0
    for number, (name, turns) in enumerate(each_api()):
        output, body = FORMS[0 if number % 4 else 2]
        plain += check([(name, pcap(conversation(turns)))], output=output, body=body).plain > 0
    assert plain > 60


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_packet(kind: str) -> None:
    turns = [turn for name, made in each_api() if name == "CreateTopicsRequest" for turn in made]
    packets = conversation(turns)
    for data in (
        pcap(packets, kind),
        pcap(packets, kind, order=">", nano=True),
        pcap(packets, kind, snap=120),
        pcapng(packets, kind),
        pcapng(packets, kind, order=">", resolution=9),
        pcapng(packets, kind, resolution=0x94),
    ):
        check([("a", data)])
    check([("a", simple_pcapng(packets))])
    assert check([("a", pcap(packets, kind))]).plain or "options" in kind or "extension" in kind


def of_all_sizes_and_orders() -> Iterator[list[File]]:
    """One conversation in segments of several sizes: as they are, cut anew, twice, and shuffled."""
    dice = random.Random(SEED)
    turns = [turn for name, made in each_api() if name.startswith("DescribeC") for turn in made]
    for size in (3, 40, 1448, 60000):
        packets = conversation(turns, size=size, handshake=size > 3)
        for changed in (
            packets, resegmented(packets, dice), duplicated(packets, dice),
            shuffled(packets, dice, 4),
        ):  # fmt: skip
            yield [("a", pcap(changed))]


def test_segments_of_all_sizes_and_orders() -> None:
    for files in of_all_sizes_and_orders():
        check(files)


@pytest.mark.parametrize("login", LOGINS, ids=lambda login: login.name)
def test_logins(login: Any) -> None:
    leaks = Leaks(login.secrets)
    for output, body in FORMS:
        found = check([("a", pcap(login.packets))], output=output, body=body)
        assert not leaks(f"{found.text.decode()}{found.known}")
    for wanted in NOTHING:
        assert not leaks(str(check([("a", pcap(login.packets))], wanted=wanted).known))
    check([("a", pcap(login.packets))], mask=False)


def test_times_at_the_end_of_their_range() -> None:
    """Up to 63 bits in the capture, and beyond them in a filter, on a day that starts there."""
    asks = (True, frame(write_request(MetadataRequest(), 12, 1, "me")))
    packets = conversation([asks, (False, frame(write_response(MetadataResponse(), 12, 1)))] * 2)
    for last in (1 << 62, (1 << 63) - 1):
        late = [replace(each, ts=each.ts + last - packets[-1].ts) for each in packets]
        for resolution in (3, 6):  # left to plain Python, and not
            check([("a", pcapng(late, resolution=resolution))])
    check([("a", pcap(packets))], wanted=Filter(until=1 << 63))


def test_names_behind_bytes_of_no_frame() -> None:
    """What is behind them in a packet gives names to the frames before them."""
    topic_id = UUID(int=7)
    asked = FetchRequest(topics=[FetchTopic(topic_id=topic_id)])
    fetched = FetchResponse(responses=[FetchableTopicResponse(topic_id=topic_id)])
    named = MetadataResponse(topics=[MetadataResponseTopic(name="rivers", topic_id=topic_id)])
    answers = [frame(write_response(fetched, 13, 1)), frame(write_response(named, 12, 2))]
    packets = conversation([
        (True, frame(write_request(asked, 13, 1, "me"))),
        (True, frame(write_request(MetadataRequest(), 12, 2, "me"))),
        (False, (b"\x7f" * 9).join(answers)),
    ])  # fmt: skip
    assert check([("a", pcap(packets))]).text.count(b"rivers") == 3


def test_an_empty_slot_is_left_to_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    first_bytes = Connection.first_bytes

    def damaging(connection: Connection, stream: StreamDecoder, data: bytes) -> None:
        first_bytes(connection, stream, data)
        del connection.streams[1 - stream.end].framer.buffer

    monkeypatch.setattr(Connection, "first_bytes", damaging)
    answer = frame(write_response(MetadataResponse(), 12, 1))
    turns = [(True, frame(write_request(MetadataRequest(), 12, 1, "me"))), (False, answer)]
    with pytest.raises(AttributeError, match="buffer"):
        rows([("a", pcap(conversation(turns)))], speed())


@pytest.mark.parametrize("amid", ["a packet", "a row"])
def test_rows_are_written_before_an_interrupt(amid: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes in whatever the engine calls: the rows that are finished are there."""
    written: list[bytes] = []
    output_of, seconds = decode.output_of, iter([b"2026-11-22T08:00:00"])

    def interrupted(*_: object) -> bytes:
        raise KeyboardInterrupt

    def watched(*arguments: Any, **options: Any) -> Any:
        sink, write = output_of(*arguments, **options)
        sink.write = written.append
        if amid == "a row":
            sink.second = lambda _: next(seconds, None) or interrupted()
        return sink, write

    asks = [frame(write_request(MetadataRequest(), 12, number, "me")) for number in (7, 8, 9)]
    no_frame = frame(b"\0")
    packets = conversation([(True, asks[0]), (True, asks[1] + no_frame + asks[2])])
    packets = [replace(each, ts=each.ts + 10**6 * (asks[1] in each.data)) for each in packets]
    monkeypatch.setattr(decode, "output_of", watched)
    if amid == "a packet":
        monkeypatch.setattr(StreamDecoder, "frame", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rows([("a", pcap(packets))], speed())
    found = msgspec.json.Decoder().decode_lines(b"".join(written))
    assert [row["correlation_id"] for row in found] == ([7, 8] if amid == "a packet" else [7])


def all_packets() -> list[list[damaged.Captured]]:
    made = [damaged.packets(content(path)) for path in SAMPLES]
    made += [damaged.packets(pcap(each.packets)) for each in LOGINS]
    if EXHAUSTIVE:
        made += [damaged.packets(content(path)) for path in KEPT]
    return made


def test_damaged_captures() -> None:
    """Few here, many with `make explore`."""
    dice, sources = random.Random(SEED), all_packets()
    plain = count = 0
    for number in range(DAMAGED):
        packets = damaged.damaged(damaged.some(dice.choice(sources), dice, 300), dice)
        output, body = dice.choice(FORMS)
        wanted = dice.choice([EVERYTHING] * 14 + FILTERS)
        try:
            found = check(
                damaged.files(packets, dice), output=output, body=body, wanted=wanted,
                bodies=bodies_of(wanted),
                mask=dice.random() < 0.8, limit=dice.choice([1 << 20, 1 << 27, 3000]),
            )  # fmt: skip
        except Exception as error:
            error.add_note(f"damaged capture {number}")
            raise
        plain += found.plain
        count += found.frames
    assert plain > count // 8


def hold_references(frames: Callable[[Any], int]) -> None:
    """No reference is lost or kept by another run over samples and damaged captures."""
    dice = random.Random(SEED)
    captures = [[(path.name, content(path))] for path in SAMPLES]
    for packets in all_packets()[-3:]:
        captures += [damaged.files(damaged.damaged(packets, dice), dice) for _ in range(4)]
    count = sum(map(frames, captures))
    shared = [None, True, False, Conversation, PendingRequest]
    before, counts = blocks(), [sys.getrefcount(each) for each in shared]
    assert sum(map(frames, captures)) == count
    # Plain Python grows as much, by what its caches keep.
    assert blocks() - before < count // 20
    grown = [sys.getrefcount(each) - one for each, one in zip(shared, counts, strict=True)]
    assert max(map(abs, grown)) < count // 20


def test_no_reference_is_lost_or_kept() -> None:
    hold_references(
        lambda files: sum(
            rows(files, speed(), output=output, body=body).plain for output, body in FORMS
        )
    )


#: Each allocation fails in turn: MemoryError, or another way; the rows are then the same.
WITHOUT_MEMORY = """
import _testcapi
from tests.capture.credentials import LOGINS
from tests.capture.packets import pcap
from tests.speed.compiled import speed
from tests.speed.rows import rows

files = [("a", pcap(LOGINS[-1].packets))]
expected = rows(files, speed())
for start in range(0, 20_000, 7):
    found = None
    _testcapi.set_nomemory(start, start + 1)
    try:
        found = rows(files, speed())
    except MemoryError:
        pass
    finally:
        _testcapi.remove_mem_hooks()
    assert found in (None, expected)
    if found:
        break
assert rows(files, speed()) == expected
print("done" if found else "its allocations are more than were tried")
"""


@pytest.mark.explore
def test_memory_that_ends() -> None:
    pytest.importorskip("_testcapi", reason="this Python cannot make memory end")
    paths = f"{Path(speed().__file__).parents[1]}{os.pathsep}{ROOT}"
    done = python(
        "-c", WITHOUT_MEMORY, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
