"""CreateTopic by the admin schema's text: numbers or an assignment, and configs."""

from __future__ import annotations

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
from kafka_admin_proto.server.assignments import MOST_RECORDS
from kafka_admin_proto.server.drafts.kip_4b.codes import (
    INVALID_ARGUMENT_PARTITIONS,
    MULTIPLE_IN_BATCH,
    code_of,
    configs_of,
    repeated,
)
from kafka_admin_proto.server.drafts.replicas import check_count
from kafka_admin_proto.server.failures import (
    INVALID_PARTITIONS,
    INVALID_REPLICATION_FACTOR,
    ApiFailure,
)
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.handlers.create_topics import check_one, records_of
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


def handle(state: State, request: CreateTopicRequest, caller: Caller) -> Answer:
    """Each topic for itself; one that is in the batch twice is not created."""
    twice = repeated(each.topic_name for each in request.items)
    records: list[Message] = []
    rows = []
    for item in {each.topic_name: each for each in request.items}.values():
        code = MULTIPLE_IN_BATCH if item.topic_name in twice else 0
        if not code:
            try:
                new = check_one(state, _creatable(item))
                if len(records) + new.record_count > MOST_RECORDS:
                    code = INVALID_ARGUMENT_PARTITIONS
                else:
                    records += records_of(state, new)
            except ApiFailure as failure:
                code = code_of(failure)
        rows.append(CreateTopicResponseItem(item.topic_name, code))
    return Answer(CreateTopicResponse(rows), records)


def _creatable(item: CreateTopicRequestItem) -> CreatableTopic:
    """What the shipped request would say: an assignment leaves the numbers out of account."""
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
        raise ApiFailure(INVALID_PARTITIONS, "the number of partitions is to be defined")
    if item.replicas <= 0:
        raise ApiFailure(INVALID_REPLICATION_FACTOR, "the number of replicas is to be defined")
    check_count(item.partitions)
    topic.num_partitions, topic.replication_factor = item.partitions, item.replicas
    return topic
