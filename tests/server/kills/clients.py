"""Clients of groups and transactions that know what was acknowledged when their server is killed.

Each one asks until the server ends; with the next server it checks what that has kept.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import (
    incremental_alter_configs_request,
    join_group_request,
    offset_commit_request,
    offset_fetch_request,
    produce_request,
    sync_group_request,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.values import Message
from tests.helpers.profile import SEED
from tests.server.differential.wire import Nodes

_TIMEOUT_MS = 10_000
PATIENCE_S = 60.0
#: Rebalances and transactions that end soon, and a log that is pruned all the while.
_CONFIGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "2",
    "share.coordinator.state.topic.num.partitions": "2",
    "share.coordinator.state.topic.prune.interval.ms": "100",
    "share.coordinator.snapshot.update.records.per.snapshot": "5",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}
_FACTORS = (
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "share.coordinator.state.topic.replication.factor",
)
_GROUP_RESOURCE = 32
SHARE_GROUP = "share"
_ELSEWHERE = (
    codes.NOT_COORDINATOR, codes.COORDINATOR_NOT_AVAILABLE, codes.COORDINATOR_LOAD_IN_PROGRESS,
    codes.NOT_LEADER_OR_FOLLOWER, codes.UNKNOWN_TOPIC_OR_PARTITION, codes.UNKNOWN_TOPIC_ID,
)  # fmt: skip


class _ServerEndedError(Exception):
    """The server closed the connection."""


def configs(brokers: int) -> dict[str, str]:
    """The configs of a cluster of so many brokers."""
    isr = {f"{each.removesuffix('replication.factor')}min.isr": "1" for each in _FACTORS[1:]}
    return {**_CONFIGS, **dict.fromkeys(_FACTORS, str(brokers)), **isr}


def prepare(bootstrap: str, brokers: int) -> None:
    """Make the topics of the clients, and let the share group begin with the first record."""
    topics = [CreatableTopic(each, 2, brokers) for each in ("in", "out0", "out1", "shared")]
    ask = incremental_alter_configs_request
    earliest = [ask.AlterableConfig("share.auto.offset.reset", 0, "earliest")]
    group = ask.AlterConfigsResource(_GROUP_RESOURCE, SHARE_GROUP, earliest)
    with Nodes(bootstrap) as nodes:
        made = nodes.ask(0, m.CreateTopicsRequest(topics, timeout_ms=_TIMEOUT_MS), 7)
        assert [each.error_code for each in made.topics] == [0] * len(topics)
        changed = nodes.ask(0, m.IncrementalAlterConfigsRequest([group]), 1)
        assert [each.error_code for each in changed.responses] == [0]
        for key_type, key in enumerate(("g", "t", f"g:{made.topics[0].topic_id}:0")):
            nodes.ask(0, m.FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key]), 6)


class KilledClient:
    """A client of a server that is killed; ``answers`` counts what was acknowledged in a turn."""

    kind: str

    def __init__(self, number: int) -> None:
        self.number = number
        self.name = f"{self.kind}{number}"
        self.answers = 0
        self.turn = 0
        self.draw = random.Random(f"{SEED} {self.name}")
        self.first_answer = threading.Event()
        self.error: Exception | None = None

    def start_turn(self, bootstrap: str, turn: int, *, checked: bool) -> None:
        """Meet a server that has started, and check what it has kept of the one before."""
        self.turn = turn
        self._nodes = Nodes(bootstrap)
        self._known: dict[int, int] = {}
        self.first_answer.clear()
        self.joined = False
        if checked:
            self.check()

    def run(self) -> None:
        """Ask until the server ends."""
        try:
            while True:
                self.step()
                if self.joined:
                    self.answers += 1
                    self.first_answer.set()
        except _ServerEndedError:
            pass
        except Exception as error:  # raised by end_turn in the thread of the test
            self.error = error
            self.first_answer.set()

    def end_turn(self) -> None:
        """The server has ended."""
        self._nodes.close()
        if self.error is not None:
            raise self.error

    def step(self) -> None:
        """Change something; ``joined`` says that it was acknowledged."""
        raise NotImplementedError

    def check(self) -> None:
        """Compare what the server has with what was acknowledged."""
        raise NotImplementedError

    def ask(
        self, request: Message, version: int, code: Callable[[Any], int], place: int = 0
    ) -> Any:
        """The answer of the node that coordinates or leads; ``place`` tells partitions apart."""
        assert request.api_key is not None
        where = request.api_key << 8 | place
        deadline = time.monotonic() + PATIENCE_S
        node = self._known.get(where, 0)
        while True:
            answer = self._nodes.ask(node, request, version)
            if answer is None:
                raise _ServerEndedError
            if code(answer) not in _ELSEWHERE:
                self._known[where] = node
                return answer
            assert time.monotonic() < deadline, (self.name, request, answer)
            node = (node + 1) % len(self._nodes.addresses)

    # What several kinds of clients ask.

    def committed(self, group: str, partition: int) -> int:
        """The offset that a group has for a partition, -1 without one."""
        ask = offset_fetch_request
        topics = [ask.OffsetFetchRequestTopics("in", partition_indexes=[partition])]
        request = m.OffsetFetchRequest(
            groups=[ask.OffsetFetchRequestGroup(group, topics=topics)], require_stable=True
        )
        deadline = time.monotonic() + PATIENCE_S
        while True:
            found = self.ask(request, 8, lambda each: each.groups[0].error_code).groups[0]
            assert found.error_code == 0, found
            (row,) = found.topics[0].partitions
            if row.error_code != codes.UNSTABLE_OFFSET_COMMIT:
                assert row.error_code == 0, row
                offset: int = row.committed_offset
                return offset
            assert time.monotonic() < deadline, f"{group} has an open transaction"
            time.sleep(0.02)

    def produce(
        self, topic: str, partition: int, values: list[bytes], producer: Batch | None = None,
        name: str | None = None, version: int = 9,
    ) -> Any:  # fmt: skip
        """The answer to a batch; ``producer`` has what makes it one of a transaction."""
        now_ms = int(time.time() * 1000)
        batch = Batch.of([Record(place, now_ms, None, each) for place, each in enumerate(values)])
        if producer is not None:
            batch.is_transactional, batch.base_sequence = True, producer.base_sequence
            batch.producer_id, batch.producer_epoch = producer.producer_id, producer.producer_epoch
        data = [produce_request.PartitionProduceData(partition, write_batch(batch))]
        row = produce_request.TopicProduceData(topic, partition_data=data)
        answer = self.ask(
            m.ProduceRequest(name, -1, _TIMEOUT_MS, [row]), version,
            lambda each: each.responses[0].partition_responses[0].error_code, partition,
        )  # fmt: skip
        return answer.responses[0].partition_responses[0]


class Committer(KilledClient):
    """A member of a group that commits one offset after the other for a partition of its own."""

    #: Errors after which a member joins anew.
    outdated = (
        codes.ILLEGAL_GENERATION, codes.UNKNOWN_MEMBER_ID, codes.REBALANCE_IN_PROGRESS,
        codes.STALE_MEMBER_EPOCH, codes.FENCED_MEMBER_EPOCH,
    )  # fmt: skip
    version: int

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.member_id, self.epoch = "", -1
        self.acknowledged = self.pending = -1

    def check(self) -> None:
        found = self.committed(self.kind, self.number)
        assert found in (self.acknowledged, self.pending), (self.name, self.turn)
        self.acknowledged = self.pending = found

    def step(self) -> None:
        if not self.joined or self.draw.random() < 0.1:
            self.joined = self.join()
            return
        self.pending = self.acknowledged + 1
        ask = offset_commit_request
        rows = [ask.OffsetCommitRequestPartition(self.number, self.pending)]
        request = m.OffsetCommitRequest(
            self.kind, self.epoch, self.member_id,
            topics=[ask.OffsetCommitRequestTopic("in", partitions=rows)],
        )  # fmt: skip
        answer = self.ask(
            request, self.version, lambda each: each.topics[0].partitions[0].error_code
        )
        code = answer.topics[0].partitions[0].error_code
        assert code in (0, *self.outdated), answer
        self.joined = code == 0
        if code == 0:
            self.acknowledged = self.pending
        else:
            self.pending = self.acknowledged

    def join(self) -> bool:
        """Join, or join once more. Returns whether that led to an assignment."""
        raise NotImplementedError


class ClassicMember(Committer):
    """A member of a classic group."""

    kind, version = "classic", 8

    def join(self) -> bool:
        protocol = join_group_request.JoinGroupRequestProtocol("range", b"in")
        # A member that comes back after the kill is awaited no longer than this.
        joined = self.ask(
            m.JoinGroupRequest(
                self.kind, 6000, 500, self.member_id, protocol_type="test", protocols=[protocol]
            ),
            5, lambda each: each.error_code,
        )  # fmt: skip
        if joined.error_code == codes.UNKNOWN_MEMBER_ID:
            self.member_id = ""
            return False
        self.member_id = joined.member_id
        if joined.error_code in (codes.MEMBER_ID_REQUIRED, codes.REBALANCE_IN_PROGRESS):
            return False
        assert joined.error_code == 0, joined
        self.epoch = joined.generation_id
        rows = [
            sync_group_request.SyncGroupRequestAssignment(each.member_id, b"all")
            for each in joined.members
        ]
        synced = self.ask(
            m.SyncGroupRequest(self.kind, self.epoch, self.member_id, assignments=rows), 3,
            lambda each: each.error_code,
        )  # fmt: skip
        assert synced.error_code in (0, *self.outdated), synced
        return bool(synced.error_code == 0)


class ConsumerMember(Committer):
    """A member of a group of KIP-848's protocol."""

    kind, version = "consumer", 9

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.member_id = self.name

    def join(self) -> bool:
        if self.draw.random() < 0.5 and self.epoch > 0:
            self._beat(-1)
        found = self._beat(0)
        assert found.error_code == 0, found
        self.epoch = found.member_epoch
        return True

    def _beat(self, epoch: int) -> Any:
        request = m.ConsumerGroupHeartbeatRequest(
            self.kind, self.member_id, epoch, rebalance_timeout_ms=60_000,
            subscribed_topic_names=["in"], topic_partitions=[],
        )  # fmt: skip
        return self.ask(request, 0, lambda each: each.error_code)
