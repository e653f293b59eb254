"""Coroutines run so that what they leave behind is an error: tasks, sockets, open files."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def run_without_leaks(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of ``coroutine``, run in asyncio's debug mode.

    AssertionError if it leaves a task, or a socket of this process that is open, whether or not it
    raises. A ResourceWarning is an error too, as all warnings are in these tests.
    """
    with no_sockets_left():
        return run_without_tasks_left(coroutine)


def run_without_tasks_left(coroutine: Coroutine[Any, Any, T]) -> T:
    """The same where other threads of the test have sockets of their own."""

    async def watched() -> T:
        try:
            return await coroutine
        finally:
            await asyncio.sleep(0)  # what was cancelled ends
            left = asyncio.all_tasks() - {asyncio.current_task()}
            assert not left, f"tasks are left: {left}"

    return asyncio.run(watched(), debug=True)


@contextlib.contextmanager
def no_sockets_left() -> Iterator[None]:
    """AssertionError if sockets are open behind the block that were not before it."""
    before = _sockets()
    try:
        yield
    finally:
        gc.collect()
        assert _sockets() <= before, "sockets are left open"


def _sockets() -> set[str]:
    """The sockets of this process by inode; Linux alone says."""
    folder = Path("/proc/self/fd")
    found = set()
    for each in folder.iterdir() if folder.exists() else ():
        with contextlib.suppress(OSError):
            name = os.readlink(each)
            if name.startswith("socket:"):
                found.add(name)
    return found
