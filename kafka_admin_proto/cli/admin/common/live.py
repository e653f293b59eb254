"""A command's connection to the cluster: one client, opened when it is first needed.

A shell keeps the client between its commands; otherwise it is closed at the command's end.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import click
import msgspec

from kafka_admin_proto.cli.admin.common.settings import DEFAULT_TIMEOUT_S, Settings
from kafka_admin_proto.render.text import printable

if TYPE_CHECKING:
    import asyncio

    from kafka_admin_proto.admin import AdminClient
    from kafka_admin_proto.cli.admin.common.answer import Row

T = TypeVar("T")

#: Seconds for a request after the deadline is over: 0 would mean not to wait.
_LEAST_S = 0.001
#: Seconds that names for completion stay good.
_NAMES_AGE_S = 10.0
#: Seconds that somebody who presses Tab waits at most.
_COMPLETION_S = 1.5


class ClusterConnection:
    """A client and the event loop that it lives in, which runs only while something is asked.

    ``operations`` are classes of operations that the client has; all of them without any named.
    ``may_ask``: a password that is nowhere else may be asked for on the terminal, and warnings may
    be written there.
    """

    def __init__(
        self, settings: Settings, *, operations: Sequence[str] = (), may_ask: bool = True
    ) -> None:
        self.settings = settings
        self._operations = operations
        self._may_ask = may_ask
        self._lock = threading.Lock()
        self._arguments: Mapping[str, Any] = {}
        self._runner: asyncio.Runner | None = None
        self._client: AdminClient | None = None
        #: What is to be said of the client's settings, by the first command.
        self._notices: list[str] = []

    def ask(self, operation: Callable[[AdminClient], Awaitable[T]]) -> T:
        """The result of an operation of the client. Ctrl-C cancels it: KeyboardInterrupt.

        Threads wait for each other: the shell's completion asks from one of its own.
        """
        with self._lock:
            return self._ask(operation)

    def _ask(self, operation: Callable[[AdminClient], Awaitable[T]]) -> T:
        import asyncio

        # The prompt has the terminal while a thread of completion asks, and completion of the
        # system's shell has a line that is being typed: neither asks or says anything.
        speaks = self._may_ask and threading.current_thread() is threading.main_thread()
        if self._runner is None:
            from kafka_admin_proto.cli.admin.common.client import client_arguments

            # Before the loop runs: it may ask for a password, which Ctrl-C is to end.
            self._arguments = client_arguments(self.settings, may_ask=speaks)
            self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        return self._runner.run(self._run(operation, speaks))

    async def _run(self, operation: Callable[[AdminClient], Awaitable[T]], speaks: bool) -> T:
        if self._client is None:
            from kafka_admin_proto.cli.admin.common.client import new_client

            self._client, self._notices = new_client(self._arguments, self._operations)
        if speaks:
            for notice in self._notices:
                click.echo(printable(notice), err=True)
            self._notices = []
        return await operation(self._client)

    def close(self) -> None:
        """Close the client's connections and its event loop."""
        client, self._client = self._client, None
        runner, self._runner = self._runner, None
        if runner is not None:
            with runner:
                if client is not None:
                    runner.run(client.close())


class ShellState:
    """What a shell remembers from one command to the next: settings, client, names."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.connection: ClusterConnection = ClusterConnection(settings)
        #: Kind of names → when they were asked for (seconds), and the names.
        self._names: dict[str, tuple[float, list[str]]] = {}

    def names(self, kind: str, ask: Callable[[AdminClient], Awaitable[Iterable[str]]]) -> list[str]:
        """Names of that kind, at most some seconds old; none where the cluster does not answer."""
        since, names = self._names.get(kind, (-_NAMES_AGE_S, []))
        if time.monotonic() - since >= _NAMES_AGE_S:
            with contextlib.suppress(Exception):  # completion at a prompt shows no errors
                names = list(self.connection.ask(lambda client: within(ask(client))))
            self._names[kind] = time.monotonic(), names
        return names

    def forget_names(self) -> None:
        """Forget the names, which a command may have changed."""
        self._names.clear()


class Live:
    """What a command gets: its settings, and ``ask`` for the cluster's answers."""

    def __init__(
        self,
        settings: Settings,
        shell: ShellState | None,
        default_output: str,
        operations: Sequence[str],
    ) -> None:
        self.settings = settings
        self._default_output = default_output
        self._operations = operations
        self._shell = shell
        self._own: ClusterConnection | None = None
        #: Seconds that the cluster has taken so far, and when it was asked what it is asked now.
        self._spent = 0.0
        self._asked_at: float | None = None

    @property
    def in_shell(self) -> bool:
        """Whether standard input has the shell's further commands."""
        return self._shell is not None

    @property
    def output(self) -> str:
        """Which of the outputs the answer is written in."""
        return self.settings.output or self._default_output

    @property
    def timeout(self) -> float:
        """Seconds that are left for the command, 0 or less where nothing is to be waited for.

        Time in which a question waits for its answer does not count.
        """
        given = self.settings.timeout
        if given is not None and given <= 0:
            return given
        now = 0.0 if self._asked_at is None else time.monotonic() - self._asked_at
        whole = DEFAULT_TIMEOUT_S if given is None else given
        left = whole - self._spent - now
        return round(left, 1) if left >= 1 else max(left, _LEAST_S)  # sentences show it

    def ask(self, operation: Callable[[AdminClient], Awaitable[T]]) -> T:
        """The result of ``operation``; several calls of one command share a client.

        What the first of them takes of the time, the others have not.
        """

        async def timed(client: AdminClient) -> T:
            usual, left = client.default_timeout, self.timeout
            if left > 0:
                client.default_timeout = left
            self._asked_at = time.monotonic()
            try:
                return await operation(client)
            finally:
                client.default_timeout = usual
                self._spent += time.monotonic() - self._asked_at
                self._asked_at = None

        return self.ask_one_of_many(timed)

    def rows(self, operation: Callable[[AdminClient], Awaitable[Sequence[Any]]]) -> list[Row]:
        """The results of ``operation`` as builtins, which an answer shows and writes as JSON."""
        rows: list[Row] = msgspec.to_builtins(self.ask(operation))
        return rows

    def row(self, operation: Callable[[AdminClient], Awaitable[Any]]) -> Row:
        """The one result of ``operation``, as builtins."""
        row: Row = msgspec.to_builtins(self.ask(operation))
        return row

    def ask_one_of_many(self, operation: Callable[[AdminClient], Awaitable[T]]) -> T:
        """The same for one question of a stream, whose end nobody knows: each has all the time."""
        shell = self._shell
        if shell is not None and shell.settings.client == self.settings.client:
            return shell.connection.ask(operation)
        if self._own is None:
            self.settings.check()
            self._own = ClusterConnection(self.settings, operations=self._operations)
        return self._own.ask(operation)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._own is not None:
            self._own.close()


async def within(names: Awaitable[Any]) -> Any:
    """The names, or TimeoutError when they take too long."""
    import asyncio

    return await asyncio.wait_for(names, _COMPLETION_S)
