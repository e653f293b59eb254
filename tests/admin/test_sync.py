"""The synchronous client has the methods of the other one, and runs them in a thread of its own."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
import time
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient, AdminError, QuorumLeader, SyncAdminClient
from kafka_admin_proto.loop_thread import LoopThread
from tests.helpers.processes import python

#: Nobody listens on it.
NOBODY = "127.0.0.1:1"

_ITERATORS = ("follow_metadata",)


def methods(of: type) -> dict[str, str]:
    found = inspect.getmembers(of, inspect.isfunction)
    return {
        name: str(inspect.signature(function))
        for name, function in found
        if not name.startswith("_") or name == "__init__"
    }


def test_it_has_each_method_with_the_same_signature() -> None:
    """A method that is missing or differs: run `make generate`."""
    asynchronous = methods(AdminClient)
    assert all(
        inspect.iscoroutinefunction(getattr(AdminClient, name)) or name in {"__init__", *_ITERATORS}
        for name in asynchronous
    )
    assert methods(SyncAdminClient) == asynchronous


def test_an_iterator_waits_for_each_item_and_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    async def events(*, timeout: float | None) -> AsyncGenerator[QuorumLeader, None]:
        try:
            for each in range(4):
                yield QuorumLeader(await later(each), 1)
        finally:
            closed.append(timeout)

    with SyncAdminClient(NOBODY) as admin, monkeypatch.context() as patched:
        patched.setattr(admin, "_session", SimpleNamespace(follow_metadata=events))
        found = list(admin.follow_metadata(timeout=1))
        assert found == [QuorumLeader(each, 1) for each in range(4)]
        following = admin.follow_metadata(timeout=2)
        assert next(following) == QuorumLeader(0, 1)
        following.close()
        assert closed == [1, 2]


@pytest.mark.parametrize(
    "name", sorted(methods(AdminClient).keys() - {"__init__", "close", *_ITERATORS})
)
def test_each_method_hands_on_all_arguments(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    signature = inspect.signature(getattr(AdminClient, name))
    given = {each: object() for each in signature.parameters if each != "self"}
    handed: list[dict[str, object]] = []

    def asynchronous(*positional: object, **named: object) -> dict[str, object]:
        return signature.bind(None, *positional, **named).arguments

    with SyncAdminClient(NOBODY) as admin, monkeypatch.context() as patched:
        patched.setattr(admin, "_session", SimpleNamespace(**{name: asynchronous}))
        patched.setattr(admin, "_run", handed.append)
        getattr(admin, name)(**given)
    assert handed == [{"self": None, **given}]


async def later(value: int, pause_s: float = 0.0) -> int:
    await asyncio.sleep(pause_s)
    return value


def test_many_threads_share_one_loop() -> None:
    thread = LoopThread("test", "client", AdminError)
    found: list[int] = []
    callers = [
        threading.Thread(target=lambda n=n: found.append(thread.run(later(n, 0.01))))
        for n in range(20)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    thread.stop()
    assert sorted(found) == list(range(20))


def test_it_works_where_a_loop_runs() -> None:
    async def inside() -> int:
        thread = LoopThread("test", "client", AdminError)
        try:
            return thread.run(later(7))
        finally:
            thread.stop()

    assert asyncio.run(inside()) == 7


def test_stopping_ends_what_runs() -> None:
    thread = LoopThread("test", "client", AdminError)
    ended = []
    started = threading.Event()

    async def hangs() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    def call() -> None:
        with pytest.raises(AdminError, match="closed during the call"):
            thread.run(hangs())

    caller = threading.Thread(target=call)
    caller.start()
    started.wait(5)
    thread.stop()
    caller.join(5)
    assert ended == [True]
    assert not caller.is_alive()
    with pytest.raises(AdminError, match="closed"):
        thread.run(later(1))


def test_an_interrupted_call_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    import concurrent.futures

    thread = LoopThread("test", "client", AdminError)
    cancelled = threading.Event()

    async def hangs() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    def interrupted(*_: object) -> None:
        time.sleep(0.05)
        raise KeyboardInterrupt

    monkeypatch.setattr(concurrent.futures.Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        thread.run(hangs())
    monkeypatch.undo()
    assert cancelled.wait(5)
    thread.stop()


def test_the_own_thread_cannot_call() -> None:
    thread = LoopThread("test", "client", AdminError)

    async def inside() -> int:
        return thread.run(later(1))

    with pytest.raises(AdminError, match="own thread"):
        thread.run(inside())
    thread.stop()


def test_a_closed_client_refuses_and_errors_are_raised() -> None:
    with SyncAdminClient(NOBODY) as admin:
        with pytest.raises(AdminError, match="connection refused"):
            admin.brokers()
        before = threading.active_count()
    assert threading.active_count() == before - 1
    admin.close()
    with pytest.raises(AdminError, match="closed"):
        admin.brokers()
    del admin
    gc.collect()


@pytest.mark.parametrize("close", ["", "admin.close()"])
def test_the_interpreter_ends_with_and_without_close(close: str) -> None:
    program = f"""
from kafka_admin_proto.admin import AdminError, SyncAdminClient
admin = SyncAdminClient("{NOBODY}")
try:
    admin.brokers()
except AdminError:
    print("refused")
{close}
"""
    done = python("-X", "dev", "-W", "error", "-c", program, check=True)
    assert (done.stdout, done.stderr) == ("refused\n", "")


def test_a_call_that_comes_while_the_thread_is_stopped_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The loop has been handed out, and is gone before the coroutine is in it."""
    thread = LoopThread("test", "client", AdminError)
    assert thread.run(later(1)) == 1
    submit = asyncio.run_coroutine_threadsafe
    stopping = threading.Thread(target=thread.stop)

    def slow_submit(work: Any, loop: asyncio.AbstractEventLoop) -> Any:
        stopping.start()
        stopping.join(0.3)
        return submit(work, loop)

    monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", slow_submit)
    with pytest.raises(AdminError, match="was closed during the call"):
        thread.run(later(2, 60))
    stopping.join()
