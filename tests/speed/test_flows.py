"""The rows that the engine gathers of chunks are those of plain Python, in every column."""

from __future__ import annotations

import random
import resource
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from kafka_admin_proto import DeleteTopicsRequest
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.protocol import frame, write_request
from tests.capture.credentials import LOGINS, Leaks
from tests.capture.packets import conversation, pcap
from tests.helpers.profile import EXHAUSTIVE, SEED
from tests.spark.needs import require
from tests.speed import damaged
from tests.speed.compiled import speed
from tests.speed.rows import File
from tests.speed.test_captures import (
    KEPT,
    SAMPLES,
    all_packets,
    content,
    each_api,
    hold_references,
    of_all_sizes_and_orders,
)

require("pyarrow")

if TYPE_CHECKING:
    from tests.speed.flows import Flows

DAMAGED = 2000 if EXHAUSTIVE else 60
#: What tasks decode with: all, without bodies, unmasked, some bodies, all bytes in hex.
OPTIONS = [
    DecodeOptions(),
    DecodeOptions(body=False),
    DecodeOptions(mask=False),
    DecodeOptions(bodies=frozenset({1, 3, 19})),
    DecodeOptions(limit=3000),
    DecodeOptions(raw=True),
]


def check(files: list[File], options: DecodeOptions = OPTIONS[0], *, derived: bool = True) -> Flows:
    """The rows of a capture, which are the same with the engine and without."""
    from kafka_admin_proto.tables.frame_columns import DECODED, FRAMES
    from tests.speed.flows import flows

    schema = DECODED if derived else FRAMES
    found, expected = (flows(files, each, options, schema) for each in (speed(), None))
    for ours, theirs in zip(found.rows, expected.rows, strict=True):
        assert ours == theirs
    return found


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples(path: Path) -> None:
    files = [(path.name, content(path))]
    for options in OPTIONS:
        check(files, options)
    for derived in (True, False):
        found = check(files, derived=derived)
        assert found.added < 0.3 * len(found.rows)


def test_batches_that_are_full_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind each row, or within a packet of several."""
    from kafka_admin_proto.tables import plain_flows
    from kafka_admin_proto.tables.rows import frames

    for rows, bytes_ in ((1, 1 << 20), (3, 1 << 20), (1000, 500)):
        for module in (plain_flows, frames):
            monkeypatch.setattr(module, "BATCH_ROWS", rows)
            monkeypatch.setattr(module, "BATCH_BYTES", bytes_)
        check([(SAMPLES[0].name, content(SAMPLES[0]))])


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_captures_of_real_brokers(path: Path) -> None:
    found = check([(path.name, content(path))])
    assert found.added < 0.5 * len(found.rows) or path.name.startswith("other")


def test_every_message() -> None:
    """Those of each api are one connection, in which its other messages follow."""
    for name, turns in each_api():
        found = check([(name, pcap(conversation(turns)))])
        assert len(found.rows) >= len(turns)


def test_segments_of_all_sizes_and_orders() -> None:
    for files in of_all_sizes_and_orders():
        check(files)


@pytest.mark.parametrize("login", LOGINS, ids=lambda login: login.name)
def test_logins(login: Any) -> None:
    leaks = Leaks(login.secrets)
    for options in OPTIONS:
        found = check([("a", pcap(login.packets))], options)
        assert not options.mask or not leaks(str(found.rows))


def test_damaged_captures() -> None:
    """Few here, many with `make explore`."""
    dice, sources = random.Random(SEED), all_packets()
    added = count = 0
    for number in range(DAMAGED):
        packets = damaged.damaged(damaged.some(dice.choice(sources), dice, 300), dice)
        try:
            found = check(
                damaged.files(packets, dice), dice.choice(OPTIONS), derived=dice.random() < 0.7
            )
        except Exception as error:
            error.add_note(f"damaged capture {number}")
            raise
        added += found.added
        count += len(found.rows)
    assert added < 0.9 * count


def test_a_value_without_room_is_an_error() -> None:
    """And leaves no half of a row behind."""
    from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
    from kafka_admin_proto.tables.frame_columns import FRAMES
    from kafka_admin_proto.tables.plain_flows import PlainFlows

    rows = PlainFlows(DecodeOptions(), FRAMES, None, TopicNameIndex(), [], speed())
    nothing = dict.fromkeys(FRAMES.names)
    good = nothing | {"capture": "b", "error_codes": ["c", "dé"], "api_version": -1, "body": b"{}"}
    for name, value, error in (
        ("api_version", 1 << 15, OverflowError),
        ("latency_us", 1 << 63, OverflowError),
        ("client_id", "\ud800", UnicodeEncodeError),
        ("client_id", 7, TypeError),
        ("error_codes", ["a", 7], TypeError),
        ("topic_names", {}, TypeError),
    ):
        rows.add(tuple(good.values()), 0)
        with pytest.raises(error):
            rows.add(tuple((good | {name: value, "connection": "x"}).values()), 0)
    made = rows.take()
    made.validate(full=True)
    assert made.to_pylist() == [good | {"body": "{}"}] * 6
    assert rows.take().num_rows == 0


def test_memory_that_runs_out() -> None:
    """What was gathered is gone with the error, and what comes next is whole."""
    from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
    from kafka_admin_proto.tables.frame_columns import FRAMES
    from kafka_admin_proto.tables.plain_flows import PlainFlows

    rows = PlainFlows(DecodeOptions(), FRAMES, None, TopicNameIndex(), [], speed())
    nothing = dict.fromkeys(FRAMES.names)
    large, small = (tuple((nothing | {"body": bytes(size)}).values()) for size in (60 << 20, 9))
    before = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (100 << 20), before[1]))
    try:
        with suppress(MemoryError):
            bytearray(200 << 20)
            pytest.skip("memory has no limit here: qemu keeps none")
        rows.add(large, 0)
        with pytest.raises(MemoryError):
            rows.add(large, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    for _ in range(3000):
        rows.add(small, 0)
    made = rows.take()
    made.validate(full=True)
    assert made["body"].to_pylist() == ["\0" * 9] * 3000


def test_a_body_with_more_topics_than_are_kept() -> None:
    """Each topic id is in its row once."""
    ids = [UUID(int=number) for number in range(1, 20_003)]
    topics = [DeleteTopicState(topic_id=each) for each in [*ids, ids[0], ids[-1]]]
    request = frame(write_request(DeleteTopicsRequest(topics=topics), 6, 1, "me"))
    found = check([("a", pcap(conversation([(True, request), (True, request)], size=60000)))])
    assert found.added == 0
    assert [len(row["topic_ids"]) for row in found.rows if row["direction"]] == [len(ids)] * 2


def test_no_reference_is_lost_or_kept() -> None:
    from kafka_admin_proto.tables.frame_columns import DECODED
    from tests.speed.flows import flows

    hold_references(
        lambda files: sum(len(flows(files, speed(), each, DECODED).rows) for each in OPTIONS)
    )
