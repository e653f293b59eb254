"""BrokerRegistration: a broker has started, and wants a place in the cluster (KIP-631).

Versions: 1 brokers that migrate from ZooKeeper, 2 directories (KIP-858), 3 the epoch that a broker
had when it ended cleanly (KIP-966), 4 features from level 0.
"""

from __future__ import annotations

from kafka_admin_proto.messages import BrokerRegistrationRequest, BrokerRegistrationResponse
from kafka_admin_proto.messages.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.registration import registered
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.network.node import SECURITY_PROTOCOLS
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.assignments import is_reserved
from kafka_admin_proto.values import Message

#: Kafka has no limit; each election asks whether a replica's directory is one of them.
_MOST_DIRECTORIES = 1000


@handler(of_broker=False, needs=Gate(CLUSTER_ACTION, "none"), kept=False)
def handle(state: State, request: BrokerRegistrationRequest, caller: Caller) -> Answer:
    """Register a broker, fenced; its epoch is the offset of the first record.

    INCONSISTENT_CLUSTER_ID for a broker of another cluster, DUPLICATE_BROKER_REGISTRATION while the
    session of another incarnation lasts, INVALID_REGISTRATION for directories that cannot be, and
    UNSUPPORTED_VERSION for a broker without a level that the cluster has.
    """
    if request.cluster_id != state.cluster_id:
        raise ApiFailure(codes.INCONSISTENT_CLUSTER_ID)
    broker = request.broker_id
    known = state.cluster.brokers.get(broker)
    is_same = known is not None and known.incarnation_id == request.incarnation_id
    if known is not None and not is_same and state.sessions.is_valid(broker):
        raise ApiFailure(codes.DUPLICATE_BROKER_REGISTRATION)
    if request.is_migrating_zk_broker:
        raise ApiFailure(codes.BROKER_ID_NOT_REGISTERED)
    _check_directories(state, request)
    _check_listeners(request)
    _check_features(state, request)
    record = RegisterBrokerRecord(
        broker_id=broker,
        incarnation_id=request.incarnation_id,
        broker_epoch=state.end_offset,
        end_points=[
            BrokerEndpoint(each.name, each.host, each.port, each.security_protocol)
            for each in request.listeners
        ],
        features=[
            BrokerFeature(each.name, each.min_supported_version, each.max_supported_version)
            for each in request.features
        ],
        rack=request.rack,
        fenced=True,
        log_dirs=request.log_dirs,
    )
    if known is not None and is_same:
        record.broker_epoch, record.fenced = known.epoch, known.fenced
        record.in_controlled_shutdown = known.in_controlled_shutdown
        records: list[Message] = [record]
        state.sessions.amended(broker, state.end_offset, request.log_dirs)
    else:
        clean = known is not None and request.previous_broker_epoch == known.epoch
        records = registered(state, record, clean=clean)
        offset = state.end_offset + len(records) - 1
        state.sessions.registered(broker, offset, request.log_dirs)
    return Answer(BrokerRegistrationResponse(broker_epoch=record.broker_epoch), records)


def _check_directories(state: State, request: BrokerRegistrationRequest) -> None:
    """Raises ApiFailure unless the directories are the broker's alone, each named once."""
    found = set(request.log_dirs)
    if len(found) > _MOST_DIRECTORIES:
        raise ApiFailure(codes.INVALID_REGISTRATION)
    if not found or len(found) < len(request.log_dirs) or any(map(is_reserved, found)):
        raise ApiFailure(codes.INVALID_REGISTRATION)
    if not {state.sessions.owner(each) for each in found} <= {None, request.broker_id}:
        raise ApiFailure(codes.INVALID_REGISTRATION)


def _check_listeners(request: BrokerRegistrationRequest) -> None:
    """Raises ApiFailure for an address that no client can use, as ``ListenerInfo`` fails."""
    for each in request.listeners:
        is_known = 0 <= each.security_protocol < len(SECURITY_PROTOCOLS)
        if not (is_known and each.host.strip() and each.port):
            raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)


def _check_features(state: State, request: BrokerRegistrationRequest) -> None:
    """Raises ApiFailure unless the broker has the level of each feature of the cluster."""
    ranges = {
        each.name: (each.min_supported_version, each.max_supported_version)
        for each in request.features
    }
    if METADATA_VERSION not in ranges:
        raise ApiFailure(codes.INVALID_REGISTRATION)
    levels = state.cluster.features
    for name in ranges.keys() | levels.keys():
        lowest, highest = ranges.get(name, (0, 0))
        if not lowest <= levels.get(name, 0) <= highest:
            raise ApiFailure(codes.UNSUPPORTED_VERSION)
