"""A cluster in this process, with real sockets and brokers 1 to N, that answers as Kafka does.

    async with Cluster(brokers=3) as cluster:
        cluster.bootstrap_servers       # "127.0.0.1:40001,127.0.0.1:40002,127.0.0.1:40003"

``SyncCluster`` is the same for code without an event loop: it runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self
from uuid import UUID, uuid4

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.server.answers import Answers
from kafka_admin_proto.server.brokers.lifecycle import BrokerState, Lifecycle
from kafka_admin_proto.server.brokers.registration import (
    Registration,
    fence,
    first_records,
    new_cluster_id,
    register,
)
from kafka_admin_proto.server.brokers.timers import Timers
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.configs.properties import properties_of_nodes
from kafka_admin_proto.server.handlers import DIALECTS, served_apis
from kafka_admin_proto.server.network.connection import NodeConnection
from kafka_admin_proto.server.network.limits import (
    ConnectionLimiter,
    NetworkLimits,
    frame_bytes,
    limits_of,
)
from kafka_admin_proto.server.network.node import Listener, Node
from kafka_admin_proto.server.network.service import Service, Trace
from kafka_admin_proto.server.state import State

if TYPE_CHECKING:
    from kafka_admin_proto.records.metadata.entities import Acl
    from kafka_admin_proto.server.faults.faults import Faults
    from kafka_admin_proto.server.log.cluster_log import ClusterLog
    from kafka_admin_proto.server.security.access import Security
    from kafka_admin_proto.server.topics.policies import AlterConfigPolicy, CreateTopicPolicy

_RECEIVE_BYTES = 64 << 10
#: The ``log.dirs`` of a node whose log is in memory, without the node's id at its end.
_NO_FOLDER = "/tmp/kafka-logs-"
#: The values of ``rules``.
Rules = Literal["shipped", "kip-4", "kip-4a", "kip-4b"]
_NOT_STARTED = "the cluster has not been started; enter it first"
#: The listeners of a cluster by default.
_LISTENERS = {"PLAINTEXT": "PLAINTEXT"}


class Cluster:
    """A reference cluster of ``brokers`` nodes, each broker and controller.

    ``port`` is the first node's, the others have the next ones, and each further listener those
    behind them; 0 takes free ones. ``listeners`` are the security protocols of the listeners by
    name, and ``users`` the passwords of users who log in by SASL. ``acls`` say who may do what, by
    the names of Kafka's constants (``server/security/authorizer/files.py``). ``configs``
    are configs of every broker, as in its properties file; ``racks`` those of the nodes in their
    order. New replicas of a partition are in sync after ``sync_delay_s`` seconds. Each broker
    answers from its own view of the metadata log, which is ``propagation_delay_s`` behind.
    ``rules`` are those of CreateTopics, or with ``kip-4a`` and ``kip-4b`` a draft's messages beside
    Kafka's own (``server/handlers/drafts``). The policies are asked as KIP-108 has it.
    ``api_versions`` are those of apis by name that it has not all of ("0-9"), or not at all
    ("none"), as an older cluster.
    ``limits`` are those of each connection, and ``network_limits`` those of all together, by the
    configs where they are not given.
    ``trace`` is called with each request and its response. With ``data`` the metadata log
    is kept in that folder, in Kafka's format, and a cluster that is there already goes on; without
    it the cluster is in memory and ends with its context.
    """

    def __init__(
        self,
        brokers: int = 1,
        *,
        release: str = "4.3",
        host: str = "127.0.0.1",
        advertised_host: str | None = None,
        port: int = 0,
        listeners: Mapping[str, str] = _LISTENERS,
        users: Mapping[str, str] | None = None,
        acls: Sequence[Mapping[str, str]] = (),
        configs: Mapping[str, str] | None = None,
        racks: Sequence[str] = (),
        data: str | os.PathLike[str] | None = None,
        sync_delay_s: float = 0.1,
        propagation_delay_s: float = 0.0,
        rules: Rules = "shipped",
        create_topic_policy: CreateTopicPolicy | None = None,
        alter_config_policy: AlterConfigPolicy | None = None,
        api_versions: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        network_limits: NetworkLimits | None = None,
        trace: Trace | None = None,
    ) -> None:
        if brokers < 1:
            raise ValueError(f"a cluster has one broker or more, not {brokers}")
        if racks and len(racks) != brokers:
            raise ValueError(f"{len(racks)} racks for {brokers} brokers; name one for each")
        if rules in DIALECTS and (acls or "authorizer.class.name" in (configs or {})):
            raise SettingsError(
                f"the draft {rules} says nothing of who may do what; leave authorizer.class.name "
                "and ACLs out"
            )
        self._brokers = brokers
        self._release = release
        self._host = host
        self._advertised = advertised_host or host
        self._port = port
        self._configs = dict(configs or {})
        self._listeners: Mapping[str, str] = _LISTENERS
        self._security: Security | None = None
        if limits is None:
            largest = frame_bytes(self._configs, release)
            limits = Limits() if largest is None else Limits(frame_bytes=largest)
        self._limits = limits
        self._network_limits = network_limits or limits_of(self._configs, release)
        if listeners != _LISTENERS or users:
            from kafka_admin_proto.server.security.access import Security

            self._security = Security(listeners, users or {}, self._configs, release, limits)
            self._listeners = self._security.protocols
            self._configs = {**self._security.configs, **self._configs}
        self._acls: list[Acl] = []
        if acls:
            from kafka_admin_proto.server.security.authorizer.files import AUTHORIZED, acls_of

            self._acls = acls_of(acls)
            self._configs = {**AUTHORIZED, **self._configs}
        self._racks = racks
        self._sync_delay_s = sync_delay_s
        self._propagation_delay_s = propagation_delay_s
        self._rules = rules
        self._create_topic_policy = create_topic_policy
        self._alter_config_policy = alter_config_policy
        self._data = None if data is None else Path(data)
        self._log: ClusterLog | None = None
        self._trace = trace
        self._apis = served_apis(release, rules)
        if api_versions:
            from kafka_admin_proto.server.faults.older import with_versions

            self._apis = with_versions(self._apis, api_versions)
        self._faults: Faults | None = None
        self._service: Service | None = None
        self._nodes: dict[int, Node] = {}
        self._state: State | None = None
        self._views: Views | None = None
        self._lifecycle: Lifecycle | None = None
        self._timers = Timers()

    @property
    def bootstrap_servers(self) -> str:
        """host:port of every node's first listener, separated by commas."""
        return self.addresses(next(iter(self._listeners)))

    @property
    def listeners(self) -> Sequence[str]:
        """The names of the listeners, the first one first."""
        return list(self._listeners)

    def addresses(self, listener: str) -> str:
        """host:port of every node's listener of that name, separated by commas."""
        if listener not in self._listeners:
            raise ValueError(f"no listener {listener!r}; there are {', '.join(self._listeners)}")
        found = [node.listeners[listener] for node in self._nodes.values()]
        return ",".join(f"{each.advertised_host}:{each.port}" for each in found)

    @property
    def state(self) -> State:
        """The cluster's state, as its metadata log makes it."""
        if self._state is None:
            raise RuntimeError(_NOT_STARTED)
        return self._state

    @property
    def views(self) -> Views:
        """Each broker's view of the cluster."""
        if self._views is None:
            raise RuntimeError(_NOT_STARTED)
        return self._views

    @property
    def faults(self) -> Faults:
        """The faults of the cluster, added and removed in any thread, also before the start."""
        if self._faults is None:
            from kafka_admin_proto.server.faults.faults import Faults

            self._faults = Faults()
            if self._service is not None:
                self._service.faults = self._faults
        return self._faults

    def delay_metadata(self, delay_s: float, broker: int | None = None) -> None:
        """Let a broker, or all, see changes so many seconds after they were made.

        With 0 the broker has seen everything when this returns; ``math.inf`` holds it back until
        another delay is set.
        """
        views = self.views
        if not delay_s >= 0:  # NaN is no delay either
            raise ValueError(f"a delay is 0 or more seconds, not {delay_s}")
        for each in self._nodes if broker is None else (self._node(broker).id,):
            views.delay(each, delay_s)

    async def start(self) -> None:
        """Listen on every port. Raises OSError if a port cannot be bound."""
        nodes = [
            Node(node_id, [*self._node_listeners(index)])
            for index, node_id in enumerate(range(1, self._brokers + 1))
        ]
        try:
            for node in nodes:
                node.bind()
            self._nodes = {node.id: node for node in nodes}
            state = self._state = self._in_memory() if self._data is None else self._on_disk()
            if self._acls:
                from kafka_admin_proto.server.security.authorizer.files import records_of

                state.append(records_of(self._acls, state.cluster))
            if self._security is not None:
                await self._security.add_users(state)
        except BaseException:
            if self._log is not None:
                self._log.close()
                self._log = None
            for node in nodes:
                node.release()
            raise
        self._set_up(state)
        views = self._views = Views(state)
        self.delay_metadata(self._propagation_delay_s)
        service = self._service = Service(
            Answers(views),
            self._apis,
            self._limits,
            memoryview(bytearray(_RECEIVE_BYTES)),
            self._trace,
            ConnectionLimiter(self._network_limits),
            self._rules if self._rules in DIALECTS else "kafka",
            self._faults,
        )
        accept: Callable[[Node, Listener], asyncio.BaseProtocol] = partial(NodeConnection, service)
        if self._security is not None:
            accept = partial(self._security.accept, service, views)
        for node in nodes:
            await node.open(accept)
        self._lifecycle = Lifecycle(
            state, views, self._nodes, self._log, self._registered, lambda node: node.open(accept)
        )

    def _set_up(self, state: State) -> None:
        state.sync_delay_s = self._sync_delay_s
        state.rules = self._rules
        state.later = self._timers.later
        state.apis = self._apis
        state.create_topic_policy = self._create_topic_policy
        state.alter_config_policy = self._alter_config_policy
        for policy in (self._create_topic_policy, self._alter_config_policy):
            if policy is not None:
                policy.configure(state.static[state.controller])

    async def stop_broker(self, broker: int) -> None:
        """Stop a node as SIGTERM does: other brokers lead first, then its clients are cut off."""
        await self._started.stop(self._node(broker).id)

    async def kill_broker(self, broker: int) -> None:
        """Kill a node as SIGKILL does: it is fenced after ``broker.session.timeout.ms``."""
        await self._started.kill(self._node(broker).id)

    async def start_broker(self, broker: int) -> None:
        """Start a node that has ended, on its ports. It serves when this returns.

        A node that was killed is registered when its last session is over. While less than a
        majority of the nodes runs there is no controller, and this returns before the node serves.
        Raises OSError if a port is in use by now.
        """
        await self._started.start(self._node(broker).id)

    def fence_broker(self, broker: int) -> None:
        """Let the controller fence a broker, although it runs, until `unfence_broker`."""
        self._started.fence(self._node(broker).id)

    def unfence_broker(self, broker: int) -> None:
        """End the fencing of a broker."""
        self._started.unfence(self._node(broker).id)

    @property
    def broker_states(self) -> dict[int, BrokerState]:
        """The state of each node: "running", "fenced", "starting" or "ended"."""
        return {each: self._started.state_of(each) for each in self._nodes}

    async def stop(self) -> None:
        """Close every socket and file, and end all tasks of the cluster."""
        if self._lifecycle is not None:
            self._lifecycle.end()
        for node in self._nodes.values():
            await node.close()
        if self._service is not None:
            self._service.end()
        self._timers.end()
        if self._views is not None:
            self._views.end()
        if self._state is not None:
            for policy in (self._create_topic_policy, self._alter_config_policy):
                if policy is not None:
                    policy.close()
        if self._log is not None:
            try:
                if self.state.quorum.available:
                    fence(self.state)
            except OSError as error:  # all acknowledged records are on disk nevertheless
                print(f"the end is not in the metadata log: {error}", file=sys.stderr)
            finally:
                self._log.close()
                self._log = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    @property
    def _started(self) -> Lifecycle:
        if self._lifecycle is None:
            raise RuntimeError(_NOT_STARTED)
        return self._lifecycle

    def _node(self, broker: int) -> Node:
        if broker not in self._nodes:
            raise ValueError(f"there is no broker {broker}; brokers are 1 to {self._brokers}")
        return self._nodes[broker]

    def _node_listeners(self, index: int) -> Iterator[Listener]:
        """The listeners of the node of that index, not bound yet."""
        for number, (name, protocol) in enumerate(self._listeners.items()):
            port = self._port + number * self._brokers + index if self._port else 0
            yield Listener(name, self._host, self._advertised, port, protocol)

    def _in_memory(self) -> State:
        folders = {each: f"{_NO_FOLDER}{each}" for each in self._nodes}
        state = State(self._release, new_cluster_id(), self._static(folders))
        state.append(first_records(self._release))
        register(state, [self._registration(node, uuid4()) for node in self._nodes.values()])
        return state

    def _on_disk(self) -> State:
        from kafka_admin_proto.server.log.opening import check_release, open_cluster
        from kafka_admin_proto.server.log.settings import log_settings

        assert self._data is not None
        settings = log_settings(self._configs, self._release)
        found = open_cluster(self._data, self._brokers, new_cluster_id(), settings)
        self._log = found.log
        for note in found.notes:
            print(note, file=sys.stderr)
        check_release(found.state, self._release, self._data)
        static = self._static(dict(zip(self._nodes, map(str, found.folders), strict=True)))
        state = State(self._release, found.cluster_id, static, found.state, found.log)
        found.lead(state)
        fence(state)
        register(
            state,
            [self._registration(node, found.directories[node.id]) for node in self._nodes.values()],
        )
        return state

    def _static(self, folders: Mapping[int, str]) -> dict[int, dict[str, str]]:
        """The configs of each node's properties file; ``folders`` are the ``log.dirs``."""
        listeners = {each.id: list(each.listeners.values()) for each in self._nodes.values()}
        racks = dict(zip(listeners, self._racks, strict=True)) if self._racks else {}
        return properties_of_nodes(listeners, folders, racks, self._configs)

    def _registered(self, node: Node) -> Registration:
        """The registration of a node that was registered before."""
        return self._registration(node, self.state.cluster.brokers[node.id].directories[0])

    def _registration(self, node: Node, directory: UUID) -> Registration:
        return Registration(
            id=node.id,
            listeners=list(node.listeners.values()),
            rack=self._racks[node.id - 1] if self._racks else None,
            directory=directory,
        )
