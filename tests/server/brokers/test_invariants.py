"""Whatever ends and starts, leaders are in sync and alive, and epochs never fall."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from kafka_admin_proto.messages import (
    AlterPartitionReassignmentsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
)
from kafka_admin_proto.messages.alter_partition_reassignments_request import (
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopicConfig
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.records import ClusterState, replay
from kafka_admin_proto.records.metadata.entities import Partition
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.lifecycle import Lifecycle
from kafka_admin_proto.server.brokers.registration import Registration, first_records, register
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.log.opening import open_cluster
from kafka_admin_proto.server.log.settings import log_settings
from kafka_admin_proto.server.network.node import Listener, Node
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message
from tests.helpers.profile import draws
from tests.server.handlers.test_create_topics import topic
from tests.server.still_clock import StillClock

_BROKERS = 5
_STEPS = 25
#: Longer than sessions, elections of controllers and catching up take together.
_LONG_S = 60.0
_NAMES = st.sampled_from("abc")
_NODES = st.integers(1, _BROKERS)
_REPLICAS = st.lists(_NODES, min_size=1, max_size=3, unique=True)
_BOOLEANS = st.sampled_from(["false", "true"])


class _Ports:
    """A node without sockets."""

    def __init__(self, node: int) -> None:
        self.id = node

    def bind(self) -> None:
        pass

    def release(self) -> None:
        pass

    async def close(self) -> None:
        pass


class _Kept:
    """A log in memory."""

    def __init__(self) -> None:
        self.records: list[tuple[int, Message]] = []

    def append(self, records: Sequence[Message], offset: int) -> None:
        self.records += enumerate(records, offset)

    def applied(self, cluster: ClusterState) -> None:
        pass


async def _no_ports(node: Node) -> None:
    pass


class Cluster(RuleBasedStateMachine):
    """Nodes end and start, brokers are fenced, topics change, time passes."""

    release = "4.4"
    on_disk = False

    def __init__(self) -> None:
        super().__init__()
        self.loop, self.clock = asyncio.new_event_loop(), StillClock()
        self.epochs: dict[Any, tuple[int, ...]] = {}
        #: Whether a topic's min.insync.replicas was changed.
        self.reconfigured = False
        self.folder = tempfile.TemporaryDirectory()
        self.kept = _Kept()
        static = {each: {"node.id": str(each)} for each in range(1, _BROKERS + 1)}
        self.log = None
        if self.on_disk:
            opened = open_cluster(
                Path(self.folder.name),
                _BROKERS,
                "b25lIG9mIGEga2luZA",
                log_settings({}, ReleaseNumber(4, 3)),
                self.clock,
            )
            self.log = opened.log
            self.log.lead(1, list(static), 0)
        release = ReleaseNumber.parse(self.release)
        self.state = State(release, "x", static, log=self.log or self.kept)
        self.state.clock = self.clock
        if self.log is not None:
            self.state.pass_offset()
        self.state.append(first_records(release))
        register(self.state, [self.registration(each) for each in static])
        views = Views(self.state)
        nodes = {each: cast(Node, _Ports(each)) for each in static}
        self.loop.run_until_complete(self.begin(views, nodes))

    def registration(self, node: int) -> Registration:
        """Each node keeps its directory: it leads nothing that was in another one."""
        listeners = [Listener("PLAINTEXT", "h", "h", 9000 + node)]
        return Registration(node, listeners, None, UUID(int=1000 + node))

    async def begin(self, views: Views, nodes: dict[int, Node]) -> None:
        self.clock.start()
        self.nodes = Lifecycle(
            self.state, views, nodes, self.log, lambda node: self.registration(node.id), _no_ports
        )

    def pass_time(self, seconds: float) -> None:
        self.loop.run_until_complete(self.clock.advance(seconds))

    async def started(self, node: int) -> None:
        """A node waits until its last session is over."""
        starting = asyncio.ensure_future(self.nodes.start(node))
        while not starting.done():
            await self.clock.advance(1.0)
        await starting

    def ask(self, request: Message, version: int) -> None:
        """Let the controller do it, where there is one."""
        if self.state.quorum.available:
            assert request.api_key is not None

            async def asked() -> None:
                answer = respond(self.state, request.api_key or 0, request, Caller(1, version))
                self.state.append(answer.records)

            self.loop.run_until_complete(asked())

    @initialize(replicas=st.lists(_REPLICAS, min_size=1, max_size=3))
    def first(self, replicas: list[list[int]]) -> None:
        self.create("a", replicas, 2, "false")

    @rule(
        name=_NAMES,
        replicas=st.lists(_REPLICAS, min_size=1, max_size=3),
        least=st.integers(1, 3),
        unclean=_BOOLEANS,
    )
    def create(self, name: str, replicas: list[list[int]], least: int, unclean: str) -> None:
        wanted = topic(name, assignment=dict(enumerate(replicas)))
        wanted.configs = [
            CreatableTopicConfig("min.insync.replicas", str(least)),
            CreatableTopicConfig("unclean.leader.election.enable", unclean),
        ]
        self.ask(CreateTopicsRequest([wanted], timeout_ms=1000), 7)

    @rule(name=_NAMES)
    def delete(self, name: str) -> None:
        self.ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=1000), 5)

    @rule(name=_NAMES, least=st.integers(1, 3), unclean=_BOOLEANS)
    def configure(self, name: str, least: int, unclean: str) -> None:
        changes = [
            AlterableConfig("min.insync.replicas", 0, str(least)),
            AlterableConfig("unclean.leader.election.enable", 0, unclean),
        ]
        self.reconfigured = True
        row = AlterConfigsResource(2, name, changes)
        self.ask(IncrementalAlterConfigsRequest([row]), 1)

    @rule(name=_NAMES, replicas=st.none() | _REPLICAS)
    def reassign(self, name: str, replicas: list[int] | None) -> None:
        row = ReassignableTopic(name, [ReassignablePartition(0, replicas)])
        self.ask(AlterPartitionReassignmentsRequest(timeout_ms=1000, topics=[row]), 1)

    @rule(unclean=st.booleans())
    def elect(self, unclean: bool) -> None:
        self.ask(ElectLeadersRequest(int(unclean), None, timeout_ms=1000), 2)

    @rule(node=_NODES)
    def stop(self, node: int) -> None:
        self.loop.run_until_complete(self.nodes.stop(node))

    @rule(node=_NODES)
    def kill(self, node: int) -> None:
        self.loop.run_until_complete(self.nodes.kill(node))

    @rule(node=_NODES)
    def start(self, node: int) -> None:
        self.loop.run_until_complete(self.started(node))

    @rule(node=_NODES, fenced=st.booleans())
    def fence(self, node: int, fenced: bool) -> None:
        async def fence() -> None:
            (self.nodes.fence if fenced else self.nodes.unfence)(node)

        self.loop.run_until_complete(fence())

    @rule(seconds=st.sampled_from([0.05, 0.2, 3.0, 10.0, 400.0]))
    def wait(self, seconds: float) -> None:
        self.pass_time(seconds)

    def partitions(self) -> list[tuple[UUID, int, Partition]]:
        return [
            (topic.id, number, each)
            for topic in self.state.cluster.topics.values()
            for number, each in topic.partitions.items()
        ]

    @invariant()
    def leaders_are_in_sync_and_alive(self) -> None:
        brokers = self.state.cluster.brokers
        for _, _, each in self.partitions():
            assert each.leader == -1 or each.leader in each.isr
            assert each.leader == -1 or not brokers[each.leader].fenced
            assert {*each.isr} <= {*each.replicas}
            assert len({*each.isr, *each.elr}) == len(each.isr) + len(each.elr)
            assert len(each.last_known_elr) <= 1
            if each.leader >= 0 or self.release == "4.4":
                assert not any(brokers[one].fenced for one in each.isr)
            if self.release == "4.4":
                assert each.isr == [] or each.leader >= 0

    @invariant()
    def epochs_never_fall(self) -> None:
        now: dict[Any, tuple[int, ...]] = {
            (topic_id, number): (each.leader_epoch, each.partition_epoch)
            for topic_id, number, each in self.partitions()
        }
        now |= {each.id: (each.epoch,) for each in self.state.cluster.brokers.values()}
        now["controller"] = (self.state.quorum.epoch, self.state.cluster.offset)
        for name, epochs in now.items():
            before = self.epochs.get(name, epochs)
            assert all(old <= new for old, new in zip(before, epochs, strict=True)), name
        self.epochs = now

    @invariant()
    def a_controller_runs_and_has_a_majority(self) -> None:
        quorum = self.state.quorum
        ended = sum(self.nodes.state_of(each) == "ended" for each in self.state.static)
        if quorum.available:
            assert self.nodes.state_of(quorum.controller) != "ended"
            assert ended <= _BROKERS // 2

    def teardown(self) -> None:
        """Everything is well again when all nodes run, and the log says what the cluster is."""
        try:
            for each in self.state.static:
                self.fence(each, False)
                self.start(each)
            self.pass_time(_LONG_S)
            leaderless = [each for _, _, each in self.partitions() if each.leader == -1]
            if leaderless:
                # By Kafka's rule a change of min.insync.replicas forgets who is eligible: where no
                # replica is in sync, no clean election finds a leader after it. The same goes for a
                # partition whose only eligible broker is one that a reassignment removed.
                assert self.reconfigured or all(
                    each.elr and not {*each.elr} & {*each.replicas} for each in leaderless
                )
                self.elect(True)
                self.pass_time(_LONG_S)
            for _, _, partition in self.partitions():
                assert partition.leader in partition.isr
                assert {*partition.isr} == {*partition.replicas}
                # By Kafka's rule a reassignment that is changed may both add and remove a
                # replica: in 4.3 it goes on until it is cancelled.
                if not {*partition.adding_replicas} & {*partition.removing_replicas}:
                    assert partition.adding_replicas == partition.removing_replicas == []
                assert partition.last_known_elr == []
                # Kafka's rule lets a replica that a reassignment removes become eligible.
                assert not {*partition.elr} & {*partition.replicas}
            self.check_log()
            self.loop.run_until_complete(self.end())
        finally:
            if self.log is not None:
                self.log.close()
            self.loop.close()
            self.folder.cleanup()

    def check_log(self) -> None:
        state = self.state.cluster.items()
        if self.log is None:
            again = MetadataReplay()
            for offset, record in self.kept.records:
                assert again.apply(record, offset, 1) == []
            assert again.state.items() == state
            return
        for each in range(1, _BROKERS + 1):
            found = replay(Path(self.folder.name) / str(each) / "__cluster_metadata-0")
            assert not found.problems
            assert found.state.items() == state
            assert found.leader is not None
            assert found.leader.epoch == self.state.quorum.epoch

    async def end(self) -> None:
        self.nodes.end()


class ClusterOf39(Cluster):
    release = "3.9"


class ClusterOnDisk(Cluster):
    on_disk = True


@pytest.mark.exhaustive
@pytest.mark.parametrize("cluster", [Cluster, ClusterOf39, ClusterOnDisk])
def test_drawn_ends_and_starts(cluster: type[Cluster]) -> None:
    examples = draws(24 if cluster.on_disk else 120)
    run_state_machine_as_test(
        cluster,
        settings=settings(
            max_examples=examples,
            stateful_step_count=_STEPS,
            deadline=None,
            phases=[Phase.generate],
            report_multiple_bugs=False,
        ),
    )


def test_a_change_of_the_least_in_sync_forgets_who_is_eligible() -> None:
    """A drawn run found it: all replicas are back, and none of them may lead."""
    cluster = Cluster()
    try:
        cluster.create("b", [[4, 1, 5]], 3, "true")
        cluster.kill(4)
        cluster.fence(1, True)
        cluster.wait(400.0)
        cluster.fence(5, True)
        cluster.configure("b", 1, "false")
        for node in (1, 4, 5):
            cluster.start(node)
            cluster.fence(node, False)
        cluster.wait(400.0)
        ((_, _, partition),) = cluster.partitions()
        assert (partition.leader, partition.isr) == (-1, [])
        assert partition.elr == partition.last_known_elr == []
        cluster.elect(True)
        cluster.wait(400.0)
        ((_, _, partition),) = cluster.partitions()
        assert partition.leader in partition.isr
    finally:
        cluster.teardown()
