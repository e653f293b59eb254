"""Nodes of a real cluster of three and of ours ended one after another, beyond a majority.

Run as ``python -m tests.server.differential.scenarios [RELEASE] [--without-controller]``, with
``--records`` for records that an unclean election loses. It fails at the first step after which
something differs, on a node that runs. ``--without-controller`` has a node wait for a controller
for a minute.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from pathlib import Path

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    ElectLeadersRequest,
    FetchRequest,
    IncrementalAlterConfigsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetForLeaderEpochRequest,
)
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafka_admin_proto.values import Message
from tests.server.differential.comparison import Comparison
from tests.server.differential.outages import OutageSides
from tests.server.differential.real_cluster import RELEASES, both_with_outages
from tests.server.differential.requests.drawing import TIMEOUT_MS, Step
from tests.server.handlers.records.asked import produced
from tools.kafka_releases import NEWEST

_MIN_IN_SYNC, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
#: Records of 1970 would go when a real broker first looks, half a minute after its start.
_RETENTION = "retention.ms"
#: Topic → the replicas of its partition, and configs.
_TOPICS: dict[str, tuple[list[int], dict[str, str]]] = {
    "all": ([1, 2, 3], {_MIN_IN_SYNC: "2"}),
    "all.three": ([2, 3, 1], {_MIN_IN_SYNC: "3"}),
    "one": ([2], {}),
    "two": ([2, 3], {_MIN_IN_SYNC: "2"}),
    "two.unclean": ([3, 2], {_UNCLEAN: "true", _RETENTION: "-1"}),
    "two.others": ([1, 2], {}),
}
#: How long an answer may take that a controller does not give.
_WAIT_S = 90.0
_PAUSE_S = 0.1


class Scenario:
    """Steps on both sides; one after which they differ raises AssertionError."""

    def __init__(self, sides: OutageSides) -> None:
        self._sides = sides

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

    def wait_for_leader(self, node: int, name: str) -> None:
        """Wait until a node leads the only partition of a topic, on both sides."""
        end = time.monotonic() + _WAIT_S
        request = MetadataRequest([MetadataRequestTopic(name=name)])
        for cluster in self._sides.clusters:
            while True:
                (topic,) = cluster.ask(node - 1, request, 9).topics
                if topic.partitions[0].leader_id == node:
                    break
                assert time.monotonic() < end, topic
                time.sleep(_PAUSE_S)

    def ask_in_vain(self, node: int, request: Message, version: int) -> None:
        """Send a node a request for the controller while no controller is active."""
        real, ours = (
            cluster.ask(node - 1, request, version, _WAIT_S) for cluster in self._sides.clusters
        )
        lines = Comparison(({}, {})).differences(real, ours)
        self._report(f"asked {node} in vain: {request!r}", lines)

    def _report(self, step: str, lines: list[str]) -> None:
        print(step, flush=True)
        assert not lines, "\n   ".join([step, *lines])


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


def lost_records(scenario: Scenario) -> None:
    """A replica that lacks records leads; what it says to those who have read them.

    Then it appends others in their place, which the former leader has when it is back.
    """
    name, leader, other = "two.unclean", 3, 2
    _produce(scenario, leader, name, -1)
    scenario.end(other, "kill")
    _produce(scenario, leader, name, -1)
    scenario.end(leader, "kill")
    scenario.start(other)
    scenario.wait_for_leader(other, name)
    _read(scenario, other, name)
    _produce(scenario, other, name, 1)
    _read(scenario, other, name)
    scenario.start(leader)
    for node in (other, leader):
        _read(scenario, node, name)


def _produce(scenario: Scenario, node: int, name: str, acks: int) -> None:
    scenario.ask(node, produced(name, b"v", b"v", acks=acks, timeout_ms=TIMEOUT_MS), 9)


def _read(scenario: Scenario, node: int, name: str) -> None:
    """Ask for records and epochs as consumers do that have read up to any offset."""
    scenario.ask(node, _listed(name), 5)
    for offset, epoch in itertools.product([0, 2, 3, 4], [-1, 0, 1, 2, 3, 4]):
        part = FetchPartition(0, -1, offset, epoch, -1, 1 << 20)
        topics = [FetchTopic(name, partitions=[part])]
        scenario.ask(node, FetchRequest(max_bytes=1 << 20, session_epoch=-1, topics=topics), 12)
    for epoch in range(6):
        row = OffsetForLeaderTopic(name, [OffsetForLeaderPartition(0, -1, epoch)])
        scenario.ask(node, OffsetForLeaderEpochRequest(-2, [row]), 4)


def _listed(name: str) -> ListOffsetsRequest:
    return ListOffsetsRequest(-1, 0, [ListOffsetsTopic(name, [ListOffsetsPartition(0, -1, -1)])])


def without_controller(scenario: Scenario) -> None:
    """What brokers answer by themselves, and what they wait for a controller with."""
    scenario.end(2, "stop")
    scenario.end(3, "stop")
    scenario.ask_in_vain(1, MetadataRequest(topics=[]), 9)
    topics = [CreatableTopic("x", 1, 1)]
    scenario.ask_in_vain(1, CreateTopicsRequest(topics, TIMEOUT_MS), 7)
    scenario.start(2)
    scenario.start(3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release", nargs="?", choices=RELEASES, default=NEWEST)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--without-controller", action="store_true")
    kind.add_argument("--records", action="store_true")
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
        elif arguments.records:
            lost_records(scenario)
        else:
            one_after_another(scenario, "stop")
            one_after_another(scenario, "kill")
            no_majority(scenario)
            unclean(scenario)
        print("no step with differences")


if __name__ == "__main__":
    main()
