"""A cluster in this process: real sockets, brokers 1 to N, Kafka's own answers.

    async with Cluster(brokers=3) as cluster:
        cluster.bootstrap_servers       # "127.0.0.1:40001,127.0.0.1:40002,127.0.0.1:40003"

``SyncCluster`` is the same for code without an event loop: it runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self
from uuid import UUID, uuid4

from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.server.answers import Answers
from kafka_admin_proto.server.bootstrap import Node, fence, first_records, register
from kafka_admin_proto.server.handlers import served_apis
from kafka_admin_proto.server.listener import Listener, Trace
from kafka_admin_proto.server.partition_changes import catch_up
from kafka_admin_proto.server.state import State

if TYPE_CHECKING:
    from kafka_admin_proto.server.log.cluster_log import ClusterLog
    from kafka_admin_proto.server.policies import AlterConfigPolicy, CreateTopicPolicy

_BACKLOG = 1024
_RECEIVE_BYTES = 64 << 10
#: Turns of the event loop until a socket that was accepted has its connection. A server that is
#: closed before that leaves the socket open.
_ACCEPT_TURNS = 3
#: What ``log.dirs`` says of a node whose log is in memory, with its id behind it.
_NO_FOLDER = "/tmp/kafka-logs-"


class Cluster:
    """A reference cluster of ``brokers`` nodes, each broker and controller.

    ``port`` is the first node's, the others have the next ones; 0 takes free ones. ``configs``
    are configs of every broker, as in its properties file; ``racks`` those of the nodes in their
    order. New replicas of a partition are in sync after ``sync_delay_s``
    seconds. ``rules`` are those of CreateTopics, and the policies are asked as KIP-108 has it.
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
        configs: Mapping[str, str] | None = None,
        racks: Sequence[str] = (),
        data: str | os.PathLike[str] | None = None,
        sync_delay_s: float = 0.1,
        rules: Literal["shipped", "kip-4"] = "shipped",
        create_topic_policy: CreateTopicPolicy | None = None,
        alter_config_policy: AlterConfigPolicy | None = None,
        limits: Limits | None = None,
        trace: Trace | None = None,
    ) -> None:
        if brokers < 1:
            raise ValueError(f"a cluster has one broker or more, not {brokers}")
        if racks and len(racks) != brokers:
            raise ValueError(f"{len(racks)} racks for {brokers} brokers; name one for each")
        self._brokers = brokers
        self._release = release
        self._host = host
        self._advertised = advertised_host or host
        self._port = port
        self._configs = dict(configs or {})
        self._racks = racks
        self._sync_delay_s = sync_delay_s
        self._rules = rules
        self._create_topic_policy = create_topic_policy
        self._alter_config_policy = alter_config_policy
        self._data = None if data is None else Path(data)
        self._log: ClusterLog | None = None
        self._limits = Limits() if limits is None else limits
        self._trace = trace
        self._servers: list[asyncio.Server] = []
        self._connections: set[Listener] = set()
        self._state: State | None = None
        self._ports: list[int] = []

    @property
    def bootstrap_servers(self) -> str:
        """host:port of every node, separated by commas."""
        return ",".join(f"{self._advertised}:{port}" for port in self._ports)

    @property
    def state(self) -> State:
        """What the cluster's metadata log says."""
        if self._state is None:
            raise RuntimeError("the cluster has not been started; enter it first")
        return self._state

    async def start(self) -> None:
        """Listen on every port. Raises OSError where one cannot be had."""
        sockets: list[socket.socket] = []
        try:
            for index in range(self._brokers):
                sockets.append(self._bound(self._port + index if self._port else 0))
        except OSError:
            for each in sockets:
                each.close()
            raise
        self._ports = [each.getsockname()[1] for each in sockets]
        try:
            state = self._state = self._in_memory() if self._data is None else self._on_disk()
        except BaseException:
            if self._log is not None:
                self._log.close()
                self._log = None
            for each in sockets:
                each.close()
            raise
        loop, apis = asyncio.get_running_loop(), served_apis(self._release)
        self._set_up(state)
        if state.reassigned:
            loop.call_later(state.sync_delay_s, catch_up, state)
        answers, buffer = Answers(state), memoryview(bytearray(_RECEIVE_BYTES))
        for node_id, each in zip(state.static, sockets, strict=True):

            def accept(node_id: int = node_id) -> Listener:
                return Listener(
                    state,
                    answers,
                    node_id,
                    apis,
                    self._connections,
                    self._limits,
                    buffer,
                    self._trace,
                )

            self._servers.append(await loop.create_server(accept, sock=each, backlog=_BACKLOG))

    def _set_up(self, state: State) -> None:
        state.sync_delay_s = self._sync_delay_s
        state.rules = self._rules
        state.create_topic_policy = self._create_topic_policy
        state.alter_config_policy = self._alter_config_policy
        for policy in (self._create_topic_policy, self._alter_config_policy):
            if policy is not None:
                policy.configure(state.static[state.controller])

    async def stop(self) -> None:
        """Close every socket; nothing of the cluster is left."""
        loop = asyncio.get_running_loop()
        for server in self._servers:
            for listening in server.sockets:
                loop.remove_reader(listening)
        for _ in range(_ACCEPT_TURNS):
            await asyncio.sleep(0)
        for server in self._servers:
            server.close()
        for connection in list(self._connections):
            connection.close()
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()
        if self._state is not None:
            self._state.reassigned.clear()  # what is not in sync by now goes on at the next start
            for policy in (self._create_topic_policy, self._alter_config_policy):
                if policy is not None:
                    policy.close()
        if self._log is not None:
            try:
                fence(self.state)
            except OSError as error:  # what was acknowledged is there all the same
                print(f"the end is not in the metadata log: {error}", file=sys.stderr)
            finally:
                self._log.close()
                self._log = None
        await asyncio.sleep(0)  # the transports that were aborted end now

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

    def _bound(self, port: int) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((self._host, port))
            found.listen(_BACKLOG)
        except OSError:
            found.close()
            raise
        found.setblocking(False)
        return found

    def _in_memory(self) -> State:
        ids = range(1, self._brokers + 1)
        folders = {each: f"{_NO_FOLDER}{each}" for each in ids}
        state = State(self._release, _random_id(), self._static(folders))
        state.append(first_records(self._release))
        register(state, [self._node(index, each, uuid4()) for index, each in enumerate(ids)])
        return state

    def _on_disk(self) -> State:
        from kafka_admin_proto.server.log.opening import check_release, open_cluster
        from kafka_admin_proto.server.log.settings import log_settings

        assert self._data is not None
        settings = log_settings(self._configs, self._release)
        found = open_cluster(self._data, self._brokers, _random_id(), settings)
        self._log = found.log
        for note in found.notes:
            print(note, file=sys.stderr)
        check_release(found.state, self._release, self._data)
        ids = list(found.directories)
        folders = dict(zip(ids, map(str, found.folders), strict=True))
        static = self._static(folders)
        state = State(self._release, found.cluster_id, static, found.state, found.log)
        state.epoch = found.log.epoch
        found.log.lead(state.controller, ids, state.end_offset)
        state.pass_offset()
        if found.new:
            records = found.bootstrap or first_records(self._release)
            for folder in found.folders:
                found.log.write_bootstrap(folder, records)
            state.append(records)
        nodes = [self._node(index, each, found.directories[each]) for index, each in enumerate(ids)]
        fence(state)
        register(state, nodes)
        return state

    def _static(self, folders: Mapping[int, str]) -> dict[int, dict[str, str]]:
        """What the properties file of each node would say; ``folders`` are their ``log.dirs``."""
        ports = dict(zip(folders, self._ports, strict=True))
        voters = ",".join(f"{node}@{self._host}:{port}" for node, port in ports.items())
        found = {}
        for index, (node_id, port) in enumerate(ports.items()):
            advertised = f"PLAINTEXT://{self._advertised}:{port}"
            found[node_id] = {
                "node.id": str(node_id),
                "broker.id": str(node_id),  # Kafka has either stand for both
                "process.roles": "broker,controller",
                "controller.quorum.voters": voters,
                "controller.listener.names": "CONTROLLER",
                "listeners": f"PLAINTEXT://{self._host}:{port},CONTROLLER://{self._host}:0",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "inter.broker.listener.name": "PLAINTEXT",
                "log.dirs": folders[node_id],
                **({"advertised.listeners": advertised} if self._advertised != self._host else {}),
                **({"broker.rack": self._racks[index]} if self._racks else {}),
                **self._configs,
            }
        return found

    def _node(self, index: int, node_id: int, directory: UUID) -> Node:
        port = self._ports[index]
        return Node(
            id=node_id,
            host=self._advertised,
            port=port,
            rack=self._racks[index] if self._racks else None,
            directory=directory,
            controller_host=self._host,
            controller_port=port,
        )


def _random_id() -> str:
    """A cluster's id: 16 random bytes in Kafka's base64url."""
    return base64.urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")
