"""Ours beside real three-node clusters: every answer, and after every step metadata and configs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from kafka_admin_proto.messages import DescribeQuorumRequest
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.server import SyncCluster
from tests.oracle import require_oracle
from tests.server.differential.run import Difference, Sides, compare
from tests.server.differential.wire import Nodes
from tools.clusters import kraft

_STEPS = 150
_SEED = 7
#: What differs on purpose: a text that a difference has, and why.
KNOWN = msgspec.json.decode(
    (Path(__file__).parent / "differences.json").read_bytes(), type=list[dict[str, str]]
)
#: Lines of a node's properties that say where it is.
_OWN = ("listener", "node.id", "process.roles", "controller.", "log.dirs", "inter.broker")


def test_few_differences_are_on_purpose() -> None:
    assert len(KNOWN) <= 10
    assert all(each.keys() == {"line", "why"} for each in KNOWN)


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", ["4.3.1", "3.9.2"])
def test_same_answers_as_a_real_cluster(release: str, tmp_path: Path) -> None:
    require_oracle()
    with kraft(tmp_path, release, nodes=3) as real:
        lines = (real.nodes[1].folder / "broker.properties").read_text().splitlines()
        configs = dict(line.split("=", 1) for line in lines if not line.startswith(_OWN))
        with SyncCluster(3, release=release.rpartition(".")[0], configs=configs) as ours:
            sides = Sides(real.bootstrap, ours.bootstrap_servers)
            # The one whose configs count for topics: any node may have been elected.
            ours.state.controller = active_controller(real.bootstrap)
            found = list(filter(None, map(unlisted, compare(sides, _SEED, _STEPS))))
    assert found == [], "\n".join(map(str, found))


def active_controller(bootstrap: str) -> int:
    """Who leads the metadata quorum of a real cluster."""
    request = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
    with Nodes(bootstrap) as nodes:
        leader: int = nodes.ask(0, request, 0).topics[0].partitions[0].leader_id
    return leader


def unlisted(difference: Difference) -> Difference | None:
    """What of a difference is in no entry of the list; None where all of it is."""
    lines = [x for x in difference.lines if not any(each["line"] in x for each in KNOWN)]
    return Difference(difference.step, difference.request, lines) if lines else None
