"""A client whose requests three nodes of the reference cluster answer, without a network."""

from __future__ import annotations

from typing import Any, cast

from kafka_admin_proto.admin.operations.partitions.elections import ElectLeaders
from kafka_admin_proto.admin.operations.partitions.reassignment import ReassignmentOperations
from kafka_admin_proto.admin.operations.topics.alteration import AlterOperations
from kafka_admin_proto.admin.retry import Backoff
from kafka_admin_proto.messages import (
    AlterPartitionReassignmentsRequest,
    AlterReplicaLogDirsRequest,
    CreatePartitionsRequest,
    DescribeConfigsRequest,
    DescribeLogDirsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    ListPartitionReassignmentsRequest,
    MetadataRequest,
    PartitionChangeRecord,
    PartitionRecord,
    TopicRecord,
)
from kafka_admin_proto.messages.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from kafka_admin_proto.messages.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.brokers.replicas import catch_up
from kafka_admin_proto.topic_ids import random_topic_id
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller
from tests.server.served import Served

_OK, _REPLICA_NOT_AVAILABLE = 0, 9
_ANSWERED_BY_THE_CLUSTER = (
    CreatePartitionsRequest, ListPartitionReassignmentsRequest, IncrementalAlterConfigsRequest,
    DescribeConfigsRequest, ElectLeadersRequest,
)  # fmt: skip


class Cluster(AlterOperations, ElectLeaders, ReassignmentOperations, FakeCaller):
    """Moves end when ``arrive`` is called, or at once with ``instantly``.

    Each broker has the directories /a and /b, which the reference cluster has not: ``paths`` are
    those of replicas (topic, partition, broker), ``future`` those that they move to.
    """

    backoff = Backoff(0, 0)

    def __init__(self, topics: dict[str, list[list[int]]], *, instantly: bool = True) -> None:
        self.served = Served()
        super().__init__(
            {
                **dict.fromkeys(_ANSWERED_BY_THE_CLUSTER, self._ask),
                MetadataRequest: self._metadata,
                AlterPartitionReassignmentsRequest: self._reassign,
                DescribeLogDirsRequest: self._log_dirs,
                AlterReplicaLogDirsRequest: self._move_log_dirs,
            },
            versions=self.served.versions,
        )
        self.instantly = instantly
        #: Brokers that hear of nothing new → topics by name, as they knew them.
        self._deaf: dict[int, dict[str | None, Any]] = {}
        self.paths: dict[tuple[str, int, int], str] = {}
        self.future: dict[tuple[str, int, int], str] = {}
        for name, partitions in topics.items():  # records: CreateTopics knows of no broker 9
            topic_id = random_topic_id()
            rows = [
                PartitionRecord(number, topic_id, replicas, replicas, leader=replicas[0])
                for number, replicas in enumerate(partitions)
            ]
            self.served.state.append([TopicRecord(name, topic_id), *rows])

    def topic(self, name: str) -> Topic:
        """A topic that is there."""
        topic = self.served.state.topic(name)
        assert topic is not None
        return topic

    def replicas(self, name: str) -> list[list[int]]:
        """The replicas of each partition of a topic."""
        partitions = self.topic(name).partitions
        return [partitions[number].replicas for number in sorted(partitions)]

    def lead(self, name: str, number: int, broker: int) -> None:
        """Let another replica lead."""
        change = PartitionChangeRecord(number, self.topic(name).id, leader=broker)
        self.served.state.append([change])

    @property
    def configs(self) -> dict[str, dict[str, str]]:
        """What is set, by "topic name" and "broker id"."""
        kinds = {2: "topic", 4: "broker"}
        return {
            f"{kinds[kind]} {name}": {**values}
            for (kind, name), values in self.served.state.cluster.configs.items()
            if name and values
        }

    def deafen(self, broker: int) -> None:
        """Let a broker hear of nothing new."""
        known = self.served.ask(MetadataRequest(topics=None), node=broker)
        self._deaf[broker] = {topic.name: topic for topic in known.topics}

    def arrive(self) -> None:
        """Let all replicas that are to come be in sync."""
        catch_up(self.served.state)
        self.paths |= self.future
        self.future.clear()

    def sent(self, kind: type[Message]) -> list[Call]:
        return [call for call in self.calls if isinstance(call.request, kind)]

    def _ask(self, request: Message, call: Call) -> Message:
        answer: Message = self.served.ask(request, call.version, call.broker)
        return answer

    def _metadata(self, request: Message, call: Call) -> Message:
        answer: Any = self._ask(request, call)
        known = self._deaf.get(call.broker, {})
        answer.topics = [known.get(topic.name, topic) for topic in answer.topics]
        return cast(Message, answer)

    def _reassign(self, request: Message, call: Call) -> Message:
        answer = self._ask(request, call)
        if self.instantly:
            self.arrive()
        return answer

    def _log_dirs(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeLogDirsRequest)
        results = []
        for path in ("/a", "/b"):
            topics = []
            for each in request.topics or []:
                for number in each.partitions:
                    key = (each.topic, number, call.broker)
                    for future, where in ((False, self.paths), (True, self.future)):
                        if where.get(key) == path:
                            shown = DescribeLogDirsPartition(number, is_future_key=future)
                            topics.append(DescribeLogDirsTopic(name=each.topic, partitions=[shown]))
            results.append(DescribeLogDirsResult(log_dir=path, topics=topics))
        return DescribeLogDirsResponse(results=results)

    def _move_log_dirs(self, request: Message, call: Call) -> Message:
        assert isinstance(request, AlterReplicaLogDirsRequest)

        def moved(path: str, topic: str, number: int) -> Any:
            partition, key = self.topic(topic).partitions[number], (topic, number, call.broker)
            if call.broker not in partition.replicas or call.broker in partition.adding_replicas:
                return AlterReplicaLogDirPartitionResult(number, _REPLICA_NOT_AVAILABLE)
            self.future[key] = path
            if self.paths.get(key) == path:
                del self.future[key]
            return AlterReplicaLogDirPartitionResult(number, _OK)

        return AlterReplicaLogDirsResponse(
            results=[
                AlterReplicaLogDirTopicResult(
                    topic_name=topic.name,
                    partitions=[moved(path.path, topic.name, each) for each in topic.partitions],
                )
                for path in request.dirs
                for topic in path.topics
            ]
        )
