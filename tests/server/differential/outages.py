"""Two clusters whose nodes end, are killed and start again, on both sides alike."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from kafka_admin_proto.messages import (
    DescribeClusterRequest,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataRequest,
)
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.values import Message
from tests.server.differential.comparison import Comparison
from tests.server.differential.requests.drawing import Step
from tests.server.differential.sides import Sides
from tools.clusters import Cluster

#: A real cluster's configs for outages: a node that was killed is missed within seconds, and no
#: leader changes but by a step.
PROPERTIES = {
    "broker.session.timeout.ms": "9000",
    "broker.heartbeat.interval.ms": "500",
    "controller.quorum.fetch.timeout.ms": "4000",
    "auto.leader.rebalance.enable": "false",
}


_PAUSE_S = 0.05
#: A difference in a topic's config: the node, counted from 1, and the topic.
_CONFIG_OF_TOPIC = re.compile(r"node (\d+): DescribeConfigsResponse\.results\[(.+?)\]\.configs")


class _Nodes(Protocol):
    """What both clusters can do with a node."""

    def stop_broker(self, broker: int) -> None: ...
    def kill_broker(self, broker: int) -> None: ...
    def start_broker(self, broker: int) -> None: ...


class _Real:
    """The nodes of a real cluster, by the names of ours."""

    def __init__(self, cluster: Cluster) -> None:
        self.stop_broker = cluster.end
        self.kill_broker = cluster.crash
        self.start_broker = cluster.start_again


class FormerConfigs:
    """The topics that may have configs of a deleted one of their name at a real node.

    A node that starts reads the log as one change. In it the configs of topics that were created
    and deleted stay, in every release: Kafka's ConfigurationsDelta looks for what a
    RemoveTopicRecord takes back in the state before the change. A topic that has such a name later
    has them at that node, until it is deleted.
    """

    def __init__(self) -> None:
        #: By node, from 0 on.
        self._names: dict[int, set[str]] = {}

    def start(self, node: int, deleted: Iterable[str]) -> None:
        """A node starts; topics of these names were deleted before."""
        self._names[node] = set(deleted)

    def delete(self, names: Iterable[str]) -> None:
        """Topics of these names are deleted, as running nodes see."""
        gone = set(names)
        for each in self._names.values():
            each -= gone

    def explain(self, line: str) -> bool:
        """Whether a difference is one in such configs."""
        found = _CONFIG_OF_TOPIC.match(line)
        return found is not None and found[2] in self._names.get(int(found[1]) - 1, ())


class OutageSides(Sides):
    """A step may end a node, or start it again; at most one of them is away then.

    What is asked of one that is away is asked of the next one.
    """

    def __init__(
        self, real: Cluster, ours: SyncCluster, questions: Sequence[tuple[Message, int]] = ()
    ) -> None:
        super().__init__(real.bootstrap, ours.bootstrap_servers, ours.state, questions=questions)
        self._of_nodes: tuple[_Nodes, _Nodes] = (_Real(real), ours)
        self._release = ours.state.release
        self._away: set[int] = set()
        self._former_configs = FormerConfigs()
        #: How many nodes have ended, and by what.
        self.outages: dict[str, int] = {"stop": 0, "kill": 0}

    @property
    def asked(self) -> list[int]:
        return [each for each in range(self.nodes) if each not in self._away]

    def reset(self) -> None:
        for each in sorted(self._away):
            self.start(each)
        super().reset()

    def end(self, node: int, outage: str) -> None:
        """End a node, by its index, on both sides."""
        self._away.add(node)
        self.outages[outage] += 1
        for side, cluster in zip(self._of_nodes, self.clusters, strict=True):
            end = side.stop_broker if outage == "stop" else side.kill_broker
            end(node + 1)
            cluster.forget(node)

    def start(self, node: int) -> None:
        """Start a node that is away, on both sides."""
        for side in self._of_nodes:
            side.start_broker(node + 1)
        self._away.discard(node)
        self._former_configs.start(node, self._former[0])

    def settled(self) -> list[str]:
        """The differences of the clusters' states on running nodes, after all changes."""
        return self._settled()

    def _ask(self, step: Step) -> list[str]:
        if not step.outage:
            while step.node in self._away:
                step.node = (step.node + 1) % self.nodes
            return super()._ask(step)
        if self._away:
            self.start(min(self._away))
        else:
            self.end(step.node, step.outage)
            self._wait_until_missed(step.node)
        return []

    def _wait_until_missed(self, node: int) -> None:
        """Wait until both clusters know that a node has ended: one that is killed is missed later.

        Until then a leader counts on its replica, and the two clusters' clocks differ.
        """
        end = time.monotonic() + self.settle_s
        for cluster in self.clusters:
            while node + 1 in [
                each.node_id
                for each in cluster.ask(self.asked[0], MetadataRequest(topics=[]), 9).brokers
            ]:
                assert time.monotonic() < end, f"node {node + 1} is not missed"
                time.sleep(_PAUSE_S)

    def _looked(self) -> list[str]:
        before = self._current[0]
        lines = super()._looked()
        self._former_configs.delete(
            name for name in before if before[name] != self._current[0].get(name)
        )
        lines = [each for each in lines if not self._is_no_state(each)]
        return lines or [
            each for each in self._partitions_and_brokers() if not self._is_no_state(each)
        ]

    def _is_no_state(self, line: str) -> bool:
        """Whether a difference is none of the cluster's state.

        In 3.9 replicas in sync stand in the order in which they got so.
        """
        return self._former_configs.explain(line) or (
            self._release < (4,) and _is_another_order(line)
        )

    def _partitions_and_brokers(self) -> list[str]:
        """Where eligible leaders, or the brokers that are fenced, differ on any node."""
        lines = []
        brokers = DescribeClusterRequest(include_fenced_brokers=True)
        _, version = self.versions[60]
        for node in self.asked:
            lines += self._compared(node, DescribeTopicPartitionsRequest([]), 0)
            lines += self._compared(node, brokers, version) if version >= 2 else []
        return lines

    def _compared(self, node: int, request: Any, version: int) -> list[str]:
        if request.api_key not in self.versions:
            return []
        answers = [cluster.ask(node, request, version) for cluster in self.clusters]
        names = [
            {each.topic_id: each.name or "" for each in answer.topics}
            if isinstance(answer, DescribeTopicPartitionsResponse)
            else {}
            for answer in answers
        ]
        found = Comparison((names[0], names[1]), self._placed).differences(*answers)
        return [f"node {node + 1}: {line}" for line in found]


def _is_another_order(line: str) -> bool:
    """Whether a difference is the order of a partition's replicas in sync."""
    found = re.search(r"\.isr_nodes: \[(.*)\] and \[(.*)\]$", line)
    return found is not None and sorted(found[1].split(", ")) == sorted(found[2].split(", "))
