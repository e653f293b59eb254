"""Leaders, offline replicas and the controller, as brokers answer them to clients."""

from __future__ import annotations

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Partition
from kafka_admin_proto.server.brokers.view import View


def offline_replicas(state: View, partition: Partition) -> list[int]:
    """The replicas whose brokers are fenced or not registered."""
    brokers = state.cluster.brokers
    return [each for each in partition.replicas if each not in brokers or brokers[each].fenced]


def leader_of(state: View, partition: Partition) -> tuple[int, int]:
    """(leader, error code): -1 and LEADER_NOT_AVAILABLE if clients can reach no leader."""
    broker = state.cluster.brokers.get(partition.leader)
    if broker is None or broker.fenced:
        return -1, codes.LEADER_NOT_AVAILABLE
    return partition.leader, 0


def named_controller(view: View) -> int:
    """The broker that clients see as the controller; each broker forwards its requests.

    KRaft's brokers name any live one. Here it is the active controller's, if that is live, and
    else the next one that would be elected. A node that was killed is not named, although it is
    not fenced before its session is over: clients would go on asking it.
    """
    ended = view.quorum.last_seen
    ids = [each.id for each in view.live_brokers() if each.id not in ended]
    if not ids:
        return -1
    return view.controller if view.controller in ids else ids[0]
