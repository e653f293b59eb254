"""The base of the client for callers who do not use asyncio."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

from kafka_admin_proto.admin.errors import AdminError
from kafka_admin_proto.admin.session.session import Session
from kafka_admin_proto.loop_thread import LoopThread

_T = TypeVar("_T")
_S = TypeVar("_S", bound="SyncSession")

#: Clients that are still to be closed when the interpreter ends.
_OPEN: weakref.WeakSet[SyncSession] = weakref.WeakSet()


class SyncSession:
    """The base of the generated `sync.SyncAdminClient`: a client and the thread of its loop."""

    def __init__(self, admin: Session) -> None:
        self._thread = LoopThread("kafka-admin-proto", "client", AdminError)
        self._session = admin
        _OPEN.add(self)

    def __enter__(self: _S) -> _S:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all connections and the thread; the client cannot be used any more."""
        if self in _OPEN:
            _OPEN.discard(self)
            try:
                self._thread.run(self._session.close())
            finally:
                self._thread.stop()

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._thread.run(work)


@atexit.register
def _close_all() -> None:
    for each in list(_OPEN):
        each.close()
