"""An event loop in a thread of its own, for callers who do not use asyncio."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import threading
import weakref
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

from kafka_admin_proto.admin.errors import AdminError
from kafka_admin_proto.admin.session import Session

_T = TypeVar("_T")
_S = TypeVar("_S", bound="SyncSession")

#: What is still to be closed when the interpreter ends.
_OPEN: weakref.WeakSet[SyncSession] = weakref.WeakSet()


class LoopThread:
    """A loop that runs in a thread from the first ``run`` to ``stop``. Any thread may call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """What the coroutine returns or raises; Ctrl-C cancels it."""
        try:
            with self._lock:  # `stop` comes before or after both, and then cancels the work
                future = asyncio.run_coroutine_threadsafe(work, self._started())
        except BaseException:
            work.close()
            raise
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise AdminError("the client was closed while it was at work") from None
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """End the loop and its thread, and all that still runs in it."""
        with self._lock:
            self._stopped = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _started(self) -> asyncio.AbstractEventLoop:
        """The running loop; only to be called with the lock held."""
        if self._stopped:
            raise AdminError("the client is closed")
        if self._thread is threading.current_thread():
            raise AdminError(
                "a trace function runs in the client's own thread and cannot call the client"
            )
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=_run, args=(self._loop,), name=self._name, daemon=True
            )
            self._thread.start()
        return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()


class SyncSession:
    """What the generated `sync.SyncAdminClient` stands on: the client and its loop's thread."""

    def __init__(self, admin: Session) -> None:
        self._thread = LoopThread("kafka-admin-proto")
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
