"""CreateTopics: each topic is created or refused separately.

Versions: 1 validate_only and messages, 2 a throttle time, 4 partitions and factor of -1 for the
broker's defaults (which every version takes), 5 the topic's configs in the answer (KIP-525),
6 quotas that throttle (KIP-599), 7 the topic's id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from functools import lru_cache
from typing import NamedTuple

from kafka_admin_proto.messages.config_record import ConfigRecord
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafka_admin_proto.messages.create_topics_response import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kafka_admin_proto.messages.topic_record import TopicRecord
from kafka_admin_proto.server.configs.definitions import ConfigDefinition
from kafka_admin_proto.server.configs.sources import DYNAMIC_TOPIC
from kafka_admin_proto.server.configs.topics import TopicDefaults
from kafka_admin_proto.server.failures import (
    INVALID_CONFIG,
    INVALID_PARTITIONS,
    INVALID_REPLICA_ASSIGNMENT,
    INVALID_REPLICATION_FACTOR,
    INVALID_REQUEST,
    INVALID_TOPIC,
    POLICY_VIOLATION,
    REQUEST_TIMED_OUT,
    TOPIC_ALREADY_EXISTS,
    TOPIC_AUTHORIZATION_FAILED,
    ApiFailure,
)
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.handlers.steps import finish
from kafka_admin_proto.server.java import hash_order
from kafka_admin_proto.server.quotas.throttling import MutationQuota, mutation_quota
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, creatable_topics
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE_CONFIGS
from kafka_admin_proto.server.state import TOPIC_RESOURCE, State
from kafka_admin_proto.server.topics.assignments import (
    MOST_RECORDS,
    check_replicas,
    in_sync_of,
    partition_record,
    place,
    placement_brokers,
)
from kafka_admin_proto.server.topics.names import CLUSTER_METADATA, check_topic_name
from kafka_admin_proto.server.topics.policies import (
    ConfigMetadata,
    PolicyFailure,
    TopicMetadata,
    check_configs,
    check_topic,
)
from kafka_admin_proto.topic_ids import random_topic_id
from kafka_admin_proto.values import Message

#: The first version whose clients know THROTTLING_QUOTA_EXCEEDED.
_STRICT_SINCE = 6


def handle(state: State, request: CreateTopicsRequest, caller: Caller) -> Answer:
    """Answer after the commit; with a timeout of 0 or less nothing is created."""
    return finish(in_steps(state, request, caller))


def in_steps(
    state: State, request: CreateTopicsRequest, caller: Caller
) -> Generator[None, None, Answer]:
    """As `handle`, with a topic at each step."""
    if state.rules == "kip-4":
        from kafka_admin_proto.server.handlers.topics import create_topics_kip_4

        return create_topics_kip_4.handle(state, request, caller)
    names = Counter(topic.name for topic in request.topics)
    repeated = hash_order(name for name, count in names.items() if count > 1)
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
            raise ApiFailure(REQUEST_TIMED_OUT)
        results, created = yield from _create(state, wanted, quota)
    except ApiFailure as failure:  # the whole request fails
        return Answer(
            CreateTopicsResponse(topics=[failed(each.name, failure) for each in request.topics])
        )
    duplicate = ApiFailure(INVALID_REQUEST, "Duplicate topic name.")
    results += [failed(name, duplicate) for name in repeated]
    if names[CLUSTER_METADATA] == 1:
        text = f"Creation of internal topic {CLUSTER_METADATA} is prohibited."
        results.append(failed(CLUSTER_METADATA, ApiFailure(INVALID_REQUEST, text)))
    results += [unauthorized(each.name) for each in named if each.name not in allowed]
    return (yield from answer(state, request, caller, results, created, quota.throttle_time_ms))


def answer(
    state: State,
    request: CreateTopicsRequest,
    caller: Caller,
    results: list[CreatableTopicResult],
    created: list[NewTopic],
    throttle_time_ms: int = 0,
) -> Generator[None, None, Answer]:
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
            yield
    return Answer(CreateTopicsResponse(throttle_time_ms, results), records)


def unauthorized(name: str) -> CreatableTopicResult:
    """The row of a topic that the caller may not create."""
    return failed(name, ApiFailure(TOPIC_AUTHORIZATION_FAILED, "Authorization failed."))


def _hide_configs(result: CreatableTopicResult) -> None:
    result.topic_config_error_code = TOPIC_AUTHORIZATION_FAILED
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


def _create(
    state: State, topics: list[CreatableTopic], quota: MutationQuota
) -> Generator[None, None, tuple[list[CreatableTopicResult], list[NewTopic]]]:
    """The result of each topic, and the topics that can be created.

    Raises ApiFailure for a request that would make too many records.
    """
    if sum(_partitions_asked(state, each) for each in topics) > MOST_RECORDS:
        raise ApiFailure(POLICY_VIOLATION, "Excessively large number of partitions per request.")
    results, created, records = [], [], 0
    for topic in topics:
        try:
            new = check_one(state, topic)
            quota.take(new.partitions)
        except PolicyFailure:
            raise
        except ApiFailure as failure:
            results.append(failed(topic.name, failure))
            continue
        created.append(new)
        records += new.record_count
        if records > MOST_RECORDS:
            raise ApiFailure(
                POLICY_VIOLATION, "Unable to perform excessively large batch operation."
            )
        results.append(new.result)
        yield
    return results, created


def _partitions_asked(state: State, topic: CreatableTopic) -> int:
    if not topic.assignments and topic.num_partitions == -1:
        return _default_partitions(state)
    return len(topic.assignments) or max(topic.num_partitions, 0)


def _default_partitions(state: State) -> int:
    return int(state.broker_value("num.partitions") or 1)


def check_one(state: State, topic: CreatableTopic) -> NewTopic:
    """Check a topic of the request. Raises ApiFailure if it cannot be created."""
    _check_name(state, topic.name)
    configs = _checked_configs(state, topic)
    assignment = None
    if topic.assignments:
        assignment = _named(state, topic)
        named = {number: replicas for number, (replicas, _) in enumerate(assignment)}
        metadata = TopicMetadata(topic.name, None, None, named, configs)
        partitions, factor = len(assignment), len(assignment[0][0])
    else:
        partitions, factor = _counts(state, topic)
        metadata = TopicMetadata(topic.name, partitions, factor, None, configs)
    check_topic(state.create_topic_policy, metadata)
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
        ConfigRecord(TOPIC_RESOURCE, result.name, name, configs[name])
        for name in hash_order(configs)
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
        fault = ApiFailure(TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    elif colliding is not None:
        fault = ApiFailure(
            INVALID_TOPIC, f"Topic '{name}' collides with existing topic: {colliding}"
        )
    if fault is not None:
        raise fault


def _checked_configs(state: State, topic: CreatableTopic) -> dict[str, str]:
    nulls = [each.name for each in topic.configs if each.value is None]
    if nulls:
        text = f"Null value not supported for topic configs: {','.join(nulls)}"
        raise ApiFailure(INVALID_CONFIG, text)
    configs = {each.name: each.value for each in topic.configs if each.value is not None}
    if configs:
        state.topic_defaults.check(configs)
        metadata = ConfigMetadata(TOPIC_RESOURCE, topic.name, {**configs})
        check_configs(state.alter_config_policy, metadata)
    return configs


def _named(state: State, topic: CreatableTopic) -> list[tuple[list[int], list[int]]]:
    """(replicas, in sync) of each partition, as the request names them."""
    refused = "A manual partition assignment was specified, but {} was not set to -1."
    if topic.replication_factor != -1:
        raise ApiFailure(INVALID_REQUEST, refused.format("replication factor"))
    if topic.num_partitions != -1:
        raise ApiFailure(INVALID_REQUEST, refused.format("numPartitions"))
    found: dict[int, tuple[list[int], list[int]]] = {}
    factor = None
    for each in topic.assignments:
        number, replicas = each.partition_index, each.broker_ids
        if number in found:
            raise ApiFailure(
                INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {number}",
            )
        check_replicas(state, replicas, factor)
        factor = len(replicas)
        found[number] = replicas, in_sync_of(state, replicas, number)
    if sorted(found) != list(range(len(found))):
        raise ApiFailure(
            INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [found[number] for number in range(len(found))]


def _counts(state: State, topic: CreatableTopic) -> tuple[int, int]:
    """Partitions and factor of a topic without an assignment. Raises ApiFailure if impossible."""
    partitions, factor = topic.num_partitions, topic.replication_factor
    if factor < -1 or factor == 0:
        raise ApiFailure(
            INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if partitions < -1 or partitions == 0:
        raise ApiFailure(
            INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    if partitions == -1:
        partitions = _default_partitions(state)
    if factor == -1:
        factor = int(state.broker_value("default.replication.factor") or 1)
    if partitions > MOST_RECORDS:
        raise ApiFailure(POLICY_VIOLATION, "Unable to perform excessively large batch operation.")
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
