"""A cluster whose coordinators keep groups, transactions and share states, and are asked for all.

Each of the coordinators' topics has one partition.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto import messages as m
from kafka_admin_proto.codec import codec
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.messages import add_partitions_to_txn_request as adding
from kafka_admin_proto.messages import alter_share_group_offsets_request as altering
from kafka_admin_proto.messages import delete_share_group_offsets_request as deleting
from kafka_admin_proto.messages import describe_share_group_offsets_request as describing
from kafka_admin_proto.messages import initialize_share_group_state_request as beginning
from kafka_admin_proto.messages import join_group_request as joining
from kafka_admin_proto.messages import leave_group_request as leaving
from kafka_admin_proto.messages import offset_commit_request as committing
from kafka_admin_proto.messages import offset_delete_request as removing
from kafka_admin_proto.messages import offset_fetch_request as fetching
from kafka_admin_proto.messages import read_share_group_state_request as reading
from kafka_admin_proto.messages import read_share_group_state_summary_request as summing
from kafka_admin_proto.messages import streams_group_heartbeat_request as streaming
from kafka_admin_proto.messages import sync_group_request as syncing
from kafka_admin_proto.messages import txn_offset_commit_request as adding_offsets
from kafka_admin_proto.messages import write_share_group_state_request as writing
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.coordination.routing import Coordinators
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message
from tests.server.served import Served
from tests.server.still_clock import StillClock

CONFIGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.num.standby.replicas": "1",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.snapshot.update.records.per.snapshot": "2",
}
TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")
CLASSIC, CONSUMER, SHARE, SIMPLE, STREAMS = GROUPS = (
    "classic", "consumer", "share", "simple", "streams",
)  # fmt: skip
#: Transactions by how they are left.
ONGOING, COMMITTED, ABORTED, EMPTY = NAMES = ("ongoing", "committed", "aborted", "empty")
_TOPIC, _PARTITIONS = "orders", 2
_TIMEOUT_MS = 60_000
#: Some batches: topics cannot have it.
_SEGMENT_BYTES = 1000


class Asked:
    """Requests to the one node of a cluster, in the newest version unless it says otherwise."""

    def __init__(self, state: State, versions: dict[int, int]) -> None:
        self.state = state
        self._versions = versions

    def __call__(self, request: Message, version: int | None = None) -> Any:
        """The response as its bytes say; None for one that waits for more than a timer."""
        assert request.api_key is not None
        version = self._versions[request.api_key] if version is None else version
        answer = respond(
            self.state, request.api_key, request, Caller(1, version, "client", host="127.0.0.1")
        )
        self.state.append(answer.records)
        wait = answer.wait
        if wait is not None and not wait.complete(answer, self.state, (), False):
            self.pass_time(0.001)
            if not wait.complete(answer, self.state, (), False):
                return None
        sent = codec(type(answer.response), version)
        return sent.decode(sent.encode(answer.response))

    def pass_time(self, seconds: float) -> None:
        """Let timers do what is due."""
        assert isinstance(self.state.clock, StillClock)
        self.state.clock.pass_time(seconds)

    def shards(self, coordinators: Coordinators[Any]) -> list[Any]:
        """What a kind of coordinators has loaded."""
        return coordinators.shards(self.state, Caller(1, 0, "client"))

    def load_again(self) -> None:
        """Let all coordinators load what the logs have, as at a start."""
        state = self.state
        for each in (state.coordinators, state.transactions, state.share_states):
            each.end()
            each.load()

    def log(self, name: str) -> PartitionLog:
        """The log of a coordinators' topic."""
        topic = self.state.topic(name)
        assert topic is not None
        return self.state.partitions.log(topic, 0).log

    @property
    def topic_id(self) -> UUID:
        topic = self.state.topic(_TOPIC)
        assert topic is not None
        return topic.id


