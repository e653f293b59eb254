"""Records of share groups on a clock that is moved: acquired, acknowledged, and given back."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.alter_client_quotas_request import EntityData, EntryData, OpData
from kafka_admin_proto.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsTopic,
)
from kafka_admin_proto.messages.share_fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, write_batch
from tests.server.share.sharing import (
    Fetcher,
    Sharer,
    acks,
    configure,
    kept_states,
    produce,
    ready,
    shared_cluster,
)

_ACCEPT, _RELEASE, _REJECT, _RENEW = 1, 2, 3, 4
_LOCK_S = 30.0


def _transactional(producer_id: int) -> bytes:
    """A batch of two records of a transaction."""
    batch = Batch.of([Record(index, 0, None, b"x") for index in range(2)])
    batch.is_transactional, batch.producer_id = True, producer_id
    batch.producer_epoch = batch.base_sequence = 0
    return write_batch(batch)


@pytest.mark.parametrize("release", ["4.3", "4.4"])
def test_records_are_acquired_and_accepted(release: str) -> None:
    cluster = ready(release)
    produce(cluster, 3)
    one = Fetcher(cluster, "one")
    assert one.get() == [(0, 2, 1)]
    assert one.get() == []
    assert one.get(acks(0, 2, _ACCEPT)) == []
    state = kept_states(cluster)[0]
    assert (state.start_offset, state.completed) == (0, 3)
    produce(cluster, 2)
    assert one.get() == [(3, 4, 1)]
    assert one.acknowledge(acks(3, 4, _ACCEPT)) == 0


def test_members_have_different_records() -> None:
    cluster = ready()
    one, two = Fetcher(cluster, "one"), Fetcher(cluster, "two")
    produce(cluster, 2)
    assert one.get() == [(0, 1, 1)]
    assert two.get() == []
    produce(cluster, 1)
    assert two.get() == [(2, 2, 1)]
    refused = two.acknowledge(acks(0, 1, _ACCEPT))
    assert refused == codes.INVALID_RECORD_STATE
    assert two.get(acks(2, 2, _RELEASE)) == [(2, 2, 2)]


def test_released_records_come_again_until_they_are_archived() -> None:
    """The last delivery of a record is of that one alone; with a limit of 2 it is not."""
    cluster = ready(share_delivery_count_limit="2")
    produce(cluster, 2)
    one = Fetcher(cluster, "one")
    assert one.get() == [(0, 1, 1)]
    assert one.get(acks(0, 1, _RELEASE)) == [(0, 1, 2)]
    assert one.get(acks(0, 1, _RELEASE)) == []
    assert kept_states(cluster)[0].completed == 2


def test_records_that_come_often_come_one_by_one() -> None:
    cluster = ready()
    produce(cluster, 8)
    one = Fetcher(cluster, "one")
    assert one.get() == [(0, 7, 1)]
    assert one.get(acks(0, 7, _RELEASE)) == [(0, 7, 2)]
    assert one.get(acks(0, 7, _RELEASE)) == [(0, 7, 3)]
    assert one.get(acks(0, 7, _RELEASE)) == [(0, 3, 4)]
    assert one.get(acks(0, 3, _RELEASE)) == [(0, 0, 5)]
    assert one.get(acks(0, 0, _RELEASE)) == [(1, 1, 5)]


def test_each_record_has_a_type_of_its_own() -> None:
    cluster = ready()
    produce(cluster, 5)
    one = Fetcher(cluster, "one")
    one.get()
    assert one.get(acks(0, 4, _ACCEPT, _RELEASE, _REJECT, 0, _RELEASE)) == [(1, 1, 2), (4, 4, 2)]
    batches = [
        (each.first_offset, each.last_offset, each.state, each.delivery_count)
        for each in kept_states(cluster)[0].batches
    ]
    assert batches == [(0, 0, 2, 1), (1, 1, 0, 1), (2, 3, 4, 1), (4, 4, 0, 1)]


def test_locks_end_and_are_renewed() -> None:
    cluster = ready()
    produce(cluster, 2)
    one, two = Fetcher(cluster, "one"), Fetcher(cluster, "two")
    one.get()
    waits = two.send(max_wait_ms=60_000)
    assert waits.waits
    cluster.clock.pass_time(_LOCK_S - 1)
    renewal = {"max_wait_ms": 0, "min_bytes": 0, "max_records": 0, "max_bytes": 0}
    renewed = one.send(acks(0, 0, _RENEW), is_renew_ack=True, **renewal).response
    assert renewed.responses[0].partitions[0].acknowledge_error_code == 0
    cluster.clock.pass_time(1)
    (row,) = waits.response.responses[0].partitions
    assert [(each.first_offset, each.last_offset) for each in row.acquired_records] == [(1, 1)]
    assert one.acknowledge(acks(1, 1, _ACCEPT)) == codes.INVALID_RECORD_STATE
    cluster.clock.pass_time(_LOCK_S)
    assert two.get() == [(0, 0, 2), (1, 1, 3)]


def test_renewal_can_be_forbidden() -> None:
    cluster = ready(share_renew_acknowledge_enable="false")
    produce(cluster, 1)
    one = Fetcher(cluster, "one")
    one.get()
    assert one.acknowledge(acks(0, 0, _RENEW), is_renew_ack=True) == codes.INVALID_RECORD_STATE
    assert one.acknowledge(acks(0, 0, _RENEW)) == codes.INVALID_REQUEST


def test_batches_of_the_log_are_acquired_whole_or_not() -> None:
    """At least a batch of the log; in the mode of the second version not more than asked for."""
    cluster = ready()
    for _ in range(3):
        produce(cluster, 4)
    one = Fetcher(cluster, "one")
    assert one.get(max_records=2) == [(0, 3, 1)]
    assert one.get(max_records=6, batch_size=2) == [(4, 7, 1), (8, 11, 1)]
    produce(cluster, 4)
    strict = {"share_acquire_mode": 1, "max_records": 3}
    assert one.get(**strict) == [(12, 14, 1)]
    assert one.get(**strict) == [(15, 15, 1)]


def test_the_most_records_in_flight() -> None:
    cluster = ready(share_partition_max_record_locks="100")
    for _ in range(12):
        produce(cluster, 10)
    one = Fetcher(cluster, "one")
    assert one.get(max_records=200) == [(0, 99, 1)]
    assert one.get() == []
    assert one.get(acks(10, 19, _RELEASE)) == [(10, 19, 2)]
    assert one.get(acks(0, 9, _ACCEPT)) == [(100, 109, 1)]


@pytest.mark.parametrize(
    ("policy", "found"),
    [("latest", []), ("earliest", [(0, 1, 1)]), ("by_duration:PT1M", [(1, 1, 1)])],
)
def test_where_a_group_begins(policy: str, found: list[tuple[int, int, int]]) -> None:
    cluster = shared_cluster()
    configure(cluster, share_auto_offset_reset=policy)
    Sharer(cluster, "one").join()
    produce(cluster, 1)
    cluster.clock.pass_time(60)
    cluster.clock.move(0.001)
    produce(cluster, 1)
    assert Fetcher(cluster, "one").get() == found


def test_sessions_and_their_epochs() -> None:
    cluster = ready()
    produce(cluster, 1)
    one = Fetcher(cluster, "one")
    for epoch, code in ((3, codes.SHARE_SESSION_NOT_FOUND), (-1, codes.SHARE_SESSION_NOT_FOUND)):
        assert one.send(share_session_epoch=epoch).response.error_code == code
    refused = one.send(acks(0, 0, _ACCEPT), share_session_epoch=0).response
    assert refused.error_code == codes.INVALID_REQUEST
    one.epoch = 0
    assert one.get() == [(0, 0, 1)]
    again = one.send(share_session_epoch=7).response
    assert again.error_code == codes.INVALID_SHARE_SESSION_EPOCH
    one.epoch = 1
    assert one.send(member_id="x" * 37).response.error_code == codes.INVALID_REQUEST
    assert one.send(group_id=None).response.error_code == codes.INVALID_REQUEST
    two = Fetcher(cluster, "two")
    assert two.get() == []
    assert one.row(share_session_epoch=-1) is None
    assert two.get() == [(0, 0, 2)], "the end of a session gives records back"


def test_a_broker_has_so_many_sessions() -> None:
    """A member without a session waits as long as it would for records."""
    cluster = shared_cluster(
        configs={"group.share.max.share.sessions": "1", "group.share.max.size": "1"}
    )
    Sharer(cluster, "one").join()
    Fetcher(cluster, "one").get()
    full = Fetcher(cluster, "two").send(max_wait_ms=0).response
    assert full.error_code == codes.SHARE_SESSION_LIMIT_REACHED
    assert Fetcher(cluster, "two").send(max_wait_ms=500).waits


def test_a_session_has_so_many_partitions() -> None:
    """A small request of a session is about all of them."""
    cluster = ready()
    produce(cluster, 1)
    one, two = Fetcher(cluster, "one"), Fetcher(cluster, "two")
    many = [FetchTopic(UUID(int=9), [FetchPartition(each) for each in range(5000)])]
    more = [FetchTopic(UUID(int=8), [FetchPartition(0)])]
    full = one.send(topics=many + more, max_wait_ms=0).response
    assert full.error_code == codes.SHARE_SESSION_LIMIT_REACHED
    one.epoch = 0
    assert one.get() == [(0, 0, 1)]
    assert one.send(topics=many).response.error_code == codes.SHARE_SESSION_NOT_FOUND
    assert two.get() == [(0, 0, 2)]


def test_a_closed_connection_gives_records_back() -> None:
    cluster = ready()
    produce(cluster, 1)
    one, two = Fetcher(cluster, "one"), Fetcher(cluster, "two")
    assert one.get() == [(0, 0, 1)]
    cluster.state.shares.lost(None)
    assert two.get() == [(0, 0, 2)]


def test_a_closed_connection_ends_the_session_that_it_began_last() -> None:
    cluster = ready()
    produce(cluster, 2)
    one, two, three = (Fetcher(cluster, each) for each in ("one", "two", "three"))
    assert one.get(max_records=1, share_acquire_mode=1) == [(0, 0, 1)]
    assert two.get() == [(1, 1, 1)]
    cluster.state.shares.lost(None)
    assert three.get() == [(1, 1, 2)]
    assert one.acknowledge(acks(0, 0, _ACCEPT)) == 0


def test_a_new_leader_reads_the_kept_state() -> None:
    """What members had is free again; what was accepted stays so."""
    cluster = ready()
    produce(cluster, 4)
    one = Fetcher(cluster, "one")
    one.get()
    assert one.acknowledge(acks(1, 1, _ACCEPT)) == 0
    assert one.acknowledge(acks(3, 3, _RELEASE)) == 0
    cluster.state.shares.left(cluster.node)
    cluster.state.share_states.left(cluster.node)
    assert Fetcher(cluster, "one").get() == [(0, 0, 1), (2, 2, 1), (3, 3, 2)]


def test_a_broker_that_does_not_lead_names_the_leader() -> None:
    cluster = shared_cluster(nodes=2)
    topic = cluster.state.topic("orders")
    assert topic is not None
    number, leader = next(
        (number, each.leader)
        for number, each in topic.partitions.items()
        if each.leader != cluster.node
    )
    response = Fetcher(cluster, "one", number).send().response
    (row,) = response.responses[0].partitions
    assert row.error_code == codes.NOT_LEADER_OR_FOLLOWER
    assert (row.current_leader.leader_id, row.current_leader.leader_epoch) == (leader, 0)
    assert [each.node_id for each in response.node_endpoints] == [leader]


def test_a_quota_of_bytes() -> None:
    """A client over its quota gets no rows, though it has what was acquired for it."""
    cluster = ready()
    quota = EntryData([EntityData("client-id", "client")], [OpData("consumer_byte_rate", 28.0)])
    cluster.served.ask(m.AlterClientQuotasRequest([quota]))
    produce(cluster, 3)
    one = Fetcher(cluster, "one")
    first = one.send(max_wait_ms=0).response
    assert (first.throttle_time_ms, len(first.responses)) == (0, 1)
    produce(cluster, 3)
    throttled = one.send(max_wait_ms=0).response
    assert throttled.throttle_time_ms > 0
    assert throttled.responses == []
    cluster.clock.pass_time(_LOCK_S)
    assert one.get() == [(0, 2, 2), (3, 5, 2)]


def test_records_that_are_deleted_meanwhile() -> None:
    cluster = ready()
    produce(cluster, 2)
    one = Fetcher(cluster, "one")
    one.get()
    assert one.acknowledge(acks(0, 1, _RELEASE)) == 0
    produce(cluster, 1)
    produce(cluster, 1)
    topic = DeleteRecordsTopic("orders", [DeleteRecordsPartition(0, 3)])
    cluster.send(m.DeleteRecordsRequest([topic], 1000))
    assert one.get() == []
    assert one.get() == [(3, 3, 1)]


def test_acknowledgements_that_nobody_may_send() -> None:
    cluster = ready()
    produce(cluster, 3)
    one = Fetcher(cluster, "one")
    one.get()
    for batches in (
        [acks(2, 1, 1)], [acks(0, 1)], [acks(0, 1, 1, 1, 1)], [acks(0, 0, 5)], [acks(0, 0, -1)],
        [acks(1, 1, 1), acks(0, 0, 1)], [acks(0, 9, 1)],
    ):  # fmt: skip
        assert one.acknowledge(*batches) == codes.INVALID_REQUEST, batches
    assert one.acknowledge(acks(0, 0, 1), acks(0, 0, 1)) == codes.INVALID_RECORD_STATE
    assert one.get(acks(0, 2, _RELEASE)) == [(0, 2, 2)], "a refusal changes nothing"


def test_a_session_begins_with_each_partition_once() -> None:
    """One that comes twice fails it, and ends the member's last session, as in Kafka."""
    cluster = ready()
    one = Fetcher(cluster, "one")
    one.get()
    topic = cluster.state.topic("orders")
    assert topic is not None
    twice = [FetchTopic(topic.id, [FetchPartition(0)])] * 2
    refused = one.send(topics=twice, share_session_epoch=0, max_wait_ms=0).response
    assert refused.error_code == codes.UNKNOWN_SERVER_ERROR
    ended = one.send(share_session_epoch=1, max_wait_ms=0).response
    assert ended.error_code == codes.SHARE_SESSION_NOT_FOUND
    one.epoch = 0
    one.get()
    assert one.send(topics=twice, max_wait_ms=0).response.error_code == 0


