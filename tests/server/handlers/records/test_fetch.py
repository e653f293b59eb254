"""Fetch: whom it is for, what it sees, and when it is answered.

What the answers say was seen in the answers of real brokers (``differential --records``), but for
what they do to followers and to those who wait.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.messages.fetch_request import ForgottenTopic
from kafka_admin_proto.protocol import codes
from tests.helpers.profile import draws
from tests.server.handlers.records.asked import Asked, fetching, produced, values

_PLAIN = 12


def row_of(asked: Asked, *rows: Any, node: int = 1, version: int = _PLAIN, **fields: Any) -> Any:
    """The row of the only partition, at the end of the time."""
    waiting = asked.begin(fetching(*rows, **fields), version, node)
    (item,) = waiting.end_time().responses
    (row,) = item.partitions
    return row


@settings(max_examples=draws(200), deadline=None)
@given(
    sizes=st.lists(st.lists(st.integers(1, 400), max_size=5), min_size=3, max_size=3),
    most=st.integers(0, 900),
    most_of_one=st.integers(0, 900),
)
def test_all_is_read_in_a_session_whatever_the_limits(
    sizes: list[list[int]], most: int, most_of_one: int
) -> None:
    """No partition starves: one that gave records is read last."""
    asked = Asked()
    asked.create("t", 9)
    numbers = [0, 3, 6]  # which node 1 leads
    expected = {}
    for number, each in zip(numbers, sizes, strict=True):
        expected[number] = [bytes(size) for size in each]
        for value in expected[number]:
            asked.produce("t", value, number=number)
    offsets = dict.fromkeys(numbers, 0)
    found: dict[int, list[bytes | None]] = {number: [] for number in numbers}
    session, epoch = 0, 0
    changed = numbers
    last_given: dict[int, int] = {}
    most_turns = sum(map(len, expected.values()))
    for turn in range(most_turns):
        request = fetching(
            *(("t", number, offsets[number]) for number in changed),
            session_id=session, session_epoch=epoch,
            max_bytes=most, partition_max_bytes=most_of_one,
        )  # fmt: skip
        response = asked.begin(request, _PLAIN).end_time()
        session, epoch = response.session_id, epoch + 1
        changed = []
        for item in response.responses:
            for row in item.partitions:
                read = values(row.records)
                found[row.partition_index] += read
                if read:
                    changed.append(row.partition_index)
                    last_given[row.partition_index] = turn
                    offsets[row.partition_index] += len(read)
        assert changed, "each answer has at least one batch"
        left = [each for each in numbers if len(found[each]) < len(expected[each])]
        assert all(turn - last_given.get(each, -1) <= len(numbers) for each in left)
        if not left:
            break
    assert found == expected


@pytest.mark.parametrize(("level", "read"), [(0, [b"a", b"b", b"c", None]), (1, [b"a"])])
def test_an_open_transaction(level: int, read: list[bytes | None]) -> None:
    asked = Asked("t")
    log = asked.log("t")
    asked.produce("t", b"a")
    _append_transactional(asked, b"b")
    asked.produce("t", b"c")
    row = row_of(asked, ("t", 0, 0), isolation_level=level)
    assert values(row.records) == read[:3]
    assert (row.high_watermark, row.last_stable_offset) == (3, 1)
    assert row.aborted_transactions == ([] if level else None)
    log.log.append_marker(1, 0, commit=False, coordinator_epoch=0, leader_epoch=0, now_ms=1)
    log.log.high_watermark = 4
    row = row_of(asked, ("t", 0, 0), isolation_level=level)
    assert row.last_stable_offset == 4
    aborted = [(each.producer_id, each.first_offset) for each in row.aborted_transactions or []]
    assert aborted == ([(1, 1)] if level else [])
    row = row_of(asked, ("t", 0, 0), isolation_level=level, partition_max_bytes=1)
    assert values(row.records) == [b"a"]
    found = [each.first_offset for each in row.aborted_transactions or []]
    assert found == ([1] if level else []), "the index has no entry before the transaction"


@pytest.mark.parametrize(
    ("max_bytes", "offset", "aborted"), [(0, 0, []), (1, 0, None), (1, 1, []), (900, 0, [])]
)
def test_null_in_place_of_aborted_transactions(
    max_bytes: int, offset: int, aborted: list[Any] | None
) -> None:
    """As in Kafka: where the first batch does not fit in, and no other one has to be sent whole."""
    asked = Asked()
    asked.create("t", 4)
    for number in (0, 3):  # which node 1 leads
        asked.produce("t", b"a", number=number)
    request = fetching(("t", 0, 0), ("t", 3, offset), isolation_level=1)
    request.topics[1].partitions[0].partition_max_bytes = max_bytes
    first, second = (
        part for item in asked.begin(request, _PLAIN, 1).end_time().responses
        for part in item.partitions
    )  # fmt: skip
    assert first.aborted_transactions == []
    assert second.aborted_transactions == aborted


def test_aborted_transactions_up_to_the_next_entry_of_the_index() -> None:
    asked = Asked("t")
    log = asked.log("t")
    for _ in range(8):
        asked.produce("t", bytes(1000))
    _append_transactional(asked, b"b")
    log.log.append_marker(1, 0, commit=False, coordinator_epoch=0, leader_epoch=0, now_ms=1)
    log.log.high_watermark = 10
    for offset, sent in {0: [], 4: [], 7: [], 8: [8]}.items():
        row = row_of(asked, ("t", 0, offset), isolation_level=1, partition_max_bytes=1)
        found = [each.first_offset for each in row.aborted_transactions or []]
        assert found == sent, offset


def _append_transactional(asked: Asked, value: bytes) -> None:
    request = produced(
        "t", value, producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    data = request.topic_data[0].partition_data[0].records
    assert data is not None
    asked.log("t").append(data, leader_epoch=0, now_ms=1)


@pytest.mark.parametrize(
    ("epoch", "code"),
    [(-1, 0), (0, codes.FENCED_LEADER_EPOCH), (1, 0), (2, codes.UNKNOWN_LEADER_EPOCH)],
)
@pytest.mark.parametrize("version", [9, 16])
def test_the_leaders_epoch(epoch: int, code: int, version: int) -> None:
    asked = Asked("t")
    asked.change("t", leader=1)
    name = asked.id_of("t") if version >= 13 else "t"
    waiting = asked.begin(fetching((name, 0, 0), current_leader_epoch=epoch), version)
    response = waiting.end_time()
    (row,) = response.responses[0].partitions
    assert row.error_code == code
    is_hinted = version >= 16 and code == codes.FENCED_LEADER_EPOCH
    assert (row.current_leader.leader_id, row.current_leader.leader_epoch) == (
        (1, 1) if is_hinted else (-1, -1)
    )
    assert [each.node_id for each in response.node_endpoints] == [1] * is_hinted


@pytest.mark.parametrize("version", [10, 11, 16])
def test_followers_serve_consumers_of_later_versions(version: int) -> None:
    asked = Asked("t")
    asked.produce("t", b"a")
    asked.change("t", leader=3)
    name = asked.id_of("t") if version >= 13 else "t"
    row = row_of(asked, (name, 0, 0), version=version)
    assert row.error_code == (codes.NOT_LEADER_OR_FOLLOWER if version < 11 else 0)
    asked.change("t", replicas=[2, 3], isr=[2, 3], directories=[UUID(int=5)] * 2)
    response = asked.begin(fetching((name, 0, 0)), version).response
    (row,) = response.responses[0].partitions
    assert row.error_code == codes.NOT_LEADER_OR_FOLLOWER
    if version >= 16:
        assert (row.current_leader.leader_id, row.current_leader.leader_epoch) == (3, 1)
        assert [each.node_id for each in response.node_endpoints] == [3]


def test_records_that_a_new_leader_lacks() -> None:
    """An unclean election: offset 1 of epoch 0 is gone, and a consumer hears where."""
    asked = Asked("t")
    asked.produce("t", b"a")
    asked.state.partitions.left(2)
    asked.produce("t", b"b")
    assert row_of(asked, ("t", 0, 2), last_fetched_epoch=0, max_wait_ms=0).error_code == 0
    asked.change("t", leader=2, isr=[2])
    row = row_of(asked, ("t", 0, 2), node=2, last_fetched_epoch=0)
    assert (row.error_code, row.high_watermark) == (0, 1)
    assert (row.diverging_epoch.epoch, row.diverging_epoch.end_offset) == (0, 1)
    assert row_of(asked, ("t", 0, 2), node=2).error_code == codes.OFFSET_OUT_OF_RANGE
    row = row_of(asked, ("t", 0, 1), node=2, last_fetched_epoch=5)
    assert row.error_code == codes.OFFSET_OUT_OF_RANGE, "an epoch that never was"


def test_a_follower_hears_of_an_epoch_with_its_records() -> None:
    """4.3.1: the leader knows its epoch at once, a follower out of the first batch."""
    asked = Asked("t")
    for node, code in ((1, 0), (2, codes.OFFSET_OUT_OF_RANGE)):
        row = row_of(asked, ("t", 0, 2), node=node, last_fetched_epoch=0)
        assert (row.error_code, row.diverging_epoch.epoch) == (code, -1 if code else 0)
    asked.produce("t", b"a")
    row = row_of(asked, ("t", 0, 2), node=2, last_fetched_epoch=0)
    assert row.diverging_epoch.end_offset == 1


def test_a_follower_without_records_knows_no_epoch() -> None:
    """4.4.0: an earlier epoch ends where the leader's begins, which a follower has not heard of."""
    asked = Asked("t")
    asked.change("t", leader=2)
    row = row_of(asked, ("t", 0, 2), node=2, last_fetched_epoch=0)
    assert (row.diverging_epoch.epoch, row.diverging_epoch.end_offset) == (0, 0)
    row = row_of(asked, ("t", 0, 2), last_fetched_epoch=0)
    assert row.error_code == codes.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    ("replica", "epoch", "code"),
    [
        (2, -1, 0),
        (3, 0, 0),
        (1, -1, codes.NOT_LEADER_OR_FOLLOWER),
        (7, -1, codes.NOT_LEADER_OR_FOLLOWER),
        (7, 0, codes.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_followers(replica: int, epoch: int, code: int) -> None:
    """They read what is not replicated yet; others that say they follow are refused."""
    asked = Asked("t")
    asked.produce("t", b"a")
    asked.state.partitions.left(3)
    asked.produce("t", b"b")
    row = row_of(asked, ("t", 0, 0), replica_id=replica, current_leader_epoch=epoch)
    assert row.error_code == code
    assert values(row.records) == ([] if code else [b"a", b"b"])
    assert row.high_watermark == (-1 if code else 1)
    assert values(row_of(asked, ("t", 0, 0)).records) == [b"a"]


@pytest.mark.parametrize(("release", "addresses"), [("4.3", []), ("3.9", [1])])
def test_leaders_are_named_to_followers(release: str, addresses: list[int]) -> None:
    """With their addresses only before 4.0."""
    asked = Asked("t", release=release)
    request = fetching((asked.id_of("t"), 0, 0))
    request.replica_state.replica_id = 3
    response = asked.begin(request, 16, 2).response
    (row,) = response.responses[0].partitions
    assert (row.error_code, row.current_leader.leader_id) == (codes.NOT_LEADER_OR_FOLLOWER, 1)
    assert [each.node_id for each in response.node_endpoints] == addresses


_RACKS = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


@pytest.mark.parametrize(
    ("rack", "selector", "version", "found"),
    [("r2", _RACKS, 11, 2), ("r2", _RACKS, 10, -1), ("r2", "", 11, -1), ("r1", _RACKS, 11, -1),
     ("r9", _RACKS, 11, -1), ("", _RACKS, 11, -1)],
)  # fmt: skip
def test_a_replica_in_the_consumers_rack(
    rack: str, selector: str, version: int, found: int
) -> None:
    asked = Asked("t", replica_selector_class=selector)
    for node, each in asked.state.cluster.brokers.items():
        each.rack = f"r{node}"
    asked.produce("t", b"a")
    row = row_of(asked, ("t", 0, 0), version=version, rack_id=rack if version >= 11 else "")
    assert (row.error_code, row.preferred_read_replica) == (0, found)
    assert values(row.records) == ([] if found >= 0 else [b"a"])
    if found >= 0:
        assert row_of(asked, ("t", 0, 7), version=version, rack_id=rack).error_code == 1
        asked.change("t", isr=[1, 3])
        row = row_of(asked, ("t", 0, 0), version=version, rack_id=rack)
        assert row.preferred_read_replica == -1, "it is not in sync"


def test_a_replica_that_lacks_records() -> None:
    """A consumer in its rack reads there what it has, and is sent there for no more."""
    asked = Asked("t", replica_selector_class=_RACKS)
    asked.state.cluster.brokers[2].rack = "b"
    asked.produce("t", b"a")
    asked.state.partitions.left(2)
    asked.produce("t", b"b")
    asked.change("t", isr=[1, 3])
    rows = [row_of(asked, ("t", 0, offset), node=2) for offset in (0, 1, 2)]
    assert [each.error_code for each in rows] == [0, 0, codes.OFFSET_OUT_OF_RANGE]
    assert [values(each.records) for each in rows] == [[b"a"], [], []]
    assert [each.high_watermark for each in rows] == [1, 1, -1]
    row = row_of(asked, ("t", 0, 2), node=2, last_fetched_epoch=0)
    assert (row.diverging_epoch.epoch, row.diverging_epoch.end_offset) == (0, 1)
    asked.change("t", isr=[1, 2, 3])
    found = [row_of(asked, ("t", 0, each), rack_id="b").preferred_read_replica for each in (1, 2)]
    assert found == [2, -1]


@pytest.mark.parametrize("topic_id", [UUID(int=0), UUID(int=9)])
def test_ids_of_no_topic(topic_id: UUID) -> None:
    row = row_of(Asked("t"), (topic_id, 0, 0), version=13)
    assert row.error_code == codes.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("session", [0, -1])
def test_a_partition_that_is_named_twice_is_read_once(session: int, is_known: bool) -> None:
    """Kafka's request is a map in which the later row takes the place of the earlier one."""
    asked = Asked("t")
    asked.produce("t", b"a")
    asked.produce("t", b"b")
    topic_id = asked.id_of("t") if is_known else UUID(int=9)
    for offset, read in ((0, [b"a", b"b"]), (1, [b"b"])):
        rows = [(topic_id, 0, 1 - offset), (topic_id, 0, offset)]
        request = fetching(*rows, session_epoch=session)
        answer = asked.begin(request, 13, 1).end_time()
        (topic,) = answer.responses
        (row,) = topic.partitions
        assert row.error_code == (0 if is_known else codes.UNKNOWN_TOPIC_ID)
        assert values(row.records) == (read if is_known else [])


@pytest.mark.parametrize("offset", [-1, 2, (1 << 63) - 1])
def test_offsets_that_the_log_does_not_have(offset: int) -> None:
    asked = Asked("t")
    asked.produce("t", b"a")
    row = row_of(asked, ("t", 0, offset))
    assert (row.error_code, row.high_watermark) == (codes.OFFSET_OUT_OF_RANGE, -1)


@pytest.mark.parametrize("version", [2, _PLAIN])
@pytest.mark.parametrize(("most", "most_of_one"), [(100, -1), (0, -7), (-1, 100)])
def test_a_negative_number_of_bytes(most: int, most_of_one: int, version: int) -> None:
    """4.4.0: it fails where there is a record to read, the first one too."""
    asked = Asked("t")
    asked.produce("t", b"a")
    limits = {"max_bytes": most if version > 2 else 100, "partition_max_bytes": most_of_one}
    code = codes.UNKNOWN_SERVER_ERROR if min(limits.values()) < 0 else 0
    row = row_of(asked, ("t", 0, 0), version=version, **limits)
    assert (row.error_code, row.high_watermark) == (code, -1 if code else 1)
    row = row_of(asked, ("t", 0, 1), version=version, **limits)
    assert (row.error_code, row.high_watermark) == (0, 1)


@pytest.mark.parametrize("version", [12, 13])
def test_a_topic_is_deleted_while_a_fetch_waits(version: int) -> None:
    asked = Asked("t", "u")
    names: list[Any] = [asked.id_of(each) if version >= 13 else each for each in ("t", "u")]
    request = fetching(*((each, 0, 0) for each in names), max_wait_ms=500)
    waiting = asked.begin(request, version)
    assert waiting.waits()
    asked.delete("t")
    codes_of = [row.error_code for item in waiting.response.responses for row in item.partitions]
    assert codes_of == [codes.UNKNOWN_TOPIC_OR_PARTITION, 0]


def test_a_session_knows_topics_that_are_gone_by_their_names() -> None:
    asked = Asked("t")
    request = fetching((asked.id_of("t"), 0, 0), session_epoch=0)
    session = asked.begin(request, 17).end_time().session_id
    asked.delete("t")

    def next_code(epoch: int) -> int:
        request = fetching(session_id=session, session_epoch=epoch)
        ((row,),) = (each.partitions for each in asked.begin(request, 17).end_time().responses)
        return int(row.error_code)

    assert next_code(1) == codes.UNKNOWN_TOPIC_OR_PARTITION
    asked.create("t")
    assert next_code(2) == codes.INCONSISTENT_TOPIC_ID


def test_the_fetch_of_a_session_that_goes_on_elsewhere() -> None:
    """The client has lost its connection, and asked again on another one."""
    asked = Asked("t")
    session = asked.begin(fetching(("t", 0, 0), session_epoch=0), _PLAIN).end_time().session_id
    again = {"session_id": session, "max_wait_ms": 500}
    first = asked.begin(fetching(session_epoch=1, **again), _PLAIN)
    second = asked.begin(fetching(session_epoch=2, **again), _PLAIN)
    asked.produce("t", b"a")
    assert first.response.error_code == codes.INVALID_FETCH_SESSION_EPOCH
    assert second.response.responses[0].partitions[0].high_watermark == 1


def test_a_session_ends() -> None:
    """With a last epoch, with its last partition, and with its node."""
    asked = Asked("t")

    def begun() -> int:
        waiting = asked.begin(fetching(("t", 0, 0), session_epoch=0), _PLAIN)
        return int(waiting.end_time().session_id)

    def answer(**fields: Any) -> Any:
        return asked.begin(fetching(**fields), _PLAIN).end_time()

    session = begun()
    assert answer(session_id=session, session_epoch=-1).session_id == 0
    assert answer(session_id=session, session_epoch=1).error_code == 70
    session = begun()
    gone = [ForgottenTopic("t", partitions=[0])]
    found = answer(session_id=session, session_epoch=1, forgotten_topics_data=gone)
    assert (found.error_code, found.session_id, found.responses) == (0, 0, [])
    assert answer(session_id=session, session_epoch=2).error_code == 70
    session = begun()
    asked.state.partitions.left(1)
    asked.state.partitions.came(1)
    assert answer(session_id=session, session_epoch=1).error_code == 70


@pytest.mark.parametrize(
    ("offset", "fields", "waits"),
    [
        (0, {}, False),
        (1, {}, True),
        (0, {"min_bytes": 1000}, True),
        (0, {"min_bytes": 1000, "partition_max_bytes": 10}, True),
        (0, {"min_bytes": 1000, "max_bytes": 10}, False),
        (1, {"min_bytes": 0}, False),
        (1, {"max_wait_ms": 0}, False),
    ],
)
def test_who_waits(offset: int, fields: dict[str, int], waits: bool) -> None:
    """As of real brokers in ``test_fetch_beside_real.py``."""
    asked = Asked("t")
    asked.produce("t", b"a")
    settings = {"max_wait_ms": 500, "partition_max_bytes": 1 << 20, **fields}
    waiting = asked.begin(fetching(("t", 0, offset), **settings), _PLAIN)
    assert waiting.waits() == waits
    for _ in range(20):
        asked.produce("t", bytes(100))
    assert waiting.waits() == (waits and fields.get("partition_max_bytes") == 10)
    assert waiting.end_time() is not None


def test_a_consumer_ahead_of_the_high_watermark_is_answered() -> None:
    asked = Asked("t")
    asked.state.partitions.left(2)
    asked.produce("t", b"a")
    settings = {"max_wait_ms": 500, "partition_max_bytes": 100}
    assert asked.begin(fetching(("t", 0, 0), **settings), _PLAIN).waits()
    assert not asked.begin(fetching(("t", 0, 1), **settings), _PLAIN).waits()
