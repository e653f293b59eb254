"""The first records of a new cluster: features, configs, and the registration of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

import msgspec

from kafka_admin_proto.messages import (
    BrokerRegistrationChangeRecord,
    ConfigRecord,
    FeatureLevelRecord,
)
from kafka_admin_proto.messages.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kafka_admin_proto.messages.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.server.brokers.replicas import found_again, replace_incarnation, unfence
from kafka_admin_proto.server.brokers.view import BROKER_RESOURCE
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.network.node import SECURITY_PROTOCOLS, Listener
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.partition_changes import ELIGIBLE_REPLICAS
from kafka_admin_proto.topic_ids import random_topic_id, topic_id_to_text
from kafka_admin_proto.values import Message

#: A static quorum has no dynamic voters.
_OF_QUORUM = "kraft.version"
_UNFENCE, _FENCE = -1, 1


class Registration(msgspec.Struct, frozen=True):
    """The values with which a node, broker and controller in one, registers when it starts."""

    id: int
    listeners: Sequence[Listener]
    rack: str | None
    directory: UUID


def new_cluster_id() -> str:
    """A random id for a new cluster, made as topic ids are."""
    return topic_id_to_text(random_topic_id())


def first_records(release: ReleaseNumber) -> list[Message]:
    """Features at the levels of a new cluster, metadata.version first."""
    features = sorted(
        definitions(release).features, key=lambda each: (each.name != METADATA_VERSION, each.name)
    )
    records: list[Message] = [
        FeatureLevelRecord(each.name, each.default)
        for each in features
        if each.name != _OF_QUORUM and each.default > 0
    ]
    if any(each.name == ELIGIBLE_REPLICAS and each.default for each in features):
        records.append(ConfigRecord(BROKER_RESOURCE, "", "min.insync.replicas", "1"))
    return records


def register(state: State, nodes: Sequence[Registration]) -> None:
    """Append the registrations of all nodes, and let clients see their brokers."""
    state.append([controller_record(state, each) for each in nodes])
    for node in nodes:
        epoch = state.end_offset
        state.append([broker_record(state, node, epoch)])
        if state.cluster.topics:
            state.append(found_again(state, node.id))
            state.append(unfence(state, node.id))
        else:
            state.append([BrokerRegistrationChangeRecord(node.id, epoch, fenced=_UNFENCE)])


def controller_record(state: State, node: Registration) -> Message:
    return RegisterControllerRecord(
        controller_id=node.id,
        incarnation_id=uuid4(),
        end_points=[
            ControllerEndpoint("CONTROLLER", each.advertised.host, each.advertised.port)
            for each in node.listeners[:1]
        ],
        features=[
            ControllerFeature(each.name, each.min, each.max) for each in state.definitions.features
        ],
    )


def broker_record(state: State, node: Registration, epoch: int) -> RegisterBrokerRecord:
    """A node's registration as a broker, which is fenced at first."""
    return RegisterBrokerRecord(
        broker_id=node.id,
        incarnation_id=uuid4(),
        broker_epoch=epoch,
        end_points=[
            BrokerEndpoint(
                each.name,
                each.advertised.host,
                each.advertised.port,
                SECURITY_PROTOCOLS.index(each.protocol),
            )
            for each in node.listeners
        ],
        features=[
            BrokerFeature(each.name, each.min, each.max) for each in state.definitions.features
        ],
        rack=node.rack,
        fenced=True,
        log_dirs=[node.directory],
    )


def registered(state: State, broker: RegisterBrokerRecord, *, clean: bool) -> list[Message]:
    """The records of a broker's new incarnation; its epoch is the offset of the first of them.

    ``clean`` is False for one that was killed: its replicas may have lost records.
    """
    return [*replace_incarnation(state, broker.broker_id, clean=clean), broker]


def fence(state: State) -> None:
    """Append records that fence all brokers: none of them runs, or all are about to end."""
    changes: list[Message] = [
        BrokerRegistrationChangeRecord(broker.id, broker.epoch, fenced=_FENCE)
        for broker in state.live_brokers()
    ]
    state.append(changes)
