"""A cluster for code without an event loop: it runs in a thread of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar

from kafka_admin_proto.loop_thread import LoopThread, with_arguments_of
from kafka_admin_proto.server.brokers.lifecycle import BrokerState
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.cluster import Cluster, not_running
from kafka_admin_proto.server.inspection.conditions import PAUSE_S, summary, until
from kafka_admin_proto.server.state import State

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.views import Views
    from kafka_admin_proto.server.faults.faults import ClusterFaults
    from kafka_admin_proto.server.inspection.asked_requests import AskedRequests

_T = TypeVar("_T")
_P = ParamSpec("_P")


def _in_loop(
    method: Callable[Concatenate[Cluster, _P], _T],
) -> Callable[Concatenate[SyncCluster, _P], _T]:
    """A method of a cluster that runs in the cluster's thread."""

    @wraps(method)
    def run(self: SyncCluster, /, *arguments: _P.args, **named: _P.kwargs) -> _T:
        return self._run(_called(method, self._cluster, *arguments, **named))

    return run


class SyncCluster:
    """``Cluster`` as a plain context manager, with the same arguments.

        with SyncCluster(3) as cluster:
            client(cluster.bootstrap_servers)

    Entering it starts the brokers on sockets of the loopback interface, leaving it ends them.
    """

    @with_arguments_of(Cluster.__init__)
    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self._cluster = Cluster(*arguments, **settings)
        self._thread: LoopThread | None = None

    def __repr__(self) -> str:
        return repr(self._cluster).replace("Cluster", "SyncCluster", 1)

    @property
    def bootstrap_servers(self) -> str:
        """host:port of every node, separated by commas."""
        return self._cluster.bootstrap_servers

    @property
    def quorum_voters(self) -> str | None:
        """As ``Cluster.quorum_voters``."""
        return self._cluster.quorum_voters

    @property
    def listeners(self) -> Sequence[str]:
        """The names of the listeners, the first one first."""
        return self._cluster.listeners

    def addresses(self, listener: str) -> str:
        """host:port of every node's listener of that name, separated by commas."""
        return self._cluster.addresses(listener)

    @property
    def state(self) -> State:
        """The state that the cluster's metadata log makes; another thread changes it."""
        return self._cluster.state

    @property
    def views(self) -> Views:
        """As ``Cluster.views``: ``views.of(2)`` is what broker 2 sees."""
        return self._cluster.views

    @property
    def faults(self) -> ClusterFaults:
        """As ``Cluster.faults``, which may be changed in any thread."""
        return self._cluster.faults

    @property
    def clock(self) -> SyncClock:
        """The time of the cluster, which tests may move: ``cluster.clock.advance(30)``."""
        return SyncClock(self._cluster.clock, self._run)

    delay_replication: Final = _in_loop(Cluster.delay_replication)
    delay_metadata: Final = _in_loop(Cluster.delay_metadata)
    produce: Final = _in_loop(Cluster.produce)
    records: Final = _in_loop(Cluster.records)
    group: Final = _in_loop(Cluster.group)
    rebalance: Final = _in_loop(Cluster.rebalance)
    fence_broker: Final = _in_loop(Cluster.fence_broker)
    unfence_broker: Final = _in_loop(Cluster.unfence_broker)

    @property
    def requests(self) -> AskedRequests:
        """As ``Cluster.requests``, in any thread."""
        return self._cluster.requests

    def wait_for(self, condition: Callable[[], _T], timeout: float = 10.0) -> _T:
        """As ``Cluster.wait_for``; the condition is called in the caller's thread."""
        if self._thread is None:
            raise RuntimeError(not_running(self._cluster))
        looks = until(
            condition, timeout, lambda: self._run(_called(summary, self.state, self.requests))
        )
        while True:
            try:
                next(looks)
            except StopIteration as held:
                found: _T = held.value
                return found
            time.sleep(PAUSE_S)

    def stop_broker(self, broker: int) -> None:
        """As ``Cluster.stop_broker``."""
        self._run(self._cluster.stop_broker(broker))

    def kill_broker(self, broker: int) -> None:
        """As ``Cluster.kill_broker``."""
        self._run(self._cluster.kill_broker(broker))

    def start_broker(self, broker: int) -> None:
        """As ``Cluster.start_broker``."""
        self._run(self._cluster.start_broker(broker))

    @property
    def broker_states(self) -> dict[int, BrokerState]:
        """As ``Cluster.broker_states``."""
        return self._cluster.broker_states

    def start(self) -> None:
        """As ``Cluster.start``."""
        if self._thread is not None:
            raise RuntimeError("the cluster has been started already; make another one")
        self._thread = LoopThread("kafka-cluster", "cluster", RuntimeError)
        try:
            self._run(self._cluster.start())
        except BaseException:
            self._end()
            raise

    def stop(self) -> None:
        """As ``Cluster.stop``; the thread ends too."""
        if self._thread is not None:
            try:
                self._run(self._cluster.stop())
            finally:
                self._end()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _run(self, call: Coroutine[Any, Any, _T]) -> _T:
        if self._thread is None:
            call.close()
            raise RuntimeError(not_running(self._cluster))
        return self._thread.run(call)

    def _end(self) -> None:
        assert self._thread is not None
        self._thread.stop()
        self._thread = None


class SyncClock:
    """The clock of a cluster in a thread of its own."""

    def __init__(self, clock: Clock, run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self._clock = clock
        self._run = run

    def advance(self, seconds: float) -> None:
        """As ``Clock.advance``: the cluster has done what is due when this returns.

        Raises RuntimeError in a function that the cluster calls, such as a policy.
        """
        self._run(self._clock.advance(seconds))


async def _called(call: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs) -> _T:
    """A coroutine that makes a plain call."""
    return call(*arguments, **named)
