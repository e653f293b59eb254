"""Ours beside a real three-node cluster: every answer, and after every step metadata and configs.

Run as ``python -m tests.server.differential.real_cluster [4.3.1|3.9.2] [--seed N] [--steps N]``. It
ends with 1 when something differs that ``differences.json`` does not list.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kafka_admin_proto.messages import DescribeQuorumRequest
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.server import SyncCluster
from tests.server.differential.run import Difference, Sides, compare
from tests.server.differential.wire import Nodes
from tools.clusters import kraft

#: What differs on purpose: a text that a difference has, and why.
KNOWN = msgspec.json.decode(
    (Path(__file__).parent / "differences.json").read_bytes(), type=list[dict[str, str]]
)
#: Lines of a node's properties that say where it is.
_OWN = ("listener", "node.id", "process.roles", "controller.", "log.dirs", "inter.broker")


def unlisted_differences(
    folder: Path, release: str, *, seed: int, steps: int
) -> Iterator[Difference]:
    """What differs in drawn steps and is in no entry of the list; ``folder`` is for the nodes."""
    with kraft(folder, release, nodes=3) as real:
        lines = (real.nodes[1].folder / "broker.properties").read_text().splitlines()
        configs = dict(line.split("=", 1) for line in lines if not line.startswith(_OWN))
        with SyncCluster(3, release=release.rpartition(".")[0], configs=configs) as ours:
            sides = Sides(real.bootstrap, ours.bootstrap_servers)
            # The one whose configs count for topics: any node may have been elected.
            ours.state.controller = active_controller(real.bootstrap)
            yield from filter(None, map(unlisted, compare(sides, seed, steps)))


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release", nargs="?", default="4.3.1")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--steps", type=int, default=150)
    arguments = parser.parse_args()
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for difference in unlisted_differences(
            Path(folder), arguments.release, seed=arguments.seed, steps=arguments.steps
        ):
            count += 1
            print(difference, flush=True)
    print(f"{arguments.steps} steps, {count} with differences that are not listed")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