def test_less_than_no_bytes_cannot_be_acquired() -> None:
    cluster = ready()
    produce(cluster, 1)
    one = Fetcher(cluster, "one")
    assert one.row(max_bytes=-1).error_code == codes.UNKNOWN_SERVER_ERROR
    assert one.get() == [(0, 0, 1)]


@pytest.mark.parametrize("most", ["max_records", "max_bytes"])
def test_a_member_that_wants_less_than_nothing_sees_errors(most: str) -> None:
    """Nothing at all is answered with nothing."""
    cluster = shared_cluster(nodes=2)
    topic = cluster.state.topic("orders")
    assert topic is not None
    away = next(n for n, each in topic.partitions.items() if each.leader != cluster.node)
    for wanted, codes_of_rows in ((0, []), (-1, [codes.NOT_LEADER_OR_FOLLOWER])):
        response = Fetcher(cluster, "one", away).send(**{most: wanted}).response
        found = [part.error_code for each in response.responses for part in each.partitions]
        assert found == codes_of_rows


def test_a_topic_that_is_not_there_is_looked_for_before_acknowledgements() -> None:
    one = Fetcher(ready(), "one")
    one.get()
    foreign = [FetchTopic(UUID(int=9), [FetchPartition(0, acknowledgement_batches=[acks(2, 1)])])]
    (topic,) = one.send(topics=foreign, max_wait_ms=0).response.responses
    assert topic.partitions[0].acknowledge_error_code == codes.UNKNOWN_TOPIC_ID


