"""Records that a coordinator would never write, in whole batches of its log.

A start leaves out, with a line, what it cannot use, and has all else; no request and no timer fails
of what it took in.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import messages as m
from kafka_admin_proto.errors import EncodeError
from kafka_admin_proto.messages.offset_fetch_request import OffsetFetchRequestGroup
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, read_known_record, write_known_record
from kafka_admin_proto.records.segments.known_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.inspection.stored_records import records_of
from tests.helpers.profile import draws
from tests.server.coordination.coordinators import (
    CLASSIC,
    CONSUMER,
    GROUPS,
    NAMES,
    ONGOING,
    SHARE,
    SIMPLE,
    STREAMS,
    TOPICS,
    Asked,
    Lines,
    changes,
    ends,
    filled,
    seen,
)

Pair = tuple[bytes | None, bytes | None]

_NUMBERS = (-1, 0, 1, 6, 8, 127, -128, 32_766, 32_767, -32_768, 2**31 - 1, -(2**31), 2**63 - 1)
_TEXTS = ("", *GROUPS, *NAMES, "one", "orders", "(", "\0")
_BYTES = (b"", b"\0\1", b"\xff" * 9)
_IDS = (UUID(int=0), UUID(int=7))
#: Records that do not read; any number decides where the damage is.
_UNREADABLE = ("cut key", "cut value", "type", "version")
#: Records that read.
_READABLE = ("field", "field", "field", "key", "tombstone", "again")

#: The topic, which of its records, what becomes of it, and numbers for what that has to choose.
_DRAWN = st.tuples(
    st.sampled_from(TOPICS), st.integers(0, 999), st.integers(0, 999), st.integers(0, 99)
)


def unreadable(pair: Pair, kind: str, number: int) -> Pair:
    key, value = pair
    assert key is not None
    match kind:
        case "cut key":
            return key[: number % max(len(key), 1)], value
        case "cut value":
            return key, (value or b"\0\0")[: number % max(len(value or b"\0\0") - 3, 1)]
        case "type":
            return (99).to_bytes(2, "big") + key[2:], value
        case "version":
            return key, (99).to_bytes(2, "big") + (value or b"")[2:]
    raise AssertionError(kind)


def readable(topic: str, pair: Pair, kind: str, number: int, other: int) -> Pair:
    if kind == "tombstone":
        return pair[0], None
    found = read_known_record(topic, *pair)
    if kind != "again" and found.key is not None:
        changed = found.key if kind == "key" or found.value is None else found.value
        if not change(changed, found, number, other):
            return pair
        return write_known_record(found.key, found.value, found.value_version)
    return pair


def change(message: Any, found: Any, number: int, other: int) -> bool:
    """Change one field to something that the record can have; whether that was possible."""
    names = message.__struct_fields__
    for place in range(len(names)):
        name = names[(number + place) % len(names)]
        before = getattr(message, name)
        for after in replacements(before, number, other):
            setattr(message, name, after)
            try:
                write_known_record(found.key, found.value, found.value_version)
            except EncodeError:
                setattr(message, name, before)
            else:
                return True
    return False


def replacements(before: Any, number: int, other: int) -> list[Any]:
    """Other values of a field, in an order that the numbers decide."""
    if isinstance(before, list) and before and isinstance(before[0], msgspec.Struct):
        item = msgspec.structs.replace(before[other % len(before)])
        names = item.__struct_fields__
        name = names[number % len(names)]
        inner = replacements(getattr(item, name), number, other)
        if inner:
            setattr(item, name, inner[0])
        lists = [[item], [*before, *before], [], [*before, item]]
        return lists[other % 4 :] + lists[: other % 4]
    twice = [*before, *before] if isinstance(before, list) else []
    choices: tuple[Any, ...] = {
        bool: (not before,), int: _NUMBERS, str: (*_TEXTS, None), bytes: _BYTES, UUID: _IDS,
        list: ([], twice, [-1, 0, 9], ["", "orders"]), type(None): ("", "one", 0, b""),
    }.get(type(before), ())  # fmt: skip
    start = other % max(len(choices), 1)
    return [*choices[start:], *choices[:start]]


def append(ask: Asked, topic: str, pair: Pair) -> None:
    """Append a record as its coordinator would."""
    found = ask.state.topic(topic)
    assert found is not None
    replicas = ask.state.partitions.log(found, 0)
    now_ms = ask.state.clock.now_ms()
    batch = Batch.of([Record(replicas.log.end_offset, now_ms, *pair)])
    replicas.append_own(batch, leader_epoch=0, now_ms=now_ms)


def pairs(ask: Asked, topic: str) -> list[Pair]:
    return [(each.key, each.value) for each in records_of(ask.state, topic)]


@settings(max_examples=draws(80), deadline=None)
@given(drawn=st.lists(st.tuples(_DRAWN, st.sampled_from(_UNREADABLE)), min_size=1, max_size=8))
def test_what_does_not_read_changes_nothing(drawn: list[tuple[Any, str]]) -> None:
    ask = filled()
    ask.load_again()
    expected = seen(ask)
    for (topic, which, number, _), kind in drawn:
        there = pairs(ask, topic)
        append(ask, topic, unreadable(there[which % len(there)], kind, number))
    lines = Lines()
    with lines:
        ask.load_again()
    assert seen(ask) == expected
    assert len(lines.found) == len(drawn)


@settings(max_examples=draws(80), deadline=None)
@given(drawn=st.lists(st.tuples(_DRAWN, st.sampled_from(_READABLE)), min_size=1, max_size=8))
def test_no_request_fails_of_a_strange_record(drawn: list[tuple[Any, str]]) -> None:
    ask = filled()
    for (topic, which, number, other), kind in drawn:
        there = pairs(ask, topic)
        append(ask, topic, readable(topic, there[which % len(there)], kind, number, other))
    for _ in range(2):
        ask.load_again()
        seen(ask)
        for each in changes(ask):
            ask(*each)
        ask.pass_time(20)
        seen(ask)
    ask.pass_time(700)
    for each in ends():
        ask(*each)
    ask.load_again()
    seen(ask)


def _committed(ask: Asked, group: str) -> dict[int, int]:
    groups = [OffsetFetchRequestGroup(group, topics=None)]
    (found,) = ask(m.OffsetFetchRequest(groups=groups), 9).groups
    return {
        part.partition_index: part.committed_offset
        for each in found.topics
        for part in each.partitions
    }


def _loaded(ask: Asked) -> list[str]:
    with Lines() as lines:
        ask.load_again()
    return lines.found


@pytest.mark.parametrize("kind", _UNREADABLE)
def test_a_value_that_does_not_read_is_no_tombstone(kind: str) -> None:
    ask = filled()
    key, value = write_known_record(
        m.OffsetCommitKey(SIMPLE, "orders", 0), m.OffsetCommitValue(7), 3
    )
    offset = ask.log(CONSUMER_OFFSETS).end_offset
    append(ask, CONSUMER_OFFSETS, unreadable((key, value), kind, 9))
    (line,) = _loaded(ask)
    start = f"__consumer_offsets-0: the record of offset {offset} cannot be used, and"
    assert line.startswith(start)
    assert _committed(ask, SIMPLE)[0] == 2


def test_a_group_keeps_its_protocol() -> None:
    ask = filled()
    ask.load_again()  # what is known without records is gone
    before = seen(ask)
    for key, value, version in (
        (m.GroupMetadataKey(CONSUMER), m.GroupMetadataValue("consumer"), 3),
        (m.GroupMetadataKey(SHARE), None, 0),
        (m.ConsumerGroupMetadataKey(CLASSIC), m.ConsumerGroupMetadataValue(9), 0),
        (m.ShareGroupMetadataKey(SIMPLE), m.ShareGroupMetadataValue(9), 0),
        (m.StreamsGroupMetadataKey(CONSUMER), m.StreamsGroupMetadataValue(9), 0),
        (m.ConsumerGroupMetadataKey(STREAMS), None, 0),
    ):
        append(ask, CONSUMER_OFFSETS, write_known_record(key, value, version))
    lines = _loaded(ask)
    assert [each.rpartition(": ")[2] for each in lines] == [
        "it is of a classic group, and 'consumer' is of another protocol",
        "it is of a classic group, and 'share' is of another protocol",
        "it is of a consumer group, and 'classic' is of another protocol",
        "it is of a share group, and 'simple' is of another protocol",
        "it is of a streams group, and 'consumer' is of another protocol",
        "it is of a consumer group, and 'streams' is of another protocol",
    ]
    assert seen(ask) == before


@pytest.mark.parametrize(("state", "fault"), [(8, "state 8"), (-1, "state -1"), (6, "state 6")])
def test_a_transaction_of_no_state_changes_nothing(state: int, fault: str) -> None:
    ask = filled()
    value = m.TransactionLogValue(7, producer_epoch=0, transaction_status=state)
    pair = write_known_record(m.TransactionLogKey(ONGOING), value, 1)
    append(ask, TRANSACTION_STATE, pair)
    (line,) = _loaded(ask)
    assert line.endswith(f"no transaction has the {fault}")
    (found,) = ask(m.DescribeTransactionsRequest([ONGOING])).transaction_states
    assert (found.transaction_state, found.producer_id) == ("Ongoing", 0)


def test_an_assignor_of_another_broker_gives_way_to_the_first() -> None:
    ask = filled()
    value = m.ConsumerGroupMemberMetadataValue(
        client_id="c", client_host="/h", subscribed_topic_names=["orders"], server_assignor="mine"
    )
    for name in ("one", "two"):
        pair = write_known_record(m.ConsumerGroupMemberMetadataKey(CONSUMER, name), value)
        append(ask, CONSUMER_OFFSETS, pair)
    assert not _loaded(ask)
    joined = ask(
        m.ConsumerGroupHeartbeatRequest(
            CONSUMER, "three", 0, rebalance_timeout_ms=1000, subscribed_topic_names=["orders"],
            topic_partitions=[],
        )
    )  # fmt: skip
    assert (joined.error_code, joined.member_epoch) == (0, 5)


def test_many_strange_records_have_few_lines() -> None:
    ask = filled()
    for _ in range(30):
        append(ask, CONSUMER_OFFSETS, (b"\0\x63", None))
    lines = _loaded(ask)
    assert len(lines) == 11
    assert lines[-1] == "__consumer_offsets-0: 20 more of its records are left out like these"


@pytest.mark.parametrize(("kind", "ends_it"), [(0, True), (1, True), (2, False), (99, False)])
def test_only_markers_end_transactions(kind: int, ends_it: bool) -> None:
    """As in Kafka the type alone counts, and one that is not known is passed over."""
    ask = filled()
    batch = Batch.of([Record(0, 1, kind.to_bytes(4, "big"), None)])
    batch.producer_id = 0
    (shard,) = ask.shards(ask.state.coordinators)
    shard._apply_marker(batch, batch.records[0])
    assert bool(shard.unstable(SIMPLE)) != ends_it


def test_a_log_that_cannot_be_read_now_has_no_coordinator(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = filled()
    before = _committed(ask, SIMPLE)
    log = ask.log(CONSUMER_OFFSETS)

    def fail(*_: object, **__: object) -> None:
        raise ApiFailure(codes.KAFKA_STORAGE_ERROR, "the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(log, "batches", fail)
        ask.load_again()
        asked = m.OffsetFetchRequest(groups=[OffsetFetchRequestGroup(SIMPLE, topics=None)])
        assert ask(asked, 9).groups[0].error_code == codes.NOT_COORDINATOR
    assert _committed(ask, SIMPLE) == before
