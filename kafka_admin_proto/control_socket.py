"""A control socket, by which other processes give a process commands with lines of text.

The socket is a file that only its owner can open. Each line is a command and is answered by one
line: "ok", the requested values, or "error: " and a sentence. "ok: " and a sentence is the answer
to a command that changes nothing, as all is so already.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from pathlib import Path

#: Carries out a command with its arguments, which are as many as its usage says. What it gives is
#: the answer, "ok" for None; OSError and ValueError are errors.
Command = Callable[..., Awaitable[str | None]]

_LINE_BYTES = 4096


@contextlib.asynccontextmanager
async def control_socket(path: Path, commands: Mapping[str, Command]) -> AsyncIterator[None]:
    """Take commands at ``path``, which is removed at the end.

    They are by their usage, as "stop BROKER": arguments in brackets may be left out, and one that
    ends in "..." stands for any number. Raises OSError if the path is another kind of file, or a
    socket that another process serves.
    """
    listening = _listening(path)
    writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        await _serve(commands, reader, writer)
        writers.discard(writer)

    try:
        server = await asyncio.start_unix_server(serve, sock=listening, limit=_LINE_BYTES)
        async with server:
            try:
                yield
            finally:
                for each in list(writers):  # else the server's end waits for theirs
                    each.close()
    finally:
        listening.close()
        path.unlink(missing_ok=True)


def send(path: Path, command: str, *, timeout_s: float = 60.0) -> str:
    """Send a command; returns its answer. Raises OSError if no process serves the socket.

    TimeoutError, one of these, if the process has said nothing for that long: it is stopped.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_s)
        connection.connect(str(path))
        connection.sendall(command.encode() + b"\n")
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(_LINE_BYTES), b""))
    return answer.decode().rstrip("\n")


def _listening(path: Path) -> socket.socket:
    """A socket that only its owner can open; the socket of a crashed process is replaced."""
    if path.exists():
        if not stat.S_ISSOCK(path.stat().st_mode) or _is_served(path):
            raise OSError(errno.EADDRINUSE, "it is there already")
        path.unlink()
    found = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        found.bind(str(path))
    except OSError:
        found.close()
        raise
    finally:
        os.umask(before)
    found.listen()
    found.setblocking(False)
    return found


def _is_served(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


async def _serve(
    commands: Mapping[str, Command], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer the commands of one connection until its other side ends."""
    with contextlib.suppress(ConnectionError):
        try:
            while line := await reader.readline():
                answer = await _carried_out(commands, line.decode(errors="replace").split())
                writer.write(f"{answer}\n".encode())
                await writer.drain()
        except ValueError:  # the line is longer than any command
            writer.write(b"error: the line is too long\n")
        finally:
            writer.close()


def usage_fault(commands: Iterable[str], words: list[str]) -> str:
    """Why the words are none of the commands with its arguments, or ""."""
    name, *arguments = words or [""]
    usage = _usage(commands, name)
    if usage is None:
        return f"{name!r} is no command; there are {', '.join(commands)}"
    most = len(usage.split()) - 1
    any_number = usage.endswith("...")
    if not any_number and not most - usage.count("[") <= len(arguments) <= most:
        return f"the command is {usage}"
    return ""


def _usage(commands: Iterable[str], name: str) -> str | None:
    """The command of that name, with its arguments."""
    return next((each for each in commands if each.split()[0] == name), None)


async def _carried_out(commands: Mapping[str, Command], words: list[str]) -> str:
    if fault := usage_fault(commands, words):
        return f"error: {fault}"
    name, *arguments = words
    usage = _usage(commands, name)
    assert usage is not None  # it is the fault else
    try:
        return await commands[usage](*arguments) or "ok"
    except (OSError, ValueError) as error:
        return f"error: {error}"
