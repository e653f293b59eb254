"""CreatePartitions: adds partitions to topics.

Versions: 1 a throttle time, 2 flexible, 3 quotas that throttle (KIP-599).
"""

from __future__ import annotations

from collections import Counter

from kafka_admin_proto.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka_admin_proto.messages.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.failures import MOST_RECORDS, ApiFailure, RequestFailure
from kafka_admin_proto.server.java import hash_order
from kafka_admin_proto.server.quotas.throttling import MutationQuota, mutation_quota
from kafka_admin_proto.server.security.authorizer.access import allowed_topics
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.assignments import (
    check_replicas,
    in_sync_of,
    partition_record,
    place,
)
from kafka_admin_proto.values import Message

#: The first version whose clients know THROTTLING_QUOTA_EXCEEDED.
_STRICT_SINCE = 3


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: CreatePartitionsRequest, caller: Caller) -> Answer:
    """Answer after the commit; with a timeout of 0 or less nothing is created."""
    names = Counter(each.name for each in request.topics)
    topics = {each.name: each for each in request.topics}
    repeated = [name for name, count in names.items() if count > 1]
    named = [name for name in hash_order(names) if names[name] == 1]
    allowed = allowed_topics(state, caller, ALTER, named)
    wanted = [topics[name] for name in named if name in allowed]
    results = [
        CreatePartitionsTopicResult(name, codes.INVALID_REQUEST, "Duplicate topic name.")
        for name in repeated
    ]
    results += [
        CreatePartitionsTopicResult(name, codes.TOPIC_AUTHORIZATION_FAILED)
        for name in named
        if name not in allowed
    ]
    if wanted and request.timeout_ms <= 0:
        rows = [
            CreatePartitionsTopicResult(each.name, codes.REQUEST_TIMED_OUT)
            for each in request.topics
        ]
        return Answer(CreatePartitionsResponse(results=rows))
    if state.release >= (4, 4) and _added_in_all(state, wanted) > MOST_RECORDS:
        text = "Excessively large number of additional partitions per request."
        raise RequestFailure(codes.POLICY_VIOLATION, text)
    records: list[Message] = []
    quota = mutation_quota(state, caller, strict_since=_STRICT_SINCE)
    for topic in wanted:
        try:
            records += _added(state, topic, MOST_RECORDS - len(records), records, quota)
            results.append(CreatePartitionsTopicResult(topic.name))
        except ApiFailure as failure:
            results.append(CreatePartitionsTopicResult(topic.name, failure.code, failure.message))
    response = CreatePartitionsResponse(quota.throttle_time_ms, results)
    return Answer(response, [] if request.validate_only else records)


def _added_in_all(state: State, wanted: list[CreatePartitionsTopic]) -> int:
    """How many partitions topics would get that exist."""
    found = ((each.count, state.topic(each.name)) for each in wanted)
    return sum(max(0, count - len(topic.partitions)) for count, topic in found if topic is not None)


def _added(
    state: State,
    wanted: CreatePartitionsTopic,
    room: int,
    records: list[Message],
    quota: MutationQuota,
) -> list[Message]:
    """The records of a topic's new partitions.

    If there is no room for all of them, the first ones are added to ``records`` and the topic
    fails, as in Kafka's controller.
    """
    topic = state.topic(wanted.name)
    if topic is None:
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    now = len(topic.partitions)
    if wanted.count == now:
        raise ApiFailure(codes.INVALID_PARTITIONS, f"Topic already has {now} partition(s).")
    if wanted.count < now:
        raise ApiFailure(
            codes.INVALID_PARTITIONS,
            f"The topic {wanted.name} currently has {now} partition(s); {wanted.count} would not "
            "be an increase.",
        )
    more = wanted.count - now
    if wanted.assignments is not None and len(wanted.assignments) != more:
        raise ApiFailure(
            codes.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {more} additional partition(s), but only "
            f"{len(wanted.assignments)} assignment(s) were specified.",
        )
    quota.take(more)
    assignment = _assignment(state, topic, wanted, more, room)
    added: list[Message] = [
        partition_record(state, topic.id, now + index, replicas, in_sync)
        for index, (replicas, in_sync) in enumerate(assignment)
    ]
    if more > room:
        records += added[:room]
        raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
    return added


def _assignment(
    state: State, topic: Topic, wanted: CreatePartitionsTopic, more: int, room: int
) -> list[tuple[list[int], list[int]]]:
    """(replicas, in sync) of each new partition, as many as there is room for."""
    now = len(topic.partitions)
    factor = len(topic.partitions[min(topic.partitions)].replicas)
    if wanted.assignments is None:
        fixed = [each.replicas for _, each in sorted(topic.partitions.items())]
        return place(state, topic.name, max(1, min(more, room)), factor, fixed)
    assignment = []
    for index, each in enumerate(wanted.assignments):
        check_replicas(state, each.broker_ids, factor)
        assignment.append((each.broker_ids, in_sync_of(state, each.broker_ids, now + index)))
    return assignment
