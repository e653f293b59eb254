"""A cluster in this process, with real sockets and brokers 1 to N, that answers as Kafka does.

    async with Cluster(brokers=3) as cluster:
        cluster.bootstrap_servers       # "127.0.0.1:40001,127.0.0.1:40002,127.0.0.1:40003"

``SyncCluster`` is the same for code without an event loop: it runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self, TypeVar

from kafka_admin_proto.arguments import is_time
from kafka_admin_proto.loop_thread import running_loop
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.server.arguments.resolved_settings import LISTENERS, Settings
from kafka_admin_proto.server.arguments.settings import Rules, checked_broker
from kafka_admin_proto.server.brokers.lifecycle import BrokerState, Lifecycle
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.inspection.asked_requests import AskedRequests
from kafka_admin_proto.server.inspection.conditions import held, summary, until
from kafka_admin_proto.server.network.limits import NetworkLimits
from kafka_admin_proto.server.network.service import Trace
from kafka_admin_proto.server.parts import Parts
from kafka_admin_proto.server.state import State
from kafka_admin_proto.wire.types.base import shown

if TYPE_CHECKING:
    from kafka_admin_proto.policies.policies import AlterConfigPolicy, CreateTopicPolicy
    from kafka_admin_proto.server.arguments.initial_topics import TopicSetting
    from kafka_admin_proto.server.faults.faults import ClusterFaults
    from kafka_admin_proto.server.inspection.stored_groups import StoredGroup
    from kafka_admin_proto.server.inspection.stored_records import NewRecord, StoredRecord

_NOT_STARTED = "the cluster has not been started; enter it first"
_ENDED = "the cluster has ended; start it again, or make another one"
_IN_ANOTHER_LOOP = (
    "the cluster belongs to the event loop that it was started in: call it there, or take a "
    "SyncCluster, which any thread and loop may call"
)

_Part = TypeVar("_Part")


class Cluster:
    """A reference cluster of ``brokers`` nodes, each broker and controller.

    With 0 it is a controller alone, and its brokers are processes of their own: real ones with
    ``process.roles=broker`` and its ``quorum_voters``, and with its ``state.cluster_id``.
    ``port`` is the first node's, the others have the next ones, and each further listener those
    behind them; 0 takes free ones. Clients get addresses with ``advertised_host``, or ``host``, and
    of each listener in ``advertised_listeners`` those that it has there: host:port of each node, or
    of the first, from whose port the others count on (``{"OUTSIDE": "kafka.example:9094"}``).
    ``listeners`` are the security protocols of the listeners by name, and ``users`` the passwords
    of users who log in by SASL. ``acls`` say who may do what, by the names of Kafka's constants
    (``server/security/authorizer/files.py``). ``configs`` are configs of every broker, as in its
    properties file, by their names in Kafka; a value is a text, a number or a bool. Names that
    Kafka does not define are kept, and logged unless there is a policy that they may be for.
    ``racks`` are those of the nodes in their order. New replicas of a partition are in sync
    after ``sync_delay_s`` seconds. Each broker answers from its own view of the metadata log, which
    is ``propagation_delay_s`` behind.
    ``rules`` are those of CreateTopics, or with ``kip-4a`` and ``kip-4b`` a draft's messages beside
    Kafka's own (``server/handlers/drafts``). The policies are objects, or classes that the configs
    ``create.topic.policy.class.name`` and ``alter.config.policy.class.name`` name as
    ``module:Class``; they are asked as KIP-108 has it.
    ``api_versions`` are those of apis by name that it has not all of ("0-9", "9+"), or not at all
    ("none"), as an older cluster.
    ``limits`` are those of each connection, and ``network_limits`` those of all together, by the
    configs where they are not given.
    ``topics`` are created at the start as CreateTopics would: a number of partitions for each name,
    or a mapping of ``partitions``, ``replication_factor``, ``assignment`` and ``configs``. Where
    ``data`` has a topic already it stays as it is; given otherwise than it is there, it is refused.
    ``trace`` is called with each request and its response. With ``data`` the metadata log
    is kept in that folder, in Kafka's format, and a cluster that is there already goes on; without
    it the cluster is in memory and ends with its context.

    Raises SettingsError, which names the argument or config, for one that cannot work or would have
    no effect.
    """

    def __init__(
        self,
        brokers: int = 1,
        *,
        release: str = "4.4",
        host: str = "127.0.0.1",
        advertised_host: str | None = None,
        advertised_listeners: Mapping[str, str | Sequence[str]] | None = None,
        port: int = 0,
        listeners: Mapping[str, str] = LISTENERS,
        users: Mapping[str, str] | None = None,
        acls: Sequence[Mapping[str, str]] = (),
        configs: Mapping[str, str | float | bool] | None = None,
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
        topics: Mapping[str, TopicSetting] | None = None,
        trace: Trace | None = None,
    ) -> None:
        self._settings = Settings(locals())
        self._requests = AskedRequests(self._settings.apis)
        #: The time of the cluster, which tests may move: ``await cluster.clock.advance(30)``.
        self.clock: Clock = Clock()
        self._parts = Parts(self._settings, self.clock, self._requests)
        #: The event loop that it was started in, until it is stopped.
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"<Cluster {self.bootstrap_servers if self._loop else 'that does not run'}>"

    @property
    def bootstrap_servers(self) -> str:
        """host:port of every node's first listener, separated by commas.

        RuntimeError before the start, after which these stay.
        """
        return self.addresses(next(iter(self._settings.listeners)))

    @property
    def quorum_voters(self) -> str | None:
        """``controller.quorum.voters`` for brokers in processes of their own.

        None where the cluster has brokers of its own: others cannot join. RuntimeError before the
        start.
        """
        if self._settings.brokers:
            return None
        return self.state.static[self.state.controller]["controller.quorum.voters"]

    @property
    def listeners(self) -> Sequence[str]:
        """The names of the listeners, the first one first."""
        return list(self._settings.listeners)

    def addresses(self, listener: str) -> str:
        """host:port of every node's listener of that name, separated by commas."""
        if listener not in self.listeners:
            raise ValueError(f"no listener {listener!r}; there are {', '.join(self.listeners)}")
        _made(self._parts.lifecycle)
        found = [node.listeners[listener] for node in self._parts.nodes.values()]
        return ",".join(str(each.advertised) for each in found)

    @property
    def state(self) -> State:
        """The cluster's state, as its metadata log makes it."""
        return _made(self._parts.state)

    @property
    def views(self) -> Views:
        """Each broker's view of the cluster."""
        return _made(self._parts.views)

    @property
    def faults(self) -> ClusterFaults:
        """The faults of the cluster, added and removed in any thread, also before the start."""
        parts = self._parts
        if parts.faults is None:
            from kafka_admin_proto.server.faults.faults import ClusterFaults

            parts.faults = ClusterFaults(self._settings.apis, self._settings.brokers)
            if parts.service is not None:
                parts.service.faults = parts.faults
        return parts.faults

    def delay_metadata(self, delay_s: float, broker: int | None = None) -> None:
        """Let a broker, or all, see changes ``delay_s`` seconds after they were made.

        With 0 the broker has seen everything when this returns; ``math.inf`` holds it back until
        another delay is set.
        """
        self._check_runs()
        _check_delay(delay_s)
        if broker is None:
            self._check_hosts()
        for each in self._parts.nodes if broker is None else (self._id(broker),):
            self.views.delay(each, delay_s)

    def delay_replication(self, delay_s: float, broker: int) -> None:
        """Let a broker's follower replicas get records ``delay_s`` seconds after their leaders.

        One that lacks records for ``replica.lag.time.max.ms`` leaves the ISR, which is checked
        twice in that time, and joins it again once it has what consumers can read. With 0 the
        broker has all records when this returns; with ``math.inf`` it gets no more until another
        delay is set. Raises ValueError for a cluster of one broker, which has no followers.
        """
        self._check_runs()
        node = self._id(broker)
        _check_delay(delay_s)
        if len(self._parts.nodes) == 1:
            raise ValueError("a cluster of one broker has no followers that could lag")
        self.state.partitions.delay(node, delay_s)

    def produce(self, topic: str, records: Iterable[NewRecord]) -> list[StoredRecord]:
        """Append records to a topic, as its leaders do; returns them with their offsets.

        A record is a value, a tuple of key and value, or a mapping with any of ``key``, ``value``,
        ``headers``, ``timestamp`` (milliseconds since 1970) and ``partition``. Texts are UTF-8. A
        key decides the partition as in Kafka's producer; records without one take turns.

        Raises ValueError for a topic or partition that is not there or has no leader, for a record
        of another form, and for one that the leader refuses; TypeError for one text or
        record in the place of a list.
        """
        from kafka_admin_proto.server.inspection.stored_records import produce

        self._check_runs()
        self._check_hosts()
        return produce(self.state, topic, records)

    def records(self, topic: str) -> list[StoredRecord]:
        """The records of a topic that consumers can read, by partition and offset.

        Raises ValueError for a topic that is not there.
        """
        from kafka_admin_proto.server.inspection.stored_records import records_of

        self._check_runs()
        self._check_hosts()
        return records_of(self.state, topic)

    def group(self, name: str) -> StoredGroup:
        """A group as its coordinator has it: members and what they are assigned, offsets, lag.

        Raises ValueError for a group that is not there.
        """
        from kafka_admin_proto.server.inspection.stored_groups import group_of_name

        self._check_runs()
        self._check_hosts()
        return group_of_name(self.state, name)

    def rebalance(self, group: str) -> None:
        """Let the members of a group join again, as if one had come or gone.

        They hear of it by their next heartbeat. In KIP-848's protocol the group has a new epoch and
        a new assignment then, which keeps what members have. Raises ValueError for a group that is
        not there or has no members.
        """
        from kafka_admin_proto.server.inspection.stored_groups import rebalance

        self._check_runs()
        self._check_hosts()
        rebalance(self.state, group)

    @property
    def requests(self) -> AskedRequests:
        """What clients have asked, the newest 10,000 in 4 MiB: ``cluster.requests.of("Produce")``.

        ApiVersions is among it; SASL is not.
        """
        return self._requests

    async def wait_for(self, condition: Callable[[], _Part], timeout: float = 10.0) -> _Part:
        """Wait until a function without arguments gives what is true, and return that.

            await cluster.wait_for(lambda: len(cluster.records("orders")) == 3)

        A ValueError of it, as for a topic that is not there yet, counts as not true. ``timeout`` is
        in seconds of real time, whatever the clock of the cluster does. Raises TimeoutError, which
        says what there is instead, and TypeError for a function with async.
        """
        self._check_runs()
        return await held(until(condition, timeout, lambda: summary(self.state, self.requests)))

    async def start(self) -> None:
        """Listen on every port.

        The cluster belongs to the running event loop then: its other methods raise RuntimeError in
        another one.

        Raises OSError if a port cannot be bound, and SettingsError if ``host`` has no address, a
        policy cannot be made or configured, or one of ``topics`` cannot be created. Nothing is left
        open then, and policies that are configured are closed.
        """
        if self._loop is not None:
            raise RuntimeError("the cluster has been started already; make another one")
        self._loop = asyncio.get_running_loop()
        self.clock.start()
        try:
            await self._parts.start()
        except BaseException:
            self._loop = None
            raise

    async def stop_broker(self, broker: int) -> None:
        """Stop a node as SIGTERM does: other brokers lead first, then its clients are cut off."""
        await self._running.stop(self._id(broker))

    async def kill_broker(self, broker: int) -> None:
        """Kill a node as SIGKILL does: it is fenced after ``broker.session.timeout.ms``."""
        await self._running.kill(self._id(broker))

    async def start_broker(self, broker: int) -> None:
        """Start a node that has ended, on its ports. It serves when this returns.

        A node that was killed is registered when its last session is over. While less than a
        majority of the nodes runs there is no controller, and this returns before the node serves.
        Raises OSError if a port is in use by now.
        """
        await self._running.start(self._id(broker))

    def fence_broker(self, broker: int) -> None:
        """Let the controller fence a broker, although it runs, until `unfence_broker`."""
        if self._settings.brokers:
            self._running.fence(self._id(broker))
        else:
            self._check_runs()
            self.state.sessions.fence(broker)

    def unfence_broker(self, broker: int) -> None:
        """End the fencing of a broker; one of another process is there by its next heartbeat."""
        if self._settings.brokers:
            self._running.unfence(self._id(broker))
        else:
            self._check_runs()
            self.state.sessions.unfence(broker)

    @property
    def broker_states(self) -> dict[int, BrokerState]:
        """The state of each node: "running", "fenced", "starting" or "ended".

        Without brokers of its own the cluster has those that are registered, of which it knows
        whether they are fenced.
        """
        lifecycle = _made(self._parts.lifecycle)
        nodes = self._parts.nodes if self._settings.brokers else sorted(self.state.cluster.brokers)
        return {each: lifecycle.state_of(each) for each in nodes}

    async def stop(self) -> None:
        """Close every socket and file, and end all tasks of the cluster; nothing if it has ended.

        Raises SettingsError if a policy cannot be closed; all else is closed nevertheless.
        """
        if self._loop is None:
            return
        self._check_runs()
        try:
            await self._parts.end()
        finally:
            self._loop = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    @property
    def _running(self) -> Lifecycle:
        self._check_runs()
        return _made(self._parts.lifecycle)

    def _check_runs(self) -> None:
        """Raise RuntimeError unless the cluster runs, and in this event loop."""
        if self._loop is None:
            raise RuntimeError(not_running(self))
        if running_loop() is not self._loop:
            raise RuntimeError(_IN_ANOTHER_LOOP)

    def _id(self, broker: int) -> int:
        return checked_broker(broker, self._settings.brokers)

    def _check_hosts(self) -> None:
        """Raise ValueError unless the cluster has brokers of its own."""
        if not self._settings.brokers:
            raise ValueError(
                "the cluster is a controller alone: records and groups are with its brokers, which "
                "are processes of their own; ask these"
            )


def _check_delay(delay_s: float) -> None:
    if not is_time(delay_s):
        raise ValueError(f"a delay is 0 or more seconds, not {shown(delay_s)}")


def not_running(cluster: Cluster) -> str:
    """Why a cluster that does not run cannot be called."""
    return _NOT_STARTED if cluster._parts.lifecycle is None else _ENDED


def _made(part: _Part | None) -> _Part:
    """A part of a cluster, which its start makes."""
    if part is None:
        raise RuntimeError(_NOT_STARTED)
    return part
