"""Two clusters side by side: the same steps, and after each the same metadata and configs.

Run by hand as ``python -m tests.server.differential.run REAL OURS [--seed N] [--steps N]`` with
the bootstrap addresses of both.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from uuid import UUID

import msgspec

from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    describe_configs_request,
    incremental_alter_configs_request,
)
from kafka_admin_proto.values import Message
from tests.server.differential.comparison import comparable, differences
from tests.server.differential.requests import RESOURCES, Drawer, Step
from tests.server.differential.wire import Nodes

#: How long a real cluster may take until each of its brokers knows of a change.
_SETTLE_S = 6.0
_PAUSE_S = 0.05


class Difference(msgspec.Struct):
    """Where the clusters differ after a step, or in its answers."""

    step: int
    request: str
    lines: list[str]

    def __str__(self) -> str:
        return "\n   ".join([f"step {self.step}: {self.request}", *self.lines])


class Sides:
    """The two clusters, and what is known of both."""

    def __init__(self, real: str, ours: str) -> None:
        self.clusters = (Nodes(real), Nodes(ours))
        self.placed: set[str] = set()

    def versions(self) -> dict[int, tuple[int, int]]:
        """By api key what both take."""
        both = []
        for cluster in self.clusters:
            rows = cluster.ask(0, ApiVersionsRequest(), 0).api_keys
            both.append({row.api_key: (row.min_version, row.max_version) for row in rows})
        real, ours = both
        return {key: (max(real[key][0], low), min(real[key][1], high))
                for key, (low, high) in ours.items() if key in real}  # fmt: skip

    def names(self, cluster: Nodes, node: int = 0) -> dict[UUID, str]:
        """The topics of a cluster by id."""
        answer = cluster.ask(node, MetadataRequest(topics=None), 12)
        return {each.topic_id: each.name for each in answer.topics}

    def ask(self, step: Step) -> list[str]:
        """Where the answers to a step differ."""
        shown = []
        for cluster in self.clusters:
            names = self.names(cluster)
            request = step.make({name: topic_id for topic_id, name in names.items()})
            answer = cluster.ask(step.node, request, step.version)
            after = {**names, **self.names(cluster)} if _creates(answer) else names
            shown.append(comparable(answer, _known(answer, after), self.placed))
        return differences(*shown)

    def settled(self, step: Step) -> list[str]:
        """Where metadata and configs differ on any node once the real cluster has settled."""
        lines: list[str] = []
        end = time.monotonic() + _SETTLE_S
        while time.monotonic() < end:
            lines = self._looked(step)
            if not lines:
                return []
            time.sleep(_PAUSE_S)
        return lines

    def _looked(self, step: Step) -> list[str]:
        lines = []
        for node in range(len(self.clusters[0].addresses)):
            resources = [(4, ""), (4, str(node + 1)), *step.touched]
            configs = DescribeConfigsRequest(
                resources=[
                    describe_configs_request.DescribeConfigsResource(kind, name, None)
                    for kind, name in dict.fromkeys(resources)
                    if kind != 32  # 3.9 knows none, and refuses a request that names one
                ],
                include_synonyms=True,
            )
            groups = DescribeConfigsRequest(
                [describe_configs_request.DescribeConfigsResource(32, each) for each in RESOURCES]
            )
            asked = ((MetadataRequest(topics=None), 12), (configs, 4), (groups, 4))
            for request, version in asked:
                shown = [
                    comparable(
                        cluster.ask(node, request, version), self.names(cluster, node), self.placed
                    )
                    for cluster in self.clusters
                ]
                lines += [f"node {node + 1}: {line}" for line in differences(*shown)]
        return lines

    def topics(self) -> list[str]:
        """The topics of the real cluster."""
        return sorted(self.names(self.clusters[0]).values())

    def clear(self) -> None:
        """Delete all topics of both, so that what follows starts alike."""
        for cluster in self.clusters:
            names = list(self.names(cluster).values())
            cluster.ask(0, DeleteTopicsRequest(topic_names=names, timeout_ms=20_000), 5)
            for node in range(len(cluster.addresses)):
                _reset_configs(cluster, node)
        self.placed.clear()
        time.sleep(1)


def _reset_configs(cluster: Nodes, node: int) -> None:
    """Take back what steps set for brokers, groups and subscriptions."""
    for kind, name in ((4, ""), (4, str(node + 1)), *((k, n) for k in (16, 32) for n in RESOURCES)):
        answer = cluster.ask(
            node,
            DescribeConfigsRequest([describe_configs_request.DescribeConfigsResource(kind, name)]),
            4,
        )
        own = {2, 3, 7, 8} if name == "" or kind > 4 else {2}
        changes = [
            incremental_alter_configs_request.AlterableConfig(each.name, 1, None)
            for each in answer.results[0].configs
            if each.config_source in own
        ]
        for change in changes:
            if change.name == "min.insync.replicas":
                change.config_operation, change.value = 0, "1"
        resource = incremental_alter_configs_request.AlterConfigsResource(kind, name, changes)
        cluster.ask(node, IncrementalAlterConfigsRequest([resource]), 1)


def _creates(answer: Message | None) -> bool:
    return answer is not None and answer.message_name == "CreateTopicsResponse"


def _known(answer: Message | None, names: dict[UUID, str]) -> dict[UUID, str]:
    """Ids of topics that were only validated, and so are in no metadata."""
    found = dict(names)
    if answer is not None and _creates(answer):
        for each in answer.topics:  # type: ignore[attr-defined]
            if each.topic_id.int:
                found[each.topic_id] = each.name
    return found


def compare(sides: Sides, seed: int, steps: int) -> Iterator[Difference]:
    """Every difference in so many drawn steps."""
    drawer = Drawer(seed, len(sides.clusters[0].addresses), sides.versions())
    existing = sides.topics()
    for number in range(steps):
        step = drawer.step(existing)
        sides.placed.update(step.placed)
        shown = f"node {step.node + 1} v{step.version} {step.make({})!r}"
        lines = sides.ask(step)
        if lines:
            yield Difference(number, shown, lines)
        lines = sides.settled(step)
        if lines:
            yield Difference(number, shown, [f"afterwards: {line}" for line in lines])
            sides.clear()
        existing = sides.topics()
        sides.placed &= {*existing}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("real")
    parser.add_argument("ours")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    sides = Sides(arguments.real, arguments.ours)
    sides.clear()
    count = 0
    start = time.monotonic()
    for difference in compare(sides, arguments.seed, arguments.steps):
        count += 1
        print(difference, flush=True)
    print(f"{arguments.steps} steps, {count} with differences, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
