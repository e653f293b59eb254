"""A cluster for code without an event loop: it runs in a thread of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from kafka_admin_proto.loop_thread import LoopThread
from kafka_admin_proto.server.brokers.lifecycle import BrokerState
from kafka_admin_proto.server.cluster import Cluster
from kafka_admin_proto.server.state import State

if TYPE_CHECKING:
    from kafka_admin_proto.server.faults.faults import Faults

_T = TypeVar("_T")


_P = ParamSpec("_P")


def _with_arguments_of(
    model: Callable[Concatenate[Cluster, _P], None],
) -> Callable[[Callable[..., None]], Callable[Concatenate[SyncCluster, _P], None]]:
    """Give ``__init__`` the signature of another class, for ``help()`` and type checkers."""
    return functools.wraps(model)


class SyncCluster:
    """``Cluster`` as a plain context manager, with the same arguments.

        with SyncCluster(3) as cluster:
            client(cluster.bootstrap_servers)

    Entering it starts the brokers on sockets of the loopback interface, leaving it ends them.
    """

    @_with_arguments_of(Cluster.__init__)
    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self._cluster = Cluster(*arguments, **settings)
        self._thread: LoopThread | None = None

    @property
    def bootstrap_servers(self) -> str:
        """host:port of every node, separated by commas."""
        return self._cluster.bootstrap_servers

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
    def faults(self) -> Faults:
        """As ``Cluster.faults``, which may be changed in any thread."""
        return self._cluster.faults

    def delay_metadata(self, delay_s: float, broker: int | None = None) -> None:
        """As ``Cluster.delay_metadata``."""
        self._run(_called(self._cluster.delay_metadata, delay_s, broker))

    def stop_broker(self, broker: int) -> None:
        """As ``Cluster.stop_broker``."""
        self._run(self._cluster.stop_broker(broker))

    def kill_broker(self, broker: int) -> None:
        """As ``Cluster.kill_broker``."""
        self._run(self._cluster.kill_broker(broker))

    def start_broker(self, broker: int) -> None:
        """As ``Cluster.start_broker``."""
        self._run(self._cluster.start_broker(broker))

    def fence_broker(self, broker: int) -> None:
        """As ``Cluster.fence_broker``."""
        self._run(_called(self._cluster.fence_broker, broker))

    def unfence_broker(self, broker: int) -> None:
        """As ``Cluster.unfence_broker``."""
        self._run(_called(self._cluster.unfence_broker, broker))

    @property
    def broker_states(self) -> dict[int, BrokerState]:
        """As ``Cluster.broker_states``."""
        return self._cluster.broker_states

    def start(self) -> None:
        """Listen on every port. Raises OSError if a port cannot be bound."""
        self._thread = LoopThread("kafka-cluster", "cluster", RuntimeError)
        try:
            self._run(self._cluster.start())
        except BaseException:
            self._end()
            raise

    def stop(self) -> None:
        """Close every socket and end the thread."""
        if self._thread is not None:
            self._run(self._cluster.stop())
            self._end()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self, call: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine in the cluster's thread; returns its result."""
        if self._thread is None:
            call.close()
            raise RuntimeError("the cluster has not been started; enter it first")
        return self._thread.run(call)

    def _end(self) -> None:
        assert self._thread is not None
        self._thread.stop()
        self._thread = None


async def _called(call: Callable[..., _T], *arguments: Any) -> _T:
    """A coroutine that makes a plain call."""
    return call(*arguments)
