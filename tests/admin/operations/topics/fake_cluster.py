"""A cluster of topics, as the operations see it: a controller, and brokers that hear of it later.

Each broker has what the controller had some of its own answers ago (``delay``), so that waiting
has something to wait for; no clock is involved.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID, uuid4

from kafka_admin_proto.admin.operations.topics.creation import CreateTopics
from kafka_admin_proto.admin.operations.topics.deletion import DeleteTopics
from kafka_admin_proto.admin.operations.topics.partition_search import FindPartitions
from kafka_admin_proto.messages import create_topics_response as created_messages
from kafka_admin_proto.messages import delete_topics_response as deleted_messages
from kafka_admin_proto.messages import describe_configs_response as configs_messages
from kafka_admin_proto.messages import describe_topic_partitions_response as pages_messages
from kafka_admin_proto.messages import list_offsets_response as offsets_messages
from kafka_admin_proto.messages import metadata_response as metadata_messages
from kafka_admin_proto.messages.create_topics_request import CreateTopicsRequest
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicsRequest
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsRequest
from kafka_admin_proto.messages.describe_topic_partitions_request import (
    DescribeTopicPartitionsRequest,
)
from kafka_admin_proto.messages.list_offsets_request import ListOffsetsRequest
from kafka_admin_proto.messages.metadata_request import MetadataRequest
from kafka_admin_proto.protocol.error_codes import error_code
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller, by_partition

_R = TypeVar("_R", bound=Message)

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
    internal: bool = False
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
                DescribeTopicPartitionsRequest: self._page,
                DescribeConfigsRequest: self._configs,
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

    def _metadata(self, request: Message, call: Call) -> Message:
        assert isinstance(request, MetadataRequest)
        view = self._view(call.broker)
        if request.topics is None:
            found = [self._known(each) for each in view.values()]
            return metadata_messages.MetadataResponse(topics=found)
        assert not request.allow_auto_topic_creation
        by_id = {topic.id: topic for topic in view.values()}
        answers = []
        for asked in request.topics:
            topic = by_id.get(asked.topic_id) if asked.name is None else view.get(asked.name)
            if topic is not None:
                answers.append(self._known(topic))
                continue
            absent = "UNKNOWN_TOPIC_ID" if asked.name is None else "UNKNOWN_TOPIC_OR_PARTITION"
            row = metadata_messages.MetadataResponseTopic
            answers.append(row(code(absent), asked.name, asked.topic_id))
        return metadata_messages.MetadataResponse(topics=answers)

    def _known(self, topic: Topic) -> metadata_messages.MetadataResponseTopic:
        partitions = []
        for index, leader in enumerate(topic.leaders):
            error, replicas = code("LEADER_NOT_AVAILABLE"), topic.replicas[index]
            found = (error, index, -1) if leader is None else (0, index, leader)
            row = metadata_messages.MetadataResponsePartition
            partitions.append(row(*found, index, replica_nodes=replicas, isr_nodes=replicas))
        return metadata_messages.MetadataResponseTopic(
            0, topic.name, topic.id, topic.internal, partitions
        )

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

    def _page(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeTopicPartitionsRequest)
        start, first = "", 0
        if request.cursor is not None:
            start, first = request.cursor.topic_name, request.cursor.partition_index
        names = {topic.name for topic in request.topics} or set(self.topics)
        left = min(self.page, request.response_partition_limit)
        answers: list[pages_messages.DescribeTopicPartitionsResponseTopic] = []
        for name in sorted(each for each in names if each >= start):
            topic = self.topics.get(name)
            row = pages_messages.DescribeTopicPartitionsResponseTopic
            if topic is None:
                answers.append(row(code("UNKNOWN_TOPIC_OR_PARTITION"), name))
                continue
            begin = first if name == start else 0
            rest = self._known(topic).partitions[begin:]
            partitions = [
                pages_messages.DescribeTopicPartitionsResponsePartition(
                    each.error_code, each.partition_index, each.leader_id, each.leader_epoch,
                    each.replica_nodes, each.isr_nodes,
                )
                for each in rest[:left]
            ]  # fmt: skip
            answers.append(row(0, name, topic.id, topic.internal, partitions))
            if len(rest) > left:
                cursor = pages_messages.Cursor(topic_name=name, partition_index=begin + left)
                page = pages_messages.DescribeTopicPartitionsResponse
                return page(topics=answers, next_cursor=cursor)
            left -= len(rest)
        return pages_messages.DescribeTopicPartitionsResponse(topics=answers)

    def _configs(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeConfigsRequest)
        results = []
        for asked in request.resources:
            topic = self.topics.get(asked.resource_name)
            entry = configs_messages.DescribeConfigsResourceResult
            overrides = {} if topic is None else topic.configs
            results.append(
                configs_messages.DescribeConfigsResult(
                    error_code=code("UNKNOWN_TOPIC_OR_PARTITION") if topic is None else 0,
                    resource_type=asked.resource_type,
                    resource_name=asked.resource_name,
                    configs=[
                        *(entry(name=name, value=value, config_source=1)
                          for name, value in overrides.items()),
                        entry(name="some.default", value="1", config_source=5),
                    ],
                )
            )  # fmt: skip
        return configs_messages.DescribeConfigsResponse(results=results)

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
