"""AlterTopic by the admin schema's text: one change at once, and partitions increase only."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.messages.kip_4b.alter_topic_request import (
    AlterTopicRequest,
    AlterTopicRequestItem,
)
from kafka_admin_proto.messages.kip_4b.alter_topic_response import (
    AlterTopicResponse,
    AlterTopicResponseItem,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE
from kafka_admin_proto.server.configs.changes import DELETE, SET, Change, apply
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.handlers.drafts.codes import (
    DECREASE_PARTITIONS_NOT_ALLOWED,
    MULTIPLE_INSTRUCTIONS,
    codes_and_records,
    configs_of,
)
from kafka_admin_proto.server.handlers.drafts.replicas import (
    NOTHING,
    assigned,
    by_partition,
    check_count,
    grown,
    records_of,
    refactored,
    replicas_of,
    within_limit,
)
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: AlterTopicRequest, caller: Caller) -> Answer:
    """Alter each topic separately; a topic that is twice in the batch is refused."""
    by_name, records = codes_and_records(
        request.items,
        lambda item, before: within_limit(before, _altered(state, item, before, caller)),
    )
    rows = [AlterTopicResponseItem(name, code) for name, code in by_name.items()]
    return Answer(AlterTopicResponse(rows), records)


def _altered(
    state: State, item: AlterTopicRequestItem, before: Sequence[Message], caller: Caller
) -> list[Message]:
    topic = state.topic(item.topic_name)
    if topic is None:
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    changes_configs = bool(item.added_config_entry or item.deleted_config)
    mutations = item.partitions != NOTHING, item.replicas != NOTHING, changes_configs
    if sum(mutations) > 1:
        raise ApiFailure(MULTIPLE_INSTRUCTIONS)
    if changes_configs:
        return _configured(state, item, caller)
    return records_of(state, topic, _wanted(state, topic, item, before))


def _wanted(
    state: State, topic: Topic, item: AlterTopicRequestItem, before: Sequence[Message]
) -> list[list[int]]:
    """The replicas of all partitions after the alteration."""
    now = replicas_of(topic)
    if item.partitions == NOTHING:  # the assignment is ignored
        return now if item.replicas == NOTHING else refactored(state, topic, now, item.replicas, 0)
    if item.partitions < 0:
        raise ApiFailure(codes.INVALID_PARTITIONS, "a number of partitions is not negative")
    if item.partitions <= len(now):
        raise ApiFailure(DECREASE_PARTITIONS_NOT_ALLOWED)
    check_count(item.partitions)
    check_count(item.partitions - len(now), before)
    if not item.replica_assignment:
        return grown(state, topic, now, item.partitions - len(now))
    pairs = ((each.partition_id, each.replica_id) for each in item.replica_assignment)
    wanted = assigned(state, now, by_partition(pairs))
    if wanted[: len(now)] != now or len(wanted) != item.partitions:
        text = f"the new partitions are {len(now)} to {item.partitions - 1}, and the others stay"
        raise ApiFailure(codes.INVALID_REPLICA_ASSIGNMENT, text)
    return wanted


def _configured(state: State, item: AlterTopicRequestItem, caller: Caller) -> list[Message]:
    added = configs_of((each.config_key, each.config_value) for each in item.added_config_entry)
    deleted = dict.fromkeys(item.deleted_config)
    if both := added.keys() & deleted.keys():
        raise ApiFailure(codes.INVALID_CONFIG, f"config {min(both)} is added and deleted")
    operations: list[tuple[str, int, str | None]] = [
        (key, SET, value) for key, value in added.items()
    ]
    operations += [(key, DELETE, None) for key in deleted]
    return apply(state, Change(TOPIC_RESOURCE, item.topic_name, tuple(operations)), caller)