def test_aborted_records_reach_nobody() -> None:
    cluster = ready(share_isolation_level="read_committed")
    topic = cluster.state.topic("orders")
    assert topic is not None
    replicas = cluster.state.partitions.log(topic, 0)
    for number, commit in ((1, False), (2, True)):
        replicas.append(_transactional(number), leader_epoch=0, now_ms=cluster.clock.now_ms())
        one = Fetcher(cluster, "one")
        assert one.get() == [], "the transaction is open"
        replicas.append_marker(
            number, 0, commit=commit, coordinator_epoch=0, leader_epoch=0,
            now_ms=cluster.clock.now_ms(),
        )  # fmt: skip
    assert Fetcher(cluster, "one").get() == [(2, 5, 1)]


@pytest.mark.parametrize(("most", "found"), [(1, [1, 0]), (1 << 20, [1, 1])])
def test_the_first_batch_alone_may_be_larger_than_all_bytes(most: int, found: list[int]) -> None:
    cluster = ready()
    produce(cluster, 1)
    produce(cluster, 1, 1)
    one = Fetcher(cluster, "one")
    topics = [FetchTopic(one.topic_id, [FetchPartition(0), FetchPartition(1)])]
    response = one.send(topics=topics, max_bytes=most).response
    rows = [len(part.acquired_records) for each in response.responses for part in each.partitions]
    assert rows == found


