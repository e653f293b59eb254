"""An event loop in a thread of its own, for callers who do not use asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

_T = TypeVar("_T")
_P = ParamSpec("_P")


def with_arguments_of(
    model: Callable[Concatenate[Any, _P], None],
) -> Callable[[Callable[..., None]], Callable[Concatenate[Any, _P], None]]:
    """Give ``__init__`` the signature of another class, for ``help()`` and type checkers."""
    return functools.wraps(model)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread, None without one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class LoopThread:
    """A loop that runs in a thread from the first ``run`` to ``stop``. Any thread may call.

    ``name`` is the thread's; ``owner`` is the object that callers know, such as "client", and
    ``error`` is raised where it is closed, was closed during a call, or is called from its thread.
    """

    def __init__(self, name: str, owner: str, error: type[Exception]) -> None:
        self._name = name
        self._owner = owner
        self._error = error
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
            raise self._error(f"the {self._owner} was closed during the call") from None
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
            raise self._error(f"the {self._owner} is closed")
        if self._thread is threading.current_thread():
            raise self._error(
                f"a function that the {self._owner} calls runs in the {self._owner}'s own thread "
                f"and cannot call the {self._owner}"
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
