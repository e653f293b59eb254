"""What brokers in processes of their own say to the controller, and what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.messages import BrokerHeartbeatRequest
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.brokers import replicas
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

_NONE = -1


def check_epoch(state: State, broker: int, epoch: int) -> None:
    """Raises ApiFailure for a request of another incarnation than the registered one."""
    known = state.cluster.brokers.get(broker)
    if known is None or known.epoch != epoch:
        raise ApiFailure(codes.STALE_BROKER_EPOCH)


def heartbeat(state: State, request: BrokerHeartbeatRequest) -> tuple[list[Message], bool, bool]:
    """The records of a heartbeat, whether its broker is fenced then, and whether it shall end.

    A broker that wants to end does so once others lead what it led, and all active brokers have
    heard of it (``BrokerHeartbeatManager.calculateNextBrokerState``).
    """
    broker = request.broker_id
    session, known = state.sessions.of(broker), state.cluster.brokers[broker]
    if session.shutdown_offset != _NONE:
        heard = session.shutdown_offset <= state.sessions.lowest_active_offset()
        ends = heard and not _leads(state, broker)
    elif known.fenced:
        stays = request.want_fence or broker in state.sessions.kept_fenced
        if request.want_shut_down:
            ends = True
        elif stays or request.current_metadata_offset < session.registered_offset:
            return [], True, False
        else:
            return replicas.unfence(state, broker), False, False
    elif request.want_fence:
        ends = request.want_shut_down
        if not ends:
            return replicas.fence(state, broker), True, False
    elif not request.want_shut_down:
        return [], False, False
    else:
        ends = not _leads(state, broker)
        if not ends:
            records = replicas.begin_controlled_shutdown(state, broker)
            session.shutdown_offset = state.end_offset + len(records) - 1
            return records, False, False
    if not ends:
        return [], False, False
    session.shutdown_offset = _NONE
    return replicas.fence(state, broker), True, True


def _leads(state: State, broker: int) -> bool:
    return any(
        partition.leader == broker
        for topic in state.cluster.topics.values()
        for partition in topic.partitions.values()
    )
