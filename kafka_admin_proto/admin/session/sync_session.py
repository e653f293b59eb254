"""The base of the client for callers who do not use asyncio."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

from kafka_admin_proto.admin.errors import AdminError
from kafka_admin_proto.admin.session.session import Session
from kafka_admin_proto.loop_thread import LoopThread

_T = TypeVar("_T")
_S = TypeVar("_S", bound="SyncSession")
_P = ParamSpec("_P")

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

    def __exit__(self, *error: object) -> None:
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

    def _each(self, items: AsyncGenerator[_T, None]) -> Generator[_T, None, None]:
        async def following() -> list[_T]:
            async for item in items:
                return [item]
            return []

        try:
            while found := self._run(following()):
                yield found[0]
        finally:
            if self in _OPEN:
                self._run(items.aclose())


def blocking(
    method: Callable[Concatenate[Any, _P], Coroutine[Any, Any, _T]],
) -> Callable[Concatenate[SyncSession, _P], _T]:
    """The method of a synchronous client that runs this one of its client, and waits for it.

    Parameters, types and docstring are the method's own.
    """
    name = method.__name__

    def run(self: SyncSession, /, *arguments: _P.args, **keywords: _P.kwargs) -> _T:
        # By its name: the client for a draft has a method of its own for some.
        work: Coroutine[Any, Any, _T] = getattr(self._session, name)(*arguments, **keywords)
        return self._run(work)

    update_wrapper(run, method)
    return run


def iterating(
    method: Callable[Concatenate[Any, _P], AsyncGenerator[_T, None]],
) -> Callable[Concatenate[SyncSession, _P], Generator[_T, None, None]]:
    """The same for a method that gives an asynchronous iterator: each item is waited for."""
    name = method.__name__

    def run(
        self: SyncSession, /, *arguments: _P.args, **keywords: _P.kwargs
    ) -> Generator[_T, None, None]:
        return self._each(getattr(self._session, name)(*arguments, **keywords))

    update_wrapper(run, method)
    return run


@atexit.register
def _close_all() -> None:
    for each in list(_OPEN):
        each.close()