class Lines(logging.Handler):
    """The warnings of the cluster."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record.getMessage())

    def __enter__(self) -> Lines:
        SERVER.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        SERVER.removeHandler(self)


def filled(folder: Path | None = None) -> Asked:
    """A cluster whose coordinators keep something of each kind, in memory or in a folder."""
    served = Served("4.4", 1, configs=CONFIGS)
    if folder is not None:
        served.state.partitions.load(folder)
    ask = Asked(served.state, {key: each.highest for key, each in served.versions.items()})
    fill(ask)
    return ask


def fill(ask: Asked) -> None:
    """Let the coordinators keep something of each kind."""
    ask(m.CreateTopicsRequest([CreatableTopic(_TOPIC, _PARTITIONS, 1)], 1000))
    for key_type, key in enumerate(("g", "t", f"g:{ask.topic_id}:0")):
        ask(m.FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key]), 6)
    for name in TOPICS:
        log = ask.log(name)
        log.settings = msgspec.structs.replace(log.settings, segment_bytes=_SEGMENT_BYTES)
    for offset in (1, 2):
        ask(_commit(SIMPLE, offset), 9)
    joined = ask(_join("", "static"))
    rows = [syncing.SyncGroupRequestAssignment(joined.member_id, b"all")]
    ask(_sync(joined.generation_id, joined.member_id, "static", rows))
    ask(_commit(CLASSIC, 3, joined.member_id, joined.generation_id, "static"), 9)
    for name, regex in (("one", ""), ("two", "ord.*")):
        epoch = 0
        for _ in range(3):
            epoch = ask(_beat(name, epoch, regex)).member_epoch
    ask(_commit(CONSUMER, 4, "two", epoch), 9)
    for name in ("one", "two"):
        epoch = 0
        for _ in range(3):
            epoch = ask(_beat_share(name, epoch)).member_epoch
            ask.pass_time(0.001)  # the partitions get a state
    epochs = {"one": 0, "two": 0}
    for name in ("one", "two", "one", "two"):
        epochs[name] = ask(_beat_streams(name, epochs[name])).member_epoch
    ask(_commit(STREAMS, 4, "one", epochs["one"]), 9)
    for number in range(4):
        ask(_write_state(ask.topic_id, 9, number))
    for name in NAMES:
        made = ask(m.InitProducerIdRequest(name, _TIMEOUT_MS))
        producer = made.producer_id, made.producer_epoch
        if name != EMPTY:
            ask(_add_partitions(name, producer), 3)
            ask(m.AddOffsetsToTxnRequest(name, *producer, SIMPLE))
            ask(_commit_of(name, producer, 5), 4)
        if name in (COMMITTED, ABORTED):
            ask(m.EndTxnRequest(name, *producer, name == COMMITTED), 4)


def looks(topic_id: UUID) -> Iterator[tuple[Message, int | None]]:
    """Requests, with their version, that change nothing."""
    yield m.ListGroupsRequest(), None
    yield m.DescribeGroupsRequest([*GROUPS]), None
    yield m.ConsumerGroupDescribeRequest([*GROUPS]), None
    yield m.ShareGroupDescribeRequest([*GROUPS]), None
    yield m.StreamsGroupDescribeRequest([*GROUPS]), None
    groups = [fetching.OffsetFetchRequestGroup(each, topics=None) for each in GROUPS]
    yield m.OffsetFetchRequest(groups=groups), 9
    rows = [describing.DescribeShareGroupOffsetsRequestGroup(each, None) for each in GROUPS]
    yield m.DescribeShareGroupOffsetsRequest(rows), None
    yield m.ListTransactionsRequest(), None
    yield m.DescribeTransactionsRequest([*NAMES]), None
    parts = [summing.PartitionData(each) for each in range(_PARTITIONS)]
    yield (
        m.ReadShareGroupStateSummaryRequest(SHARE, [summing.ReadStateSummaryData(topic_id, parts)]),
        None,
    )


def seen(ask: Asked) -> list[Any]:
    """The answers to these."""
    return [ask(*each) for each in looks(ask.topic_id)]


def changes(ask: Asked) -> Iterator[tuple[Message, int | None]]:
    """Requests, with their version, of each client that the coordinators know, and of new ones."""
    for shard in ask.shards(ask.state.coordinators):
        yield from _of_groups(shard)
    for shard in ask.shards(ask.state.transactions):
        for each in shard.transactions.values():
            yield from _of_transaction(each.transactional_id, (each.producer_id, each.epoch))
    topic_id = ask.topic_id
    for epoch in (9, 0, 10):
        rows = [reading.ReadStateData(topic_id, [reading.PartitionData(0, epoch)])]
        yield m.ReadShareGroupStateRequest(SHARE, rows), None
        for number in range(3):
            yield _write_state(topic_id, epoch, number), None
    begun = [beginning.InitializeStateData(topic_id, [beginning.PartitionData(1, 9, 0)])]
    yield m.InitializeShareGroupStateRequest(SHARE, begun), None


def ends() -> Iterator[tuple[Message, int | None]]:
    """Requests, with their version, that delete what there is."""
    for group in GROUPS:
        parts = [altering.AlterShareGroupOffsetsRequestPartition(0, 1)]
        topics = [altering.AlterShareGroupOffsetsRequestTopic(_TOPIC, parts)]
        yield m.AlterShareGroupOffsetsRequest(group, topics), None
        gone = [deleting.DeleteShareGroupOffsetsRequestTopic(_TOPIC)]
        yield m.DeleteShareGroupOffsetsRequest(group, gone), None
        rows = [removing.OffsetDeleteRequestPartition(0)]
        yield m.OffsetDeleteRequest(group, [removing.OffsetDeleteRequestTopic(_TOPIC, rows)]), None
    yield m.DeleteGroupsRequest([*GROUPS]), None


def _of_groups(shard: Any) -> Iterator[tuple[Message, int | None]]:
    for group in list(shard.groups.values()):
        for each in [*group.members.values()]:
            who = each.id, each.instance_id
            yield m.HeartbeatRequest(group.name, group.generation, *who), None
            yield _commit(group.name, 6, each.id, group.generation, each.instance_id), 9
            yield _sync(group.generation, *who, [], group.name), None
            yield _join(*who, group.name), None
        yield _join("", "another", group.name), None
    for consumers in list(shard.consumer_groups.values()):
        for each in [*consumers.members.values()]:
            for epoch in (each.epoch, 0, each.epoch + 1):
                yield _beat(each.id, epoch, "", consumers.name), None
            yield _commit(consumers.name, 6, each.id, each.epoch), 9
            yield _join(each.id, each.instance_id, consumers.name), None
    for shares in list(shard.share_groups.values()):
        for each in [*shares.members.values()]:
            for epoch in (each.epoch, 0):
                yield _beat_share(each.id, epoch, shares.name), None
    for streams in list(shard.streams_groups.values()):
        for each in [*streams.members.values()]:
            for epoch in (each.epoch, 0, each.epoch + 1):
                yield _beat_streams(each.id, epoch, streams.name), None
            yield _commit(streams.name, 6, each.id, each.epoch), 9
    for name in GROUPS:
        yield _beat("new", 0, "", name), None
        yield _beat_streams("new", 0, name), None
        yield _beat_share("new", 0, name), None
        yield _commit(name, 6), 9
        yield m.LeaveGroupRequest(name, members=[leaving.MemberIdentity("", "static")]), None


def _of_transaction(name: str, producer: tuple[int, int]) -> Iterator[tuple[Message, int | None]]:
    for version in (4, 5):
        yield _add_partitions(name, producer), 3
        yield m.AddOffsetsToTxnRequest(name, *producer, SIMPLE), None
        yield _commit_of(name, producer, 6), version
        yield m.EndTxnRequest(name, *producer, True), version
    yield m.InitProducerIdRequest(name, _TIMEOUT_MS, *producer), None
    yield m.InitProducerIdRequest(name, _TIMEOUT_MS), None


def _commit(
    group: str, offset: int, member: str = "", epoch: int = -1, instance: str | None = None
) -> Message:
    rows = [committing.OffsetCommitRequestPartition(0, offset)]
    topics = [committing.OffsetCommitRequestTopic(_TOPIC, partitions=rows)]
    return m.OffsetCommitRequest(group, epoch, member, instance, topics=topics)


def _commit_of(name: str, producer: tuple[int, int], offset: int) -> Message:
    rows = [adding_offsets.TxnOffsetCommitRequestPartition(1, offset)]
    topics = [adding_offsets.TxnOffsetCommitRequestTopic(_TOPIC, partitions=rows)]
    return m.TxnOffsetCommitRequest(name, SIMPLE, *producer, topics=topics)


def _add_partitions(name: str, producer: tuple[int, int]) -> Message:
    topics = [adding.AddPartitionsToTxnTopic(_TOPIC, [0])]
    return m.AddPartitionsToTxnRequest([], name, *producer, topics)


def _join(member_id: str, instance: str | None, group: str = CLASSIC) -> Message:
    protocols = [joining.JoinGroupRequestProtocol("range", b"")]
    return m.JoinGroupRequest(
        group, 10_000, _TIMEOUT_MS, member_id, instance, "consumer", protocols
    )


def _sync(
    generation: int, member_id: str, instance: str | None, rows: list[Any], group: str = CLASSIC
) -> Message:
    return m.SyncGroupRequest(group, generation, member_id, instance, "consumer", "range", rows)


def _beat(name: str, epoch: int, regex: str, group: str = CONSUMER) -> Message:
    is_new = epoch == 0
    return m.ConsumerGroupHeartbeatRequest(
        group, name, epoch, rebalance_timeout_ms=_TIMEOUT_MS if is_new else -1,
        subscribed_topic_names=[_TOPIC] if is_new else None,
        subscribed_topic_regex=regex or None, topic_partitions=[] if is_new else None,
    )  # fmt: skip


def _beat_share(name: str, epoch: int, group: str = SHARE) -> Message:
    topics = [_TOPIC] if epoch == 0 else None
    return m.ShareGroupHeartbeatRequest(group, name, epoch, subscribed_topic_names=topics)


def _beat_streams(name: str, epoch: int, group: str = STREAMS) -> Message:
    """A thread of an application with a topic between its two parts, and one of its state."""
    request = m.StreamsGroupHeartbeatRequest(group, name, epoch)
    if epoch == 0:
        request.rebalance_timeout_ms, request.process_id = _TIMEOUT_MS, name
        request.user_endpoint = streaming.Endpoint(name, 9000)
        request.client_tags = [streaming.KeyValue("zone", name)]
        request.topology = streaming.Topology(
            0,
            [
                streaming.Subtopology("0", [_TOPIC], [], [], ["between"]),
                streaming.Subtopology(
                    "1", [], [], [streaming.TopicInfo("state")], [],
                    [streaming.TopicInfo("between", 0, 1, [streaming.KeyValue("segment.ms", "9")])],
                    [streaming.CopartitionGroup([], [], [0])],
                ),
            ],
        )  # fmt: skip
        request.active_tasks = request.standby_tasks = request.warmup_tasks = []
    return request


def _write_state(topic_id: UUID, epoch: int, number: int) -> Message:
    batches = [writing.StateBatch(number, number + 2, number % 3, 1)]
    parts = [writing.PartitionData(0, epoch, epoch, 0, number, batches)]
    return m.WriteShareGroupStateRequest(SHARE, [writing.WriteStateData(topic_id, parts)])
