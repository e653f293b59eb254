"""The configs of a real cluster, for a cluster of ours that is compared with it."""

from __future__ import annotations

from tools.clusters import Cluster

#: Lines of a node's properties that say where it is.
_OWN = ("listener", "node.id", "process.roles", "controller.", "log.dirs", "inter.broker")


def configs_of(cluster: Cluster) -> dict[str, str]:
    """The configs of its first node, without where it is and what its roles are."""
    lines = (cluster.nodes[1].folder / "broker.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith(_OWN))


def listener_configs_of(cluster: Cluster) -> dict[str, str]:
    """Its configs of listeners, but for their addresses, and logins, which ours has as users."""
    lines = (cluster.nodes[1].folder / "broker.properties").read_text().splitlines()
    configs = dict(line.split("=", 1) for line in lines if line.startswith("listener.name."))
    return {name: text for name, text in configs.items() if not name.endswith("jaas.config")}
