"""Nodes of a real cluster of three and of ours ended one after another, beyond a majority.

Run as ``python -m tests.server.differential.scenarios [4.3.1|3.9.2] [--without-controller]``. It
ends with 1 when something differs after a step, on a node that runs. ``--without-controller`` has
a node wait for a controller for a minute.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.values import Message
from tests.server.differential.comparison import Comparison
from tests.server.differential.outages import OutageSides
from tests.server.differential.real_cluster import RELEASES, both_with_outages
from tests.server.differential.requests.drawing import TIMEOUT_MS, Step
from tools.clusters import NEWEST_BROKER

_MIN_IN_SYNC, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
#: Topic → the replicas of its partition, and configs.
_TOPICS: dict[str, tuple[list[int], dict[str, str]]] = {
    "all": ([1, 2, 3], {_MIN_IN_SYNC: "2"}),
    "all.three": ([2, 3, 1], {_MIN_IN_SYNC: "3"}),
    "one": ([2], {}),
    "two": ([2, 3], {_MIN_IN_SYNC: "2"}),
    "two.unclean": ([3, 2], {_UNCLEAN: "true"}),
    "two.others": ([1, 2], {}),
}
#: How long an answer may take that a controller does not give.
_WAIT_S = 90.0


class Scenario:
    """Steps on both sides, and what differs after each."""

    def __init__(self, sides: OutageSides) -> None:
        self._sides = sides
        self.differences = 0

    def ask(self, node: int, request: Message, version: int) -> None:
        """Ask a node, by its id, of both clusters."""
        self._report(f"asked {node}: {request!r}",
                     self._sides.take(Step(node - 1, version, lambda _: request)))  # fmt: skip

    def end(self, node: int, outage: str) -> None:
        """Stop or kill a node."""
        self._sides.end(node - 1, outage)
        self._report(f"{outage} {node}", self._sides.settled())

    def start(self, node: int) -> None:
        """Start a node that has ended."""
        self._sides.start(node - 1)
        self._report(f"start {node}", self._sides.settled())

    def ask_in_vain(self, node: int, request: Message, version: int) -> None:
        """Send a node a request for the controller while no controller is active."""
        real, ours = (
            cluster.ask(node - 1, request, version, _WAIT_S) for cluster in self._sides.clusters
        )
        lines = Comparison(({}, {})).differences(real, ours)
        self._report(f"asked {node} in vain: {request!r}", lines)

    def _report(self, step: str, lines: list[str]) -> None:
        self.differences += bool(lines)
        print("\n   ".join([step, *lines]), flush=True)


def create(scenario: Scenario) -> None:
    """The topics, with their replicas."""
    topics = [
        CreatableTopic(name, -1, -1, [CreatableReplicaAssignment(0, replicas)],
                       [CreatableTopicConfig(*each) for each in configs.items()])
        for name, (replicas, configs) in _TOPICS.items()
    ]  # fmt: skip
    scenario.ask(1, CreateTopicsRequest(topics, TIMEOUT_MS), 7)


def one_after_another(scenario: Scenario, outage: str) -> None:
    """Each node ends while the others run; then leaders are given back."""
    for node in (1, 2, 3):
        scenario.end(node, outage)
        scenario.ask(node % 3 + 1, MetadataRequest(topics=[]), 0)
        scenario.start(node)
    scenario.ask(1, ElectLeadersRequest(0, None, TIMEOUT_MS), 2)


def no_majority(scenario: Scenario) -> None:
    """Two nodes end: the last one's knowledge stays as it is, until one of them is back."""
    for outage in ("stop", "kill"):
        scenario.end(2, outage)
        scenario.end(3, "stop")
        scenario.start(2)  # not in sync with what the third one led
        scenario.ask(1, ElectLeadersRequest(0, None, TIMEOUT_MS), 2)
        scenario.ask(1, ElectLeadersRequest(1, None, TIMEOUT_MS), 2)
        scenario.start(3)


def unclean(scenario: Scenario) -> None:
    """A config is changed while a partition has no leader, then a replica comes back."""
    row = AlterConfigsResource(2, "two", [AlterableConfig(_UNCLEAN, 0, "true")])
    scenario.ask(1, IncrementalAlterConfigsRequest([row]), 1)
    scenario.end(3, "stop")
    scenario.end(2, "stop")
    scenario.start(3)
    scenario.start(2)


def without_controller(scenario: Scenario) -> None:
    """What brokers answer by themselves, and what they wait for a controller with."""
    scenario.end(2, "stop")
    scenario.end(3, "stop")
    scenario.ask_in_vain(1, MetadataRequest(topics=[]), 9)
    topics = [CreatableTopic("x", 1, 1)]
    scenario.ask_in_vain(1, CreateTopicsRequest(topics, TIMEOUT_MS), 7)
    scenario.start(2)
    scenario.start(3)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release", nargs="?", choices=RELEASES, default=NEWEST_BROKER)
    parser.add_argument("--without-controller", action="store_true")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        both_with_outages(Path(folder), arguments.release) as sides,
    ):
        scenario = Scenario(sides)
        sides.reset()
        create(scenario)
        if arguments.without_controller:
            without_controller(scenario)
        else:
            one_after_another(scenario, "stop")
            one_after_another(scenario, "kill")
            no_majority(scenario)
            unclean(scenario)
        print(f"{scenario.differences} steps with differences")
    return int(scenario.differences > 0)


if __name__ == "__main__":
    sys.exit(main())
