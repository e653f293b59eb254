"""A real three-node cluster and ours, started alike, and when a change is known everywhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from kafka_admin_proto.messages import ApiVersionsRequest, DescribeQuorumRequest
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.server import SyncCluster
from tests.server.configs.real_configs import configs_of
from tests.server.differential.wire import Nodes
from tools.clusters import kraft

#: How long a cluster may take until both answer alike; only a difference takes that long.
_SETTLE_S = 20.0
_PAUSE_S = 0.05

Shown = TypeVar("Shown")


class Side(msgspec.Struct):
    """One of the two clusters, as its clients see it.

    ``behind`` are the brokers of a proxy, ``secured`` the listeners where users log in.
    """

    bootstrap: str
    controllers: str
    behind: str = ""
    secured: str = ""

    def wait_for_brokers(self) -> None:
        """Wait until every broker has all that the quorum has committed."""
        with Nodes(self.bootstrap) as nodes:
            end = _quorum(nodes).high_watermark - 1
            versions = ApiVersionsRequest("tests", "1")
            for node in range(len(nodes.addresses)):
                limit = time.monotonic() + _SETTLE_S
                while nodes.ask(node, versions, 3).finalized_features_epoch < end:
                    assert time.monotonic() < limit, f"node {node + 1} has not reached {end}"
                    time.sleep(_PAUSE_S)


class Pair(msgspec.Struct):
    """The same cluster twice; ``release`` is the real one's."""

    release: str
    real: Side
    ours: Side
    settle_s: float = _SETTLE_S

    def change(self, asked: Callable[[Side], Shown]) -> tuple[Shown, Shown]:
        """What both say to a change, each asked once; every broker knows of it behind that."""
        shown = asked(self.real), asked(self.ours)
        self.real.wait_for_brokers()
        return shown

    def question(
        self,
        asked: Callable[[Side], Shown],
        unsettled: Callable[[Shown], bool] = lambda shown: False,
    ) -> tuple[Shown, Shown]:
        """What both say, asked again while that is not the same: replicas take their time.

        It is asked again too while an answer is ``unsettled``: another would follow. Nothing is
        waited for once a difference has stayed: the rest shows what else differs.
        """
        limit = time.monotonic() + self.settle_s
        while True:
            real, ours = asked(self.real), asked(self.ours)
            if real == ours and not unsettled(real):
                return real, ours
            if time.monotonic() > limit:
                self.settle_s = 0.0
                return real, ours
            time.sleep(_PAUSE_S)


def _quorum(nodes: Nodes) -> Any:
    """The state of the quorum's only partition, from the first node."""
    asked = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
    return nodes.ask(0, asked, 0).topics[0].partitions[0]


@contextlib.contextmanager
def started_pair(folder: Path, release: str) -> Iterator[Pair]:
    """Both clusters, with three nodes and the same configs and controller."""
    with kraft(folder, release, nodes=3) as real:
        configs = configs_of(real)
        with SyncCluster(3, release=release.rpartition(".")[0], configs=configs) as ours:
            with Nodes(real.bootstrap) as nodes:
                ours.state.quorum.controller = _quorum(nodes).leader_id
            yield Pair(
                release,
                Side(real.bootstrap, real.address("CONTROLLER")),
                Side(ours.bootstrap_servers, ours.bootstrap_servers),
            )
