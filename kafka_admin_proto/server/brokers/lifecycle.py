"""Stopping, killing, starting and fencing nodes, and when the other nodes notice it.

A node is broker and controller in one. ``brokers/replicas.py`` has the effects on partitions, and
``brokers/controllers.py`` those on the controllers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.messages import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
)
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.brokers import replicas
from kafka_admin_proto.server.brokers.controllers import Controllers
from kafka_admin_proto.server.brokers.registration import (
    Registration,
    broker_record,
    controller_record,
    registered,
)
from kafka_admin_proto.server.clock import Timers
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.views import Views
    from kafka_admin_proto.server.log.cluster_log import ClusterLog
    from kafka_admin_proto.server.network.node import Node
    from kafka_admin_proto.server.state import State
#: States of a node. A starting node waits until a controller registers it.
BrokerState = Literal["running", "fenced", "starting", "ended"]


@dataclass
class _Ended:
    """A node that serves no clients: stopped (``cleanly``) or killed, and perhaps ``starting``."""

    cleanly: bool
    starting: asyncio.Future[None] | None = None


class Lifecycle:
    """The nodes of a cluster that may end and start again.

    ``registration`` says what a node registers with, and ``serve`` opens a node's ports that are
    bound.
    """

    def __init__(
        self,
        state: State,
        views: Views,
        nodes: Mapping[int, Node],
        log: ClusterLog | None,
        registration: Callable[[Node], Registration],
        serve: Callable[[Node], Awaitable[None]],
    ) -> None:
        self._state = state
        self._views = views
        self._nodes = nodes
        self._registration = registration
        self._serve = serve
        self._controllers = Controllers(state, log, nodes, self._elected)
        self._ended: dict[int, _Ended] = {}
        self._kept_fenced: set[int] = set()
        self._timers = Timers(state.clock)
        self._sessions = Timers(state.clock)
        self._tasks: set[asyncio.Task[None]] = set()
        self._catching_up = False
        self._appended((), 0)
        state.followers.append(self._appended)
        if state.broker_value("auto.leader.rebalance.enable"):
            self._repeat(state.broker_value("leader.imbalance.check.interval.seconds"),
                         replicas.elect_preferred)  # fmt: skip
        self._repeat(state.broker_value("unclean.leader.election.interval.ms") / 1000,
                     replicas.elect_unclean)  # fmt: skip
        # Kafka's leaders look for late replicas twice in the time that these have.
        self._repeat(max(1, state.broker_value("replica.lag.time.max.ms")) / 2000,
                     lambda state: replicas.shrink(state, self.runs))  # fmt: skip
        state.partitions.changed.append(self._replicated)

    def runs(self, node: int) -> bool:
        """Whether a node of this process serves clients: it was neither stopped nor killed.

        Brokers in processes of their own say by AlterPartition what their replicas have.
        """
        return node in self._nodes and node not in self._ended

    def state_of(self, node: int) -> BrokerState:
        ended = self._ended.get(node)
        if ended is not None:
            return "ended" if ended.starting is None else "starting"
        return "fenced" if self._state.cluster.brokers[node].fenced else "running"

    async def stop(self, node: int) -> None:
        """Stop a node as SIGTERM does: other brokers lead first, then its clients are cut off.

        A node that has ended stays as it is.
        """
        if self.runs(node) and self._can_fence(node):
            self._state.append(replicas.begin_controlled_shutdown(self._state, node))
            self._fence(node)
        await self._end(node, cleanly=True)

    async def kill(self, node: int) -> None:
        """Kill a node as SIGKILL does: the others notice when its session times out."""
        await self._end(node, cleanly=False)

    async def start(self, node: int) -> None:
        """Start a node that has ended, on its ports; it serves when this returns.

        The controller registers it when its last session is over. If too few controllers run,
        this returns earlier, and the node serves once enough of them run. Raises OSError if a port
        is in use by now, and MetadataLogError if the node's log cannot be read any more.
        """
        ended = self._ended.get(node)
        if ended is None or ended.starting is not None:
            return
        self._nodes[node].bind()
        try:
            self._controllers.came(node)
        except BaseException:  # its log cannot be read, for example
            self._nodes[node].release()
            raise
        starting = ended.starting = asyncio.get_running_loop().create_future()
        self._register_starting()
        if self._state.quorum.available:
            await starting

    def fence(self, node: int) -> None:
        """Let the controller fence a broker until ``unfence``, although the broker runs."""
        self._kept_fenced.add(node)
        self._fence(node)

    def unfence(self, node: int) -> None:
        """End the fencing of a broker that runs."""
        self._kept_fenced.discard(node)
        if self.runs(node) and self._state.quorum.available:
            self._unfence(node)

    def end(self) -> None:
        """Stop all timers: the cluster has ended."""
        self._timers.end()
        self._sessions.end()
        self._controllers.end()
        self._state.followers.remove(self._appended)
        self._state.partitions.changed.remove(self._replicated)
        for each in self._tasks:
            each.cancel()
        for ended in self._ended.values():
            if ended.starting is not None:
                ended.starting.cancel()

    # Ends and starts.

    async def _end(self, node: int, *, cleanly: bool) -> None:
        ended = self._ended.get(node)
        if ended is None or ended.starting is not None:
            SERVER.info("broker %d is %s", node, "stopped" if cleanly else "killed")
        if ended is not None:
            if ended.starting is not None:  # its start is not complete
                self._nodes[node].release()
                ended.starting.set_result(None)
                ended.starting = None
                self._controllers.left(node, clean=cleanly)
            return
        self._ended[node] = _Ended(cleanly)
        self._state.partitions.left(node)
        self._state.byte_rates.pop(node, None)
        self._state.coordinators.left(node)
        self._state.transactions.left(node)
        self._state.shares.left(node)
        self._state.share_states.left(node)
        self._controllers.left(node, clean=cleanly)
        self._watch_session(node)
        await self._nodes[node].close()

    def _register_starting(self) -> None:
        """Register the nodes that have started and whose last sessions are over."""
        for node, ended in list(self._ended.items()):
            fenced = self._state.cluster.brokers[node].fenced
            if ended.starting is not None and fenced and self._state.quorum.available:
                del self._ended[node]
                self._state.partitions.came(node)
                self._register(node, cleanly=ended.cleanly)
                task = asyncio.get_running_loop().create_task(self._open(node, ended.starting))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _register(self, node: int, *, cleanly: bool) -> None:
        state, registration = self._state, self._registration(self._nodes[node])
        state.append([controller_record(state, registration)])
        broker = broker_record(state, registration, state.end_offset)
        state.append(registered(state, broker, clean=cleanly))
        self._views.catch_up(node)
        if node not in self._kept_fenced:
            self._unfence(node)

    async def _open(self, node: int, starting: asyncio.Future[None]) -> None:
        try:
            await self._serve(self._nodes[node])
        except OSError as error:
            starting.set_exception(error)
        else:
            SERVER.info("broker %d is started", node)
            starting.set_result(None)

    # Sessions.

    def _can_fence(self, node: int) -> bool:
        return self._state.quorum.available and not self._state.cluster.brokers[node].fenced

    def _fence(self, node: int) -> None:
        if self._can_fence(node):
            self._state.append(replicas.fence(self._state, node))
            SERVER.info("broker %d is fenced", node)

    def _unfence(self, node: int) -> None:
        if self._state.cluster.brokers[node].fenced:
            self._state.append(replicas.unfence(self._state, node))
            SERVER.info("broker %d is unfenced", node)

    def _watch_session(self, node: int) -> None:
        """Fence a killed node when its session times out."""

        def is_over() -> None:
            if not self.runs(node):
                self._fence(node)
                self._register_starting()

        if self._can_fence(node):
            self._sessions.later(
                self._state.broker_value("broker.session.timeout.ms") / 1000, is_over
            )

    def _elected(self) -> None:
        """A controller was elected, which gives each broker a new session."""
        self._sessions.end()
        for node in self._nodes:
            if node in self._kept_fenced:
                self._fence(node)
            elif self.runs(node):
                self._unfence(node)
            else:
                self._watch_session(node)
        self._register_starting()
        self._appended((), 0)
        waiting, self._state.quorum.waiting = self._state.quorum.waiting, []
        for go_on in waiting:
            go_on()

    # Work that no request starts.

    def _appended(self, records: Sequence[Message], offset: int) -> None:
        """Let replicas that can catch up join the ISR after ``sync_delay_s``."""
        state = self._state
        if self._catching_up or not state.out_of_sync or not self._may_join(records):
            return
        self._catching_up = True
        self._timers.later(state.sync_delay_s, self._catch_up)

    def _replicated(self, key: tuple[UUID, int]) -> None:
        """A partition has changed: a replica that was late may have caught up."""
        late = self._state.out_of_sync
        if late and key in late and not self._catching_up:
            topic = self._state.topic_by_id(key[0])
            if topic is not None and self._is_joinable(topic, key[1]):
                self._appended((), 0)

    def _is_joinable(self, topic: Topic, number: int) -> bool:
        return bool(replicas.joinable(self._state, topic, number, self.runs))

    def _may_join(self, records: Sequence[Message]) -> bool:
        """Whether these records may let a replica join an ISR; True without records."""
        for record in records:
            if isinstance(record, BrokerRegistrationChangeRecord):
                return True
            if isinstance(record, PartitionRecord | PartitionChangeRecord):
                topic = self._state.topic_by_id(record.topic_id)
                if topic is not None and self._is_joinable(topic, record.partition_id):
                    return True
        return not records

    def _catch_up(self) -> None:
        self._catching_up = False
        if self._state.quorum.available:
            replicas.catch_up(self._state, self.runs)

    def _repeat(self, interval_s: float, elect: Callable[[State], list[Message]]) -> None:
        """Append what has changed at an interval: elections, and replicas that are late."""

        def due() -> None:
            if self._state.quorum.available:
                self._state.append(elect(self._state))
            self._timers.later(interval_s, due)

        self._timers.later(interval_s, due)
