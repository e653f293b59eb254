"""What the start of a cluster makes, and its end closes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.kept_files import KeptFileError
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.server.answers import Answers
from kafka_admin_proto.server.arguments.resolved_settings import Settings
from kafka_admin_proto.server.brokers.lifecycle import Lifecycle
from kafka_admin_proto.server.brokers.registration import (
    Registration,
    fence,
    first_records,
    new_cluster_id,
    register,
)
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.clock import Clock, Timers
from kafka_admin_proto.server.inspection.asked_requests import AskedRequests
from kafka_admin_proto.server.network.connection import NodeConnection
from kafka_admin_proto.server.network.limits import ConnectionLimiter
from kafka_admin_proto.server.network.node import Listener, Node
from kafka_admin_proto.server.network.service import Service
from kafka_admin_proto.server.network.turns import Turns
from kafka_admin_proto.server.network.waits import Waits
from kafka_admin_proto.server.state import State

if TYPE_CHECKING:
    from kafka_admin_proto.server.faults.faults import ClusterFaults
    from kafka_admin_proto.server.log.cluster_log import ClusterLog

#: What is read of a socket at once, less with TLS. A batch of 1 MB takes two reads, each in a turn
#: of the loop. A buffer of its own for each large frame was measured: hardly faster, and no less
#: memory.
_RECEIVE_BYTES = 512 << 10
#: The ``log.dirs`` of a node whose log is in memory, without the node's id at its end.
_NO_FOLDER = "/tmp/kafka-logs-"


class Parts:
    """The nodes of a cluster, its state and what else it consists of while it runs.

    A part is None until a start has made it, and stays when the cluster has ended. ``faults`` may
    be there before the first start.
    """

    def __init__(self, settings: Settings, clock: Clock, requests: AskedRequests) -> None:
        self.nodes: dict[int, Node] = {}
        self.state: State | None = None
        self.views: Views | None = None
        self.service: Service | None = None
        self.lifecycle: Lifecycle | None = None
        self.faults: ClusterFaults | None = None
        self._settings = settings
        self._clock = clock
        self._timers = Timers(clock)
        self._requests = requests
        self._log: ClusterLog | None = None

    async def start(self) -> None:
        """Make all parts. One that fails leaves nothing open; `Cluster.start` has the errors."""
        try:
            await self._make()
        except BaseException as error:
            try:
                await self._close()
            except SettingsError as failure:
                error.add_note(str(failure))
            finally:
                self._close_log()
            raise

    async def end(self) -> None:
        """Close all parts. Raises SettingsError for a policy that cannot be closed, at the end."""
        if self.lifecycle is not None:
            self.lifecycle.end()
        try:
            await self._close()
        finally:
            try:
                if self._log is not None and self.state is not None and self.state.quorum.available:
                    fence(self.state)
            except (OSError, KeptFileError) as error:  # all acknowledged records are on disk
                SERVER.warning("the end is not in the metadata log: %s", error)
            finally:
                self._close_log()

    async def _make(self) -> None:
        self.nodes = self._settings.nodes()
        given, nodes = self._settings, self.nodes.values()
        for node in nodes:
            node.bind()
        state = self.state = self._new_state()
        if given.acls:
            from kafka_admin_proto.server.security.authorizer.files import records_of

            state.append(records_of(given.acls, state.cluster))
        if given.security is not None:
            await given.security.read_keys(self._clock)
            await given.security.add_users(state)
        self._set_up(state)
        if given.topics:
            from kafka_admin_proto.server.arguments.initial_topics import create_topics

            create_topics(state, given.topics)
        views = self.views = Views(state)
        for each in self.nodes:
            views.delay(each, given.propagation_delay_s)
        limiter = ConnectionLimiter(
            given.network_limits, self._clock, state.broker_value, lambda: state.cluster.quotas
        )
        state.followers.append(lambda *_: limiter.follow_configs())
        service = self.service = Service(
            answers=Answers(views),
            apis=given.apis,
            limits=given.limits,
            buffer=memoryview(bytearray(_RECEIVE_BYTES)),
            trace=given.trace,
            limiter=limiter,
            waits=Waits(views),
            clock=self._clock,
            turns=Turns(self._clock),
            requests=self._requests,
            lost=state.shares.lost,
            dialect=given.dialect,
            faults=self.faults,
        )
        accept: Callable[[Node, Listener], asyncio.BaseProtocol] = partial(NodeConnection, service)
        if given.security is not None:
            accept = partial(given.security.accept, service, views)
        for node in nodes:
            await node.open(accept)
        self.lifecycle = Lifecycle(
            state,
            views,
            self.nodes if given.brokers else {},
            self._log,
            self._registered,
            lambda node: node.open(accept),
        )

    def _set_up(self, state: State) -> None:
        state.clock = self._clock
        state.sync_delay_s = self._settings.sync_delay_s
        state.rules = self._settings.rules
        state.later = self._timers.later
        state.apis = self._settings.apis
        state.partitions.keep_clean(self._timers)
        state.delegation_tokens.remove_expired(self._timers)
        state.coordinators.load()
        state.transactions.load()
        state.share_states.load()
        state.create_topic_policy, state.alter_config_policy = self._settings.policies.configure(
            state.static[state.controller]
        )

    def _new_state(self) -> State:
        if self._settings.data is not None:
            return self._on_disk()
        return self._in_memory() if self._settings.brokers else self._controller()

    def _controller(self) -> State:
        """The state of a controller whose brokers are processes of their own."""
        from kafka_admin_proto.server.quorum.starting import new_controller

        given, (node,) = self._settings, self.nodes.values()
        static = given.properties([node], [f"{_NO_FOLDER}{node.id}"])[node.id]
        registration = given.registration(node, uuid4())
        return new_controller(given.release, new_cluster_id(), static, registration, self._clock)

    def _in_memory(self) -> State:
        given, nodes = self._settings, self.nodes.values()
        static = given.properties(nodes, [f"{_NO_FOLDER}{each}" for each in self.nodes])
        state = State(given.release, new_cluster_id(), static)
        state.append(first_records(given.release))
        register(state, [given.registration(node, uuid4()) for node in nodes])
        return state

    def _on_disk(self) -> State:
        from kafka_admin_proto.server.log.opening import check_release, open_cluster, records_folder
        from kafka_admin_proto.server.log.settings import log_settings

        given, nodes = self._settings, self.nodes.values()
        assert given.data is not None
        settings = log_settings(given.configs, given.release)
        opened = open_cluster(given.data, given.brokers, new_cluster_id(), settings, self._clock)
        self._log = opened.log
        for note in opened.notes:
            SERVER.warning("%s", note)
        check_release(opened.state, given.release, given.data)
        static = given.properties(nodes, [str(each) for each in opened.folders])
        state = State(given.release, opened.cluster_id, static, opened.state, opened.log)
        opened.lead(state)
        fence(state)
        register(state, [given.registration(node, opened.directories[node.id]) for node in nodes])
        self.state = state
        for note in state.partitions.load(records_folder(given.data, given.brokers)):
            SERVER.warning("%s", note)
        return state

    def _registered(self, node: Node) -> Registration:
        """The registration of a node that was registered before."""
        assert self.state is not None
        directories = self.state.cluster.brokers[node.id].directories
        return self._settings.registration(node, directories[0])

    async def _close(self) -> None:
        """Close sockets and policies, and end all timers."""
        for node in self.nodes.values():
            await node.close()
            node.release()
        if self.service is not None:
            self.service.end()
        if self.state is not None:
            self.state.sessions.end()
            self.state.coordinators.end()
            self.state.transactions.end()
            self.state.shares.end()
            self.state.share_states.end()
        self._timers.end()
        self._clock.end()
        if self.views is not None:
            self.views.end()
        self._settings.policies.close()

    def _close_log(self) -> None:
        if self._log is None:
            return
        try:
            if self.state is not None:
                self.state.partitions.close(self.state.cluster.brokers[min(self.nodes)].epoch)
        except OSError as error:  # the next start checks the logs
            SERVER.warning("the logs of partitions are not all on disk: %s", error)
        finally:
            self._log.close()
            self._log = None
