"""CreateTopic by the admin schema's text: numbers or an assignment, and configs."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_admin_proto.messages.kip_4b.create_topic_request import (
    CreateTopicRequest,
    CreateTopicRequestItem,
)
from kafka_admin_proto.messages.kip_4b.create_topic_response import (
    CreateTopicResponse,
    CreateTopicResponseItem,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.failures import MOST_RECORDS, ApiFailure
from kafka_admin_proto.server.handlers.drafts.codes import codes_and_records, configs_of
from kafka_admin_proto.server.handlers.drafts.replicas import check_count
from kafka_admin_proto.server.handlers.topics.create_topics import check_one, records_of
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: CreateTopicRequest, caller: Caller) -> Answer:
    """Create each topic separately; a topic that is twice in the batch is refused."""

    def created(item: CreateTopicRequestItem, before: Sequence[Message]) -> list[Message]:
        new = check_one(state, _creatable(item))
        if len(before) + new.record_count > MOST_RECORDS:
            raise ApiFailure(codes.INVALID_PARTITIONS, f"a request may make {MOST_RECORDS} records")
        return records_of(state, new)

    found, records = codes_and_records(request.items, created)
    rows = [CreateTopicResponseItem(name, code) for name, code in found.items()]
    return Answer(CreateTopicResponse(rows), records)


def _creatable(item: CreateTopicRequestItem) -> CreatableTopic:
    """The same topic in a CreateTopicsRequest; with an assignment the numbers are ignored."""
    configs = configs_of((each.config_key, each.config_value) for each in item.config_entry)
    topic = CreatableTopic(
        item.topic_name,
        configs=[CreatableTopicConfig(key, value) for key, value in configs.items()],
    )
    if item.replica_assignment:
        topic.num_partitions = topic.replication_factor = -1
        topic.assignments = [
            CreatableReplicaAssignment(each.partition_id, each.replica_id)
            for each in item.replica_assignment
        ]
        return topic
    if item.partitions <= 0:
        raise ApiFailure(codes.INVALID_PARTITIONS, "the number of partitions is to be defined")
    if item.replicas <= 0:
        raise ApiFailure(
            codes.INVALID_REPLICATION_FACTOR, "the number of replicas is to be defined"
        )
    check_count(item.partitions)
    topic.num_partitions, topic.replication_factor = item.partitions, item.replicas
    return topic
