"""The open connections of a client: one for each broker, shared by all calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from kafka_admin_proto.admin.errors import (
    AdminError,
    AuthenticationError,
    ConnectionFailedError,
    ConnectionLostError,
    TlsError,
)
from kafka_admin_proto.admin.network.connection import BrokerConnection
from kafka_admin_proto.admin.network.opening import open_connection
from kafka_admin_proto.admin.network.tracing import Trace
from kafka_admin_proto.admin.settings.config import ClientConfig
from kafka_admin_proto.counts import counted
from kafka_admin_proto.protocol.addresses import Address

#: What a connection is for: a broker's id, or a bootstrap address.
Key = int | Address
#: Seconds until the next address is tried beside one that has not answered yet.
_STAGGER_S = 0.25
_CLOSED = "the client is closed"


class Pool:
    """Connections by broker id or bootstrap address."""

    def __init__(self, config: ClientConfig, trace: Trace | None) -> None:
        #: Whether any connection has ever been made.
        self.ever_connected: bool = False
        #: Whether any has got an answer, as far as was known when the last one was opened.
        self._answered = False
        self._config = config
        self._trace = trace
        self._connections: dict[Key, BrokerConnection] = {}
        #: All that may still hold a socket.
        self._alive: set[BrokerConnection] = set()
        self._opening: dict[Key, asyncio.Task[BrokerConnection]] = {}
        #: Failed attempts in a row, and when the next may begin (time.monotonic).
        self._failures: dict[Key, tuple[int, float]] = {}
        self._closed = False

    @property
    def usable(self) -> list[BrokerConnection]:
        """Connections that take requests, each once."""
        return list(dict.fromkeys(each for each in self._connections.values() if each.is_usable))

    @property
    def is_open(self) -> bool:
        """Whether there may be sockets to close."""
        return not self._closed and any(not each.has_ended for each in self._alive)

    def failures(self, key: Key) -> int:
        """How often in a row no connection came about."""
        return self._failures.get(key, (0, 0.0))[0]

    def share_with_broker(self, address: Address, broker: int) -> None:
        """A bootstrap address is that broker's own: its connection serves for both."""
        bootstrap = self._connections.get(address)
        own = self._connections.get(broker)
        if bootstrap is not None and bootstrap.is_usable and (own is None or not own.is_usable):
            bootstrap.set_broker(broker)
            self._connections[broker] = bootstrap

    async def get(self, key: Key, address: Address) -> BrokerConnection:
        """The connection for ``key``, which is opened at ``address`` if there is none.

        One that is abandoned gives way to a new one, which does not wait for the old answers.
        Concurrent calls wait for the same one; it is opened even if they are cancelled.
        """
        found = self._connections.get(key)
        fits = found is not None and found.address == address
        if found is not None and fits and found.is_usable and not found.is_abandoned:
            return found
        task = self._open(key, address)
        await asyncio.wait([task])
        return self._connection_of(task)

    async def first(self, candidates: Sequence[tuple[Key, Address]]) -> BrokerConnection:
        """The first connection that opens; the next candidate is tried beside one that takes long.

        Raises ConnectionFailedError with the reasons of all.
        """
        waiting: set[asyncio.Task[BrokerConnection]] = set()
        errors: list[ConnectionFailedError] = []
        left = list(candidates)
        while left or waiting:
            if left:
                waiting.add(self._open(*left.pop(0)))
            stagger = _STAGGER_S if left else None
            done, waiting = await asyncio.wait(
                waiting, timeout=stagger, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                try:
                    return self._connection_of(task)
                except ConnectionFailedError as error:
                    errors.append(error)
        raise _combined(errors)

    async def close(self) -> None:
        """End all connections and wait until their sockets are closed."""
        self._closed = True
        opening = list(self._opening.values())
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        for connection in self._alive:
            connection.close()
        await asyncio.gather(*(each.wait_closed() for each in self._alive))
        self._connections.clear()
        self._alive.clear()

    def _open(self, key: Key, address: Address) -> asyncio.Task[BrokerConnection]:
        if self._closed:
            raise AdminError(_CLOSED)
        task = self._opening.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._open_and_keep(key, address))
            self._opening[key] = task
            task.add_done_callback(lambda done: self._finish(key, done))
        return task

    async def _open_and_keep(self, key: Key, address: Address) -> BrokerConnection:
        failures, not_before = self._failures.get(key, (0, 0.0))
        await asyncio.sleep(max(0.0, not_before - time.monotonic()))
        broker = key if isinstance(key, int) else None
        try:
            connection = await open_connection(
                address, self._config, broker=broker, trace=self._trace
            )
        except ConnectionFailedError:
            pause = self._config.reconnect_backoff.pause(failures + 1)
            self._failures[key] = (failures + 1, time.monotonic() + pause)
            raise
        self._failures.pop(key, None)
        self.ever_connected = True
        self._answered = self._answered or any(each.answered for each in self._alive)
        connection.passes_without_sasl = self._answered
        before = self._connections.get(key)
        # One that has answered in the meantime may have another call's request.
        if before is not None and not (before.is_awaited and before.address == address):
            before.close(ConnectionLostError(f"{before.name}: another connection took its place"))
        self._connections[key] = connection
        self._alive = {each for each in self._alive if not each.has_ended} | {connection}
        return connection

    def _connection_of(self, task: asyncio.Task[BrokerConnection]) -> BrokerConnection:
        if task.cancelled():  # not by the caller, who would be cancelled as well
            raise AdminError(_CLOSED)
        return task.result()

    def _finish(self, key: Key, task: asyncio.Task[BrokerConnection]) -> None:
        self._opening.pop(key, None)
        if not task.cancelled():
            task.exception()  # retrieved by those who wait, if any still does


def _combined(errors: Sequence[ConnectionFailedError]) -> ConnectionFailedError:
    """One error for several addresses; an error that the user can mend is preferred."""
    if len(errors) == 1:
        return errors[0]
    for kind in (AuthenticationError, TlsError):
        for error in errors:
            if isinstance(error, kind):
                return error
    reasons = "; ".join(dict.fromkeys(map(str, errors)))
    addresses = list(dict.fromkeys(error.address for error in errors))
    return ConnectionFailedError(
        f"none of {counted(len(addresses), 'addresses')} gave a connection: {reasons}",
        address=",".join(addresses),
    )
