"""What a process that serves needs: open files, lines on stderr, an end by a signal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kafka_admin_proto.loggers import PACKAGE

if TYPE_CHECKING:
    from kafka_admin_proto.control_socket import Command


def until_stopped() -> asyncio.Event:
    """Set by SIGINT and SIGTERM; to be called in the loop that runs."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, ended.set)
    return ended


def allow_open_files() -> None:
    """As many connections as the system allows this process, as a JVM does by itself."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # the system may refuse an unlimited number
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextlib.contextmanager
def logged_to_stderr() -> Iterator[None]:
    """The lines of the package's loggers go to stderr, warnings and above."""
    handler = logging.StreamHandler()
    PACKAGE.addHandler(handler)
    try:
        yield
    finally:
        PACKAGE.removeHandler(handler)


@contextlib.asynccontextmanager
async def commands_at(path: Path, commands: Mapping[str, Command]) -> AsyncIterator[None]:
    """A socket for ``kap serve-control``, for --control."""
    from kafka_admin_proto.control_socket import control_socket

    try:
        opened = contextlib.AsyncExitStack()
        await opened.enter_async_context(control_socket(path, commands))
    except OSError as error:
        text = f"--control: cannot take commands at {path}: {error.strerror or error}"
        raise click.UsageError(text) from None
    async with opened:
        yield
