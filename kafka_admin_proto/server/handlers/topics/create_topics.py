"""CreateTopics: each topic is created or refused separately.

Versions: 1 validate_only and messages, 2 a throttle time, 4 partitions and factor of -1 for the
broker's defaults (which every version takes), 5 the topic's configs in the answer (KIP-525),
6 quotas that throttle (KIP-599), 7 the topic's id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from kafka_admin_proto.messages import ConfigRecord, TopicRecord
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafka_admin_proto.messages.create_topics_response import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE
from kafka_admin_proto.server.configs.definitions import ConfigDefinition
from kafka_admin_proto.server.configs.sources import DYNAMIC_TOPIC
from kafka_admin_proto.server.configs.topics import TopicDefaults
from kafka_admin_proto.server.failures import (
    MOST_RECORDS,
    TOO_MANY_RECORDS,
    ApiFailure,
    RequestFailure,
)
from kafka_admin_proto.server.quotas.throttling import MutationQuota, mutation_quota
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, creatable_topics
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE_CONFIGS
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.assignments import (
    check_replicas,
    in_sync_of,
    partition_record,
    place,
    placement_brokers,
)
from kafka_admin_proto.server.topics.names import CLUSTER_METADATA, check_topic_name
from kafka_admin_proto.server.topics.policies import PolicyFailure, check_configs, check_topic
from kafka_admin_proto.topic_ids import random_topic_id
from kafka_admin_proto.values import Message

#: The text of INVALID_REQUEST for the name of the controllers' own log.
PROHIBITED = f"Creation of internal topic {CLUSTER_METADATA} is prohibited."
#: The first version whose clients know THROTTLING_QUOTA_EXCEEDED.
_STRICT_SINCE = 6


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: CreateTopicsRequest, caller: Caller) -> Answer:
    """Create or refuse each topic; with a timeout of 0 or less create nothing."""
    names = Counter(topic.name for topic in request.topics)
    repeated = [name for name, count in names.items() if count > 1]
    named = [
        topic
        for topic in request.topics
        if names[topic.name] == 1 and topic.name != CLUSTER_METADATA
    ]
    quota = mutation_quota(state, caller, strict_since=_STRICT_SINCE)
    allowed = creatable_topics(state, caller, [each.name for each in named])
    wanted = [each for each in named if each.name in allowed]

    try:
        if wanted and request.timeout_ms <= 0:
            raise RequestFailure(codes.REQUEST_TIMED_OUT)
        results, created = create(state, wanted, quota)
    except RequestFailure as failure:
        return failed_all(request, failure)
    duplicate = ApiFailure(codes.INVALID_REQUEST, "Duplicate topic name.")
    results += [failed(name, duplicate) for name in repeated]
    if names[CLUSTER_METADATA] == 1:
        results.append(failed(CLUSTER_METADATA, ApiFailure(codes.INVALID_REQUEST, PROHIBITED)))
    unauthorized = ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
    results += [failed(each.name, unauthorized) for each in named if each.name not in allowed]
    return answer(state, request, caller, results, created, quota.throttle_time_ms)


def answer(
    state: State,
    request: CreateTopicsRequest,
    caller: Caller,
    results: list[CreatableTopicResult],
    created: list[NewTopic],
    throttle_time_ms: int = 0,
) -> Answer:
    """The answer with these results, and with the topics' records unless it only validates."""
    records: list[Message] = []
    described = allowed_topics(
        state, caller, DESCRIBE_CONFIGS, [new.result.name for new in created]
    )
    for new in created:
        if new.result.name not in described:
            _hide_configs(new.result)
    if not request.validate_only:
        for new in created:
            records += records_of(state, new)
    return Answer(CreateTopicsResponse(throttle_time_ms, results), records)


def _hide_configs(result: CreatableTopicResult) -> None:
    result.topic_config_error_code = codes.TOPIC_AUTHORIZATION_FAILED
    result.num_partitions = result.replication_factor = -1
    result.configs = []


