"""The control socket, by which other processes stop and start brokers with lines of text.

The socket is a file that only its owner can open. Each line is a command and is answered by one
line: "ok", the requested values, or "error: " and a sentence.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka_admin_proto.server.cluster import Cluster

#: The most bytes of a line.
_LINE_BYTES = 4096
#: Commands with their arguments, as the help shows them.
COMMANDS = {
    "status": "what each broker does, and who is the active controller",
    "stop BROKER": "end it as SIGTERM does: what it leads moves first",
    "kill BROKER": "end it as SIGKILL does: it is missed when its session is over",
    "start BROKER": "start one that has ended, on its ports",
    "fence BROKER": "let the controller take it for lost, though it runs",
    "unfence BROKER": "let it be there again",
    "delay SECONDS [BROKER]": "let it, or all, see changes so late; 0: at once; inf: no more",
    "fault NAME=VALUE...": "let something go wrong with requests, as --fault does",
    "faults": "each fault, and how often it fired",
    "heal": "let nothing go wrong any more",
}


@contextlib.asynccontextmanager
async def control_socket(cluster: Cluster, path: Path) -> AsyncIterator[None]:
    """Take commands for a cluster at ``path``, which is removed at the end.

    Raises OSError if the path is another kind of file, or a socket that another process serves.
    """
    listening = _listening(path)
    writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        await _serve(cluster, reader, writer)
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


def send(path: Path, command: str) -> str:
    """Send a command; returns its answer. Raises OSError if no process serves the socket."""
    with socket.socket(socket.AF_UNIX) as connection:
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
    cluster: Cluster, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Answer the commands of one connection until its other side ends."""
    with contextlib.suppress(ConnectionError):
        try:
            while line := await reader.readline():
                answer = await _carried_out(cluster, line.decode(errors="replace").split())
                writer.write(f"{answer}\n".encode())
                await writer.drain()
        except ValueError:  # the line is longer than any command
            writer.write(b"error: the line is too long\n")
        finally:
            writer.close()


async def _carried_out(cluster: Cluster, words: list[str]) -> str:
    name, *arguments = words or [""]
    carry_out = _CALLS.get(name)
    if carry_out is None:
        return f"error: {name!r} is no command; there are {', '.join(COMMANDS)}"
    (usage,) = (each for each in COMMANDS if each.split()[0] == name)
    most = len(usage.split()) - 1
    any_number = usage.endswith("...")
    if not any_number and not most - usage.count("[") <= len(arguments) <= most:
        return f"error: the command is {usage}"
    try:
        return await carry_out(cluster, *arguments) or "ok"
    except (OSError, ValueError) as error:
        return f"error: {error}"


async def _status(cluster: Cluster) -> str:
    quorum = cluster.state.quorum
    states = " ".join(f"{each}={state}" for each, state in cluster.broker_states.items())
    controller = quorum.controller if quorum.available else "none"
    return f"{states} controller={controller} epoch={quorum.epoch}"


async def _stop(cluster: Cluster, broker: str) -> None:
    await cluster.stop_broker(_number(broker))


async def _kill(cluster: Cluster, broker: str) -> None:
    await cluster.kill_broker(_number(broker))


async def _start(cluster: Cluster, broker: str) -> None:
    await cluster.start_broker(_number(broker))


async def _fence(cluster: Cluster, broker: str) -> None:
    cluster.fence_broker(_number(broker))


async def _unfence(cluster: Cluster, broker: str) -> None:
    cluster.unfence_broker(_number(broker))


async def _delay(cluster: Cluster, seconds: str, broker: str | None = None) -> None:
    try:
        delay_s = float(seconds)
    except ValueError:
        raise ValueError(f"{seconds!r} is no number of seconds") from None
    cluster.delay_metadata(delay_s, None if broker is None else _number(broker))


async def _fault(cluster: Cluster, *words: str) -> None:
    cluster.faults.add_text(" ".join(words))


async def _faults(cluster: Cluster) -> str:
    return "; ".join(f"{each.text}: fired {each.fired} times" for each in cluster.faults) or "none"


async def _heal(cluster: Cluster) -> None:
    cluster.faults.clear()


_CALLS: dict[str, Callable[..., Awaitable[str | None]]] = {
    "status": _status,
    "stop": _stop,
    "kill": _kill,
    "start": _start,
    "fence": _fence,
    "unfence": _unfence,
    "delay": _delay,
    "fault": _fault,
    "faults": _faults,
    "heal": _heal,
}


def _number(broker: str) -> int:
    if not broker.isdecimal():
        raise ValueError(f"{broker!r} is no broker's id")
    return int(broker)
