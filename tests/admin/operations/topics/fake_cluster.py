"""A cluster of topics, as the operations see it: a controller, and brokers that hear of it later.

Each broker has what the controller had some of its own answers ago (``delay``), so that waiting
has something to wait for; no clock is involved. What a broker has is described by the reference
cluster.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID, uuid4

from kafka_admin_proto.admin.operations.topics.creation import CreateTopics
from kafka_admin_proto.admin.operations.topics.deletion import DeleteTopics
from kafka_admin_proto.admin.operations.topics.partition_search import FindPartitions
from kafka_admin_proto.messages import (
    ConfigRecord,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    DescribeTopicPartitionsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    PartitionRecord,
    TopicRecord,
)
from kafka_admin_proto.messages import create_topics_response as created_messages
from kafka_admin_proto.messages import delete_topics_response as deleted_messages
from kafka_admin_proto.messages import list_offsets_response as offsets_messages
from kafka_admin_proto.protocol.error_codes import error_code
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller, by_partition
from tests.server.served import Served

#: Versions of DescribeTopicPartitions and DescribeQuorum that a cluster with ZooKeeper has.
ZOOKEEPER = {75: VersionRange.NONE, 55: VersionRange.NONE}


def code(name: str) -> int:
    """The number of an error of Kafka's."""
    return error_code(name).code


@dataclasses.dataclass
class Topic:
    """A topic as the controller knows it. A leader of None: the partition has none."""

    name: str
    replicas: list[list[int]]
    configs: dict[str, str | None] = dataclasses.field(default_factory=dict)
    leaders: list[int | None] = dataclasses.field(default_factory=list)
    id: UUID = dataclasses.field(default_factory=uuid4)

    def __post_init__(self) -> None:
        self.leaders = self.leaders or [brokers[0] for brokers in self.replicas]


class Topics(CreateTopics, DeleteTopics, FindPartitions, FakeCaller):
    """``delay`` is how many answers of Metadata each broker is behind."""

    def __init__(
        self,
        topics: tuple[Topic, ...] | list[Topic] = (),
        *,
        delay: Mapping[int, int] | None = None,
        versions: Mapping[int, VersionRange] | None = None,
        page: int = 2000,
    ) -> None:
        super().__init__(
            {
                MetadataRequest: self._metadata,
                CreateTopicsRequest: self._create,
                DeleteTopicsRequest: self._delete,
                DescribeTopicPartitionsRequest: self._ask,
                DescribeConfigsRequest: self._ask,
                ListOffsetsRequest: self._offsets,
            },
            versions=versions,
        )
        self.topics = {topic.name: topic for topic in topics}
        self.delay = {broker: (delay or {}).get(broker, 0) for broker in self.known}
        self.late: dict[int, list[dict[str, Topic]]] = {}
        #: Errors of Kafka's by topic, each given once.
        self.refused: dict[str, list[str]] = {}
        self.ends: dict[tuple[int, str, int], int] = {}
        self.page = page

    def _view(self, broker: int) -> dict[str, Topic]:
        """What the broker knows, one answer later."""
        seen = self.late.setdefault(broker, [])
        seen.append(dict(self.topics))
        while len(seen) > self.delay[broker] + 1:
            seen.pop(0)
        return seen[0] if len(seen) > self.delay[broker] else {}

    def _served(self, view: Mapping[str, Topic]) -> Served:
        """The reference cluster with these topics."""
        served = Served(configs={"max.request.partition.size.limit": str(self.page)})
        for topic in view.values():
            partitions = [
                PartitionRecord(
                    index, topic.id, replicas, replicas,
                    leader=-1 if leader is None else leader, leader_epoch=index,
                )
                for index, (replicas, leader) in enumerate(
                    zip(topic.replicas, topic.leaders, strict=True)
                )
            ]  # fmt: skip
            configs = [ConfigRecord(2, topic.name, *each) for each in topic.configs.items()]
            served.state.append([TopicRecord(topic.name, topic.id), *partitions, *configs])
        return served

    def _metadata(self, request: Message, call: Call) -> Message:
        assert isinstance(request, MetadataRequest)
        assert request.topics is None or not request.allow_auto_topic_creation
        served = self._served(self._view(call.broker))
        return cast(Message, served.ask(request, call.version, call.broker))

    def _ask(self, request: Message, call: Call) -> Message:
        return cast(Message, self._served(self.topics).ask(request, call.version, call.broker))

    def _create(self, request: Message, call: Call) -> Message:
        assert isinstance(request, CreateTopicsRequest)
        answers = []
        for asked in request.topics:
            refusals = self.refused.get(asked.name, [])
            error = refusals.pop(0) if refusals else ""
            if not error and asked.name in self.topics:
                error = "TOPIC_ALREADY_EXISTS"
            result = created_messages.CreatableTopicResult(asked.name)
            answers.append(result)
            if error:
                result.error_code, result.error_message = code(error), "no"
                continue
            factor = max(asked.replication_factor, 1)
            replicas = [each.broker_ids for each in asked.assignments] or [
                list(range(1, factor + 1)) for _ in range(max(asked.num_partitions, 1))
            ]
            configs = {each.name: each.value for each in asked.configs}
            topic = Topic(asked.name, replicas, configs)
            if not request.validate_only:
                self.topics[topic.name] = topic
            if call.version >= 5:
                row = created_messages.CreatableTopicConfigs
                result.num_partitions, result.replication_factor = len(replicas), len(replicas[0])
                result.configs = [row(*each, config_source=1) for each in configs.items()]
            if call.version >= 7:
                result.topic_id = topic.id
        return created_messages.CreateTopicsResponse(topics=answers)

    def _delete(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DeleteTopicsRequest)
        ids = {topic.id: topic.name for topic in self.topics.values()}
        asked: list[tuple[str | None, UUID]] = [
            (each.name, each.topic_id) for each in request.topics
        ]
        answers = []
        for name, topic_id in [*asked, *((each, ZERO_TOPIC_ID) for each in request.topic_names)]:
            found = ids.get(topic_id) if name is None else name
            topic = self.topics.get(found or "")
            refusals = self.refused.get(found or "", [])
            error = refusals.pop(0) if refusals else ""
            if not error and topic is None:
                error = "UNKNOWN_TOPIC_ID" if name is None else "UNKNOWN_TOPIC_OR_PARTITION"
            if not error and topic is not None:
                del self.topics[topic.name]
            answers.append(
                deleted_messages.DeletableTopicResult(
                    name=found if call.version >= 6 else found or "",
                    topic_id=topic.id if topic is not None and call.version >= 6 else topic_id,
                    error_code=code(error) if error else 0,
                )
            )
        return deleted_messages.DeleteTopicsResponse(responses=answers)

    def _offsets(self, request: Message, call: Call) -> Message:
        assert isinstance(request, ListOffsetsRequest)
        assert request.replica_id == -2

        def listed(topic: str, each: Any) -> offsets_messages.ListOffsetsPartitionResponse:
            end = self.ends.get((call.broker, topic, each.partition_index))
            error, offset = (code("KAFKA_STORAGE_ERROR"), -1) if end is None else (0, end)
            row = offsets_messages.ListOffsetsPartitionResponse
            return row(each.partition_index, error, offset=offset)

        topics = by_partition(request, offsets_messages.ListOffsetsTopicResponse, listed)
        return offsets_messages.ListOffsetsResponse(topics=topics)