class NewTopic(NamedTuple):
    """A topic that can be created: its row in the answer, and the values from the request.

    ``partitions`` and ``factor`` are the numbers of its partitions and of their replicas.
    ``assignment`` has (replicas, in sync) of each partition; None leaves them to the placer.
    """

    result: CreatableTopicResult
    configs: dict[str, str]
    partitions: int
    factor: int
    assignment: list[tuple[list[int], list[int]]] | None

    @property
    def record_count(self) -> int:
        return 1 + len(self.configs) + self.partitions


def create(
    state: State, topics: list[CreatableTopic], quota: MutationQuota
) -> tuple[list[CreatableTopicResult], list[NewTopic]]:
    """The result of each topic, and the topics that can be created.

    Raises RequestFailure for a request that would make too many records.
    """

    def check(topic: CreatableTopic, records: int) -> NewTopic:
        try:
            new = check_one(state, topic)
        except PolicyFailure as failure:
            raise RequestFailure(failure.code) from failure.__cause__
        quota.take(new.partitions)
        if records + new.record_count > MOST_RECORDS:
            raise RequestFailure(codes.POLICY_VIOLATION, TOO_MANY_RECORDS)
        return new

    if sum(_partitions_asked(state, each) for each in topics) > MOST_RECORDS:
        text = "Excessively large number of partitions per request."
        raise RequestFailure(codes.POLICY_VIOLATION, text)
    return create_each(topics, check)


def create_each(
    topics: Sequence[CreatableTopic], check: Callable[[CreatableTopic, int], NewTopic]
) -> tuple[list[CreatableTopicResult], list[NewTopic]]:
    """The result of each topic, and the topics that can be created.

    ``check`` gets a topic and the number of records of those before it. It raises ApiFailure for a
    topic that is refused, and RequestFailure if the request is.
    """
    results, created, records = [], [], 0
    for topic in topics:
        try:
            new = check(topic, records)
        except RequestFailure:
            raise
        except ApiFailure as failure:
            results.append(failed(topic.name, failure))
            continue
        created.append(new)
        results.append(new.result)
        records += new.record_count
    return results, created


def _partitions_asked(state: State, topic: CreatableTopic) -> int:
    if not topic.assignments and topic.num_partitions == -1:
        return _default_partitions(state)
    return len(topic.assignments) or max(topic.num_partitions, 0)


def _default_partitions(state: State) -> int:
    partitions: int = state.broker_value("num.partitions")
    return partitions


def check_one(state: State, topic: CreatableTopic) -> NewTopic:
    """Check a topic of the request. Raises ApiFailure if it cannot be created."""
    _check_name(state, topic.name)
    configs = _checked_configs(state, topic)
    assignment = counts = named = None
    if topic.assignments:
        assignment = _named(state, topic)
        named = {number: replicas for number, (replicas, _) in enumerate(assignment)}
        partitions, factor = len(assignment), len(assignment[0][0])
    else:
        partitions, factor = counts = _counts(state, topic)
    check_topic(state.create_topic_policy, topic.name, counts, named, configs)
    result = CreatableTopicResult(
        name=topic.name,
        topic_id=random_topic_id(),
        error_message=None,
        num_partitions=partitions,
        replication_factor=factor,
        configs=_effective(state, configs),
    )
    return NewTopic(result, configs, partitions, factor, assignment)


def records_of(state: State, new: NewTopic) -> list[Message]:
    """The records that create a topic; replicas are placed unless the request names them."""
    result, configs = new.result, new.configs
    records: list[Message] = [TopicRecord(result.name, result.topic_id)]
    records += [
        ConfigRecord(TOPIC_RESOURCE, result.name, name, value) for name, value in configs.items()
    ]
    assignment = new.assignment
    if assignment is None:
        assignment = place(state, result.name, new.partitions, new.factor)
    records += [
        partition_record(state, result.topic_id, number, replicas, in_sync)
        for number, (replicas, in_sync) in enumerate(assignment)
    ]
    return records


