"""Topics that a cluster starts with: ``Cluster(topics=...)``, created as CreateTopics creates them.

A value is a number of partitions, or a mapping of the fields that the client's ``NewTopic`` has.
What brokers alone decide by (names, counts, configs) is checked where the topics are given, against
a cluster without sockets; policies and the topics of a folder are asked at the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias
from uuid import uuid4

import msgspec

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.brokers.registration import (
    Registration,
    first_records,
    new_cluster_id,
    register,
)
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE
from kafka_admin_proto.server.configs.parsing import parse, to_text
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.handlers.topics.create_topics import (
    PROHIBITED,
    NewTopic,
    create,
    records_of,
)
from kafka_admin_proto.server.network.node import Listener
from kafka_admin_proto.server.quotas.throttling import UNLIMITED
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.names import CLUSTER_METADATA
from kafka_admin_proto.structs import decodable

#: Partitions, -1 for the brokers' default, or fields of ``_Fields`` by name.
TopicSetting: TypeAlias = int | Mapping[str, Any]


@decodable
class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    """What a topic may be given, as in the client's ``NewTopic``; -1 is the brokers' default."""

    partitions: int = -1
    replication_factor: int = -1
    assignment: dict[int, list[int]] | None = None
    configs: dict[str, str | bool | int | float] = {}


def checked_topics(
    topics: Mapping[str, TopicSetting],
    release: ReleaseNumber,
    brokers: int,
    configs: Mapping[str, str],
) -> list[CreatableTopic]:
    """The topics as CreateTopics has them, in their order.

    Raises SettingsError, which names the topic, for one that the cluster would refuse.
    """
    wanted = [_creatable(name, value) for name, value in topics.items()]
    state = State(release, new_cluster_id(), dict.fromkeys(range(1, brokers + 1), configs))
    state.append(first_records(release))
    listeners = [Listener("PLAINTEXT", "", "", 0)]
    register(state, [Registration(each, listeners, None, uuid4()) for each in state.static])
    for topic in wanted:
        create_topics(state, [topic])
    return wanted


def create_topics(state: State, topics: Sequence[CreatableTopic]) -> None:
    """Create those of the topics that are not there; if one is refused, none is created.

    Raises SettingsError for a topic that is refused, or is there already and otherwise than given.
    """
    new = []
    for topic in topics:
        existing = state.topic(topic.name)
        if existing is None:
            new.append(_checked(state, topic))
        else:
            _check_same(existing, topic, state)
    for each in new:
        state.append(records_of(state, each))


def _creatable(name: str, value: TopicSetting) -> CreatableTopic:
    try:
        fields = msgspec.convert(
            {"partitions": value} if isinstance(value, int) else value, _Fields
        )
    except msgspec.ValidationError as error:
        expected = ", ".join(_Fields.__struct_fields__)
        text = f"topics: {name!r}: {error}; expected a number of partitions, or any of {expected}"
        raise SettingsError(text) from None
    return CreatableTopic(
        name=name,
        num_partitions=fields.partitions,
        replication_factor=fields.replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=number, broker_ids=replicas)
            for number, replicas in (fields.assignment or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=config, value=to_text(text))
            for config, text in fields.configs.items()
        ],
    )


def _checked(state: State, topic: CreatableTopic) -> NewTopic:
    """The topic that a request would create, of a client with all rights and no quota."""
    try:
        if topic.name == CLUSTER_METADATA:
            raise ApiFailure(codes.INVALID_REQUEST, PROHIBITED)
        (result,), created = create(state, [topic], UNLIMITED)
        if result.error_code:
            raise ApiFailure(result.error_code, result.error_message)
    except ApiFailure as failure:
        reason = error_name(failure.code) or str(failure.code)
        if failure.message is not None:
            reason += f": {failure.message}"
        text = f"topics: {topic.name!r} cannot be created: {reason}"
        raise SettingsError(text) from failure.__cause__
    return created[0]


def _check_same(existing: Topic, topic: CreatableTopic, state: State) -> None:
    """Raise SettingsError unless the topic of a folder is as it is given."""
    configs = state.configs(TOPIC_RESOURCE, topic.name)

    def value(name: str, text: str | None) -> str | None:
        return to_text(parse(state.definitions.topics[name], text))

    replicas = {number: each.replicas for number, each in existing.partitions.items()}
    assigned = {each.partition_index: each.broker_ids for each in topic.assignments}
    there = {
        "partitions": (len(replicas), topic.num_partitions),
        "replication_factor": (len(replicas[0]), topic.replication_factor),
        "assignment": (replicas, assigned or -1),
        **{
            each.name: (value(each.name, configs.get(each.name)), value(each.name, each.value))
            for each in topic.configs
        },
    }
    for name, (is_now, given) in there.items():
        if given not in (-1, is_now):
            raise SettingsError(
                f"topics: {topic.name!r} is there already, with {name} {is_now}, not {given}; "
                "leave that out, or alter the topic with a client"
            )