def test_places_that_were_looked_at_before_are_read_by_themselves() -> None:
    """So of each reading a batch comes that is larger than all bytes, as in Kafka."""
    cluster = ready()
    one = Fetcher(cluster, "one")
    topics = [FetchTopic(one.topic_id, [FetchPartition(0), FetchPartition(1)])]
    one.send(topics=topics, max_wait_ms=0)
    produce(cluster, 1)
    one.get()
    for partition in (0, 1):
        produce(cluster, 1, partition)
    response = one.send(topics=topics, max_bytes=1).response
    rows = [len(part.acquired_records) for each in response.responses for part in each.partitions]
    assert rows == [1, 1]


@pytest.mark.parametrize("most", [2, 3, 101])
def test_bytes_that_partitions_cannot_share_evenly_are_had_all_the_same(most: int) -> None:
    """One partition has what is left over, so that all that the member wants is there."""
    cluster = ready()
    one = Fetcher(cluster, "one")
    topics = [FetchTopic(one.topic_id, [FetchPartition(0), FetchPartition(1)])]
    for partition in (0, 1):
        produce(cluster, 1, partition)
    assert not one.send(topics=topics, max_bytes=most, min_bytes=most).waits


def test_a_partition_without_records_has_none_of_the_bytes() -> None:
    cluster = ready()
    one = Fetcher(cluster, "one")
    topics = [FetchTopic(one.topic_id, [FetchPartition(0), FetchPartition(1)])]
    produce(cluster, 1)
    assert one.send(topics=topics, max_bytes=3, min_bytes=3).waits