def _check_name(state: State, name: str) -> None:
    fault = None
    try:
        check_topic_name(name)
    except ApiFailure as failure:
        fault = failure
    colliding = state.colliding(name)
    if state.topic(name) is not None:
        fault = ApiFailure(codes.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    elif colliding is not None:
        fault = ApiFailure(
            codes.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {colliding}",
        )
    if fault is not None:
        raise fault


def _checked_configs(state: State, topic: CreatableTopic) -> dict[str, str]:
    nulls = [each.name for each in topic.configs if each.value is None]
    if nulls:
        text = f"Null value not supported for topic configs: {','.join(nulls)}"
        raise ApiFailure(codes.INVALID_CONFIG, text)
    configs = {each.name: each.value for each in topic.configs if each.value is not None}
    if configs:
        state.topic_defaults.check(configs)
        check_configs(state.alter_config_policy, TOPIC_RESOURCE, topic.name, configs)
    return configs


def _named(state: State, topic: CreatableTopic) -> list[tuple[list[int], list[int]]]:
    """(replicas, in sync) of each partition, as the request names them."""
    refused = "A manual partition assignment was specified, but {} was not set to -1."
    if topic.replication_factor != -1:
        raise ApiFailure(codes.INVALID_REQUEST, refused.format("replication factor"))
    if topic.num_partitions != -1:
        raise ApiFailure(codes.INVALID_REQUEST, refused.format("numPartitions"))
    by_number: dict[int, tuple[list[int], list[int]]] = {}
    factor = None
    for assignment in topic.assignments:
        number, replicas = assignment.partition_index, assignment.broker_ids
        if number in by_number:
            raise ApiFailure(
                codes.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {number}",
            )
        check_replicas(state, replicas, factor)
        factor = len(replicas)
        by_number[number] = replicas, in_sync_of(state, replicas, number)
    if sorted(by_number) != list(range(len(by_number))):
        raise ApiFailure(
            codes.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [by_number[number] for number in range(len(by_number))]


def _counts(state: State, topic: CreatableTopic) -> tuple[int, int]:
    """Partitions and factor of a topic without an assignment. Raises ApiFailure if impossible."""
    partitions, factor = topic.num_partitions, topic.replication_factor
    if factor < -1 or factor == 0:
        raise ApiFailure(
            codes.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if partitions < -1 or partitions == 0:
        raise ApiFailure(
            codes.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    if partitions == -1:
        partitions = _default_partitions(state)
    if factor == -1:
        factor = state.broker_value("default.replication.factor")
    if partitions > MOST_RECORDS:
        raise ApiFailure(codes.POLICY_VIOLATION, TOO_MANY_RECORDS)
    try:
        placement_brokers(state, factor)
    except ApiFailure as failure:
        raise ApiFailure(
            failure.code, f"Unable to replicate the partition {factor} time(s): {failure.message}"
        ) from failure
    return partitions, factor


def _effective(state: State, own: dict[str, str]) -> list[CreatableTopicConfigs]:
    """The effective configs of a new topic by name, with the controller's defaults."""
    defaults = _default_rows(state.topic_defaults)
    if not own:
        return list(defaults.values())
    known = state.definitions.topics
    rows = defaults | {name: _row(known[name], value, DYNAMIC_TOPIC) for name, value in own.items()}
    if len(rows) == len(defaults):  # their order stays
        return list(rows.values())
    return [rows[name] for name in sorted(rows)]


@lru_cache(maxsize=16)
def _default_rows(defaults: TopicDefaults) -> dict[str, CreatableTopicConfigs]:
    """The effective configs of a topic without configs of its own, sorted by name."""
    known = defaults.known.topics
    return {
        name: _row(known[name], *defaults.texts[name])
        for name in sorted(known)
        if not known[name].internal
    }


def _row(config: ConfigDefinition, value: str | None, source: int) -> CreatableTopicConfigs:
    shown = None if config.sensitive else value
    return CreatableTopicConfigs(config.name, shown, False, source, config.sensitive)


def failed(name: str, failure: ApiFailure) -> CreatableTopicResult:
    """The row of a topic that was refused."""
    return CreatableTopicResult(name=name, error_code=failure.code, error_message=failure.message)


def failed_all(request: CreateTopicsRequest, failure: ApiFailure) -> Answer:
    """The answer to a request that fails as a whole."""
    rows = [failed(each.name, failure) for each in request.topics]
    return Answer(CreateTopicsResponse(topics=rows))
