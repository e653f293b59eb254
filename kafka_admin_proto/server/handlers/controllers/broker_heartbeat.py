"""BrokerHeartbeat: a broker is there, and how far it has applied the metadata log (KIP-631).

Versions: 1 directories that are offline (KIP-858), 2 cordoned ones (KIP-1066).
"""

from __future__ import annotations

from kafka_admin_proto.messages import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationChangeRecord,
)
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers import replicas
from kafka_admin_proto.server.quorum.broker_states import check_epoch, heartbeat
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message

#: 4.3-IV0, the first level of metadata.version with cordoned directories.
_CORDONED_LEVEL = 30


@handler(of_broker=False, needs=Gate(CLUSTER_ACTION, "none"), kept=False)
def handle(state: State, request: BrokerHeartbeatRequest, caller: Caller) -> Answer:
    """Fence, unfence or end a broker as it wants; STALE_BROKER_EPOCH for another incarnation."""
    broker = request.broker_id
    check_epoch(state, broker, request.broker_epoch)
    records, is_fenced, ends = heartbeat(state, request)
    state.sessions.touch(broker, request.current_metadata_offset)
    records += replicas.lose_directories(state, broker, request.offline_log_dirs)
    records += _cordoned(state, request)
    registered_offset = state.sessions.of(broker).registered_offset
    return Answer(
        BrokerHeartbeatResponse(
            is_caught_up=request.current_metadata_offset >= registered_offset,
            is_fenced=is_fenced,
            should_shut_down=ends,
        ),
        records,
    )


def _cordoned(state: State, request: BrokerHeartbeatRequest) -> list[Message]:
    """The record of a broker whose cordoned directories are others than before.

    The first heartbeat that says that there are none is a record too.
    """
    known = state.cluster.brokers[request.broker_id]
    cordoned, before = request.cordoned_log_dirs, known.cordoned_directories
    if cordoned is None or state.cluster.features.get(METADATA_VERSION, 0) < _CORDONED_LEVEL:
        return []
    if before is not None and set(cordoned) == set(before):
        return []
    return [BrokerRegistrationChangeRecord(known.id, known.epoch, cordoned_log_dirs=cordoned)]
