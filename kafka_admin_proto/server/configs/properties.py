"""The properties that each node's properties file would have; the cluster has no such files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kafka_admin_proto.protocol.addresses import Address

if TYPE_CHECKING:
    from kafka_admin_proto.server.network.node import Listener
    from kafka_admin_proto.server.releases import ReleaseNumber

#: Kafka's replication factor of the topics of its coordinators.
_REPLICAS = 3


def properties_of_nodes(
    listeners: Mapping[int, Sequence[Listener]],
    folders: Mapping[int, str],
    racks: Mapping[int, str],
    configs: Mapping[str, str],
    release: ReleaseNumber,
) -> dict[int, dict[str, str]]:
    """The properties of each node, by its id; all listeners are bound.

    ``folders`` are the nodes' ``log.dirs``, ``racks`` are those of nodes that have one, and
    ``configs`` those that the user gave for all nodes.
    """
    voters = ",".join(f"{node_id}@{found[0].advertised}" for node_id, found in listeners.items())
    return {
        node_id: {
            "node.id": str(node_id),
            "broker.id": str(node_id),  # in Kafka each of the two sets the other
            "process.roles": "broker,controller",
            "controller.quorum.voters": voters,
            "controller.listener.names": "CONTROLLER",
            **_listener_properties(of_node),
            "log.dirs": folders[node_id],
            **_of_small_clusters(len(listeners), release),
            **({"broker.rack": racks[node_id]} if node_id in racks else {}),
            **configs,
        }
        for node_id, of_node in listeners.items()
    }


def properties_of_controller(
    node_id: int, listener: Listener, folder: str, configs: Mapping[str, str]
) -> dict[str, str]:
    """The properties of a controller whose brokers are processes of their own."""
    return {
        "node.id": str(node_id),
        "process.roles": "controller",
        "controller.quorum.voters": f"{node_id}@{listener.advertised}",
        "controller.listener.names": listener.name,
        "listeners": f"{listener.name}://{listener.address}",
        "listener.security.protocol.map": f"{listener.name}:{listener.protocol}",
        "log.dirs": folder,
        **configs,
    }


def _of_small_clusters(nodes: int, release: ReleaseNumber) -> dict[str, str]:
    """Kafka's default of three replicas needs three nodes: fewer would have no coordinators.

    The properties files that Kafka comes with have one replica for a single node, and let its
    groups begin at once.
    """
    if nodes >= _REPLICAS:
        return {}
    properties = {
        "offsets.topic.replication.factor": str(nodes),
        "transaction.state.log.replication.factor": str(nodes),
        "transaction.state.log.min.isr": str(nodes),
        "group.initial.rebalance.delay.ms": "0",
    }
    if release >= (4,):  # 3.9 has no share coordinators
        properties["share.coordinator.state.topic.replication.factor"] = str(nodes)
        properties["share.coordinator.state.topic.min.isr"] = str(nodes)
    return properties


def _listener_properties(listeners: Sequence[Listener]) -> dict[str, str]:
    bound = [f"{each.name}://{each.address}" for each in listeners]
    protocols = [*((each.name, each.protocol) for each in listeners), ("CONTROLLER", "PLAINTEXT")]
    properties = {
        "listeners": ",".join([*bound, f"CONTROLLER://{Address(listeners[0].host, 0)}"]),
        "listener.security.protocol.map": ",".join(map(":".join, protocols)),
        "inter.broker.listener.name": listeners[0].name,
    }
    advertised = [f"{each.name}://{each.advertised}" for each in listeners]
    if advertised != bound:
        properties["advertised.listeners"] = ",".join(advertised)
    return properties
