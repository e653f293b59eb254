"""A proxy for code without an event loop: it runs in a thread of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from kafka_admin_proto.loop_thread import LoopThread, with_arguments_of
from kafka_admin_proto.proxy.proxy import Proxy

if TYPE_CHECKING:
    from kafka_admin_proto.proxy.faults import ProxyFaults


class SyncProxy:
    """``Proxy`` as a plain context manager, with the same arguments.

    with SyncProxy("kafka-1:9092") as proxy:
        client(proxy.bootstrap_servers)
    """

    @with_arguments_of(Proxy.__init__)
    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self._proxy = Proxy(*arguments, **settings)
        self._thread = LoopThread("kafka-proxy", "proxy", RuntimeError)

    @property
    def bootstrap_servers(self) -> str:
        """As ``Proxy.bootstrap_servers``."""
        return self._proxy.bootstrap_servers

    @property
    def faults(self) -> ProxyFaults:
        """As ``Proxy.faults``."""
        return self._proxy.faults

    def start(self) -> None:
        """As ``Proxy.start``."""
        try:
            self._thread.run(self._proxy.start())
        except BaseException:
            self._thread.stop()
            raise

    def stop(self) -> None:
        """As ``Proxy.stop``; the thread ends too."""
        try:
            self._thread.run(self._proxy.stop())
        finally:
            self._thread.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
