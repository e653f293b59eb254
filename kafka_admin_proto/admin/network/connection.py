"""One connection to a broker: pipelined requests, each with a future of its response."""

from __future__ import annotations

import asyncio
import random
import ssl
from typing import Any

from kafka_admin_proto.admin.errors import (
    AuthenticationError,
    ConnectionFailedError,
    ConnectionLostError,
    InstructionError,
)
from kafka_admin_proto.admin.network.errors import ended_early, handshake_failed, not_kafka
from kafka_admin_proto.admin.network.tracing import Trace, Tracer
from kafka_admin_proto.admin.settings.config import ClientConfig
from kafka_admin_proto.errors import EncodeError, RemoteProtocolError, SaslError
from kafka_admin_proto.protocol import Api, api_keys, api_versions
from kafka_admin_proto.protocol.addresses import Address
from kafka_admin_proto.protocol.connection import (
    CLIENT,
    NEED_DATA,
    Connection,
    ConnectionClosed,
    ProofNeeded,
    Ready,
    Reauthenticated,
    ResponseReceived,
)
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.protocol.releases import release
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

#: Seconds that a broker has to end its side of a connection that we end.
_CLOSE_S = 0.5
#: The part of a session's lifetime after which to authenticate again, as Kafka's clients do.
_REAUTHENTICATE = (0.85, 0.95)
#: Seconds between two authentications, however short a session is: Kafka's brokers take no second
#: one within a second (``KafkaChannel``).
_REAUTHENTICATE_PAUSE_S = 1.0


class BrokerConnection(asyncio.Protocol):
    """A connection to one broker; ``open_connection`` makes one that is ready."""

    def __init__(
        self,
        address: Address,
        config: ClientConfig,
        broker: int | None,
        trace: Trace | None,
        asks_at: int | None = None,
    ) -> None:
        """``asks_at`` is the version of ApiVersions to ask with, None for the newest."""
        self.address = address
        self.broker = broker
        self.apis: dict[int, VersionRange] = {}
        self.max_release: str | None = config.max_release
        #: Whether the broker has sent anything.
        self.is_heard: bool = False
        #: Whether a proof is computed, or the provider of tokens asked.
        self.awaits_proof: bool = False
        #: Answers so far, that to ApiVersions left out.
        self.answered: int = 0
        #: Whether another connection of this client has got answers: no login is missing then.
        self.passes_without_sasl: bool = False
        #: Whether a call's time was over before any answer came, and none has come since.
        self.is_silent: bool = False
        #: On the loop's clock: until then the broker wants no request of ours.
        self.throttled_until: float = 0.0
        self._config = config
        self._loop = asyncio.get_running_loop()
        self._tracer = Tracer(trace, broker, str(address))
        self._ours = _apis(self.max_release, asks_at)
        self._conn = Connection(
            CLIENT,
            client_id=config.client_id,
            sasl=config.credentials(),
            defer_proofs=True,
            trace=self._tracer,
            apis=self._ours,
        )
        self._transport: asyncio.Transport | None = None
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._failure: ConnectionFailedError | None = None
        self._pending: set[asyncio.Future[ResponseReceived]] = set()
        self._reauthentication: asyncio.TimerHandle | None = None
        self._slots = asyncio.Semaphore(self._conn.limits.in_flight)

    def __repr__(self) -> str:
        return f"<BrokerConnection {self.name}>"

    @property
    def name(self) -> str:
        """The broker as sentences name it: "broker 2 (kafka-2:9092)"."""
        return (
            str(self.address) if self.broker is None else f"broker {self.broker} ({self.address})"
        )

    @property
    def is_usable(self) -> bool:
        """Whether requests can be sent."""
        return self._failure is None and self._ready.done()

    @property
    def has_ended(self) -> bool:
        """Whether its socket is closed."""
        return self._ended.done()

    @property
    def in_flight(self) -> int:
        return len(self._pending)

    @property
    def is_awaited(self) -> bool:
        """Whether anybody waits for an answer."""
        return not all(each.done() for each in self._pending)

    @property
    def is_abandoned(self) -> bool:
        """Whether the broker owes answers alone that nobody waits for: it gives them first."""
        return bool(self._pending) and not self.is_awaited

    def set_broker(self, broker: int) -> None:
        """Note that the address is that of this broker."""
        self.broker = broker
        self._tracer.broker = broker

    async def ready(self) -> None:
        """Wait for the broker's versions, and for SASL."""
        await self._ready

    async def request(self, request: Message, version: int) -> ResponseReceived:
        """The response to a request. A response whose caller was cancelled is dropped when it
        comes.

        Raises ConnectionLostError when the connection ends before, RemoteProtocolError for an
        answer that cannot be read, InstructionError for a request that cannot be written.
        """
        await self._slots.acquire()  # given back with the answer, whoever still waits for it
        try:
            self._raise_failure()
            answer: asyncio.Future[ResponseReceived] = self._loop.create_future()
            data = self._conn.send(request, version, answer)
        except EncodeError as error:
            self._slots.release()
            raise InstructionError(str(error)) from error
        except BaseException:
            self._slots.release()
            raise
        self._pending.add(answer)
        self._write(data)
        try:
            event = await answer
        except ConnectionLostError as error:
            raise ConnectionLostError(
                f"{error}, before it answered {_name(request)}",
                address=error.address,
                may_have_acted=True,
            ) from None
        if event.response.error is not None:
            raise RemoteProtocolError(
                f"{self.name}: the answer to {_name(request)} v{version} cannot be read: "
                f"{event.response.problem}"
            )
        return event

    def close(self, failure: ConnectionFailedError | None = None) -> None:
        """End the connection; pending requests fail with ``failure``.

        What was written goes out first, unless there is a failure.
        """
        closed = ConnectionLostError(f"{self.name}: the client was closed")
        self._fail(failure or closed, abort=failure is not None)

    async def wait_closed(self) -> None:
        """Wait until the socket is closed, and close it by force after a moment."""
        transport = self._transport
        if transport is None:
            return
        try:
            async with asyncio.timeout(_CLOSE_S):
                await asyncio.shield(self._ended)
        except TimeoutError:
            transport.abort()
            await asyncio.wait([self._ended], timeout=_CLOSE_S)
        except asyncio.CancelledError:
            transport.abort()
            raise

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._write(self._conn.start())

    def data_received(self, data: bytes) -> None:
        if self._failure is not None:
            return
        self.is_heard = True
        self._conn.receive_data(data)
        self._take_events()

    def eof_received(self) -> None:
        if self._failure is not None:
            return
        self._conn.receive_data(b"")
        self._take_events()

    def connection_lost(self, error: Exception | None) -> None:
        if self._failure is None:
            self._fail(self._ended_error(error))
        if not self._ended.done():
            self._ended.set_result(None)

    # Events of the protocol.

    def _take_events(self) -> None:
        try:
            while (event := self._conn.next_event()) is not NEED_DATA:
                self._take(event)
            self._write(self._conn.data_to_send())
        except RemoteProtocolError as error:
            self._fail(self._protocol_error(error))

    def _take(self, event: Any) -> None:
        if isinstance(event, ResponseReceived):
            self._answer(event)
        elif isinstance(event, Ready):
            self.apis = dict(event.apis)
            if self.max_release is not None:
                ours = {each.api_key: each.versions for each in self._ours or []}
                self.apis = {key: ours[key] & self.apis[key] for key in ours.keys() & self.apis}
            self._note_throttle(event.response)
            self._schedule_reauthentication(event.session_lifetime_ms)
            if not self._ready.done():
                self._ready.set_result(None)
        elif isinstance(event, Reauthenticated):
            self._schedule_reauthentication(event.session_lifetime_ms)
        elif isinstance(event, ProofNeeded):  # PBKDF2, or a provider of tokens: not in the loop
            self.awaits_proof = True
            proof = self._loop.run_in_executor(None, event.compute)
            proof.add_done_callback(self._send_proof)
        elif isinstance(event, ConnectionClosed):
            self._fail(self._ended_error(None))

    def _send_proof(self, proof: asyncio.Future[bytes]) -> None:
        self.awaits_proof = False
        error = None if proof.cancelled() else proof.exception()
        if self._failure is not None or proof.cancelled():
            return
        if isinstance(error, SaslError):  # of the provider of tokens
            failure = self._protocol_error(error)
            failure.__cause__ = error.__cause__
            self._fail(failure)
            return
        self._write(self._conn.send_proof(proof.result()))
        self._take_events()

    def _answer(self, event: ResponseReceived) -> None:
        self.answered += 1
        self.is_silent = False
        self._note_throttle(event.response.body)
        self._slots.release()
        waiting: asyncio.Future[ResponseReceived] = event.request.context
        self._pending.discard(waiting)
        if not waiting.done():
            waiting.set_result(event)

    def _note_throttle(self, body: Message | None) -> None:
        """Note how long the broker wants no request of a client that is over its quota."""
        throttle_ms = getattr(body, "throttle_time_ms", 0)
        if throttle_ms > 0:
            self.throttled_until = max(self.throttled_until, self._loop.time() + throttle_ms / 1000)

    def _schedule_reauthentication(self, lifetime_ms: int) -> None:
        if lifetime_ms > 0:
            delay = lifetime_ms / 1000 * random.uniform(*_REAUTHENTICATE)
            self._reauthentication = self._loop.call_later(
                max(delay, _REAUTHENTICATE_PAUSE_S), self._reauthenticate
            )

    def _reauthenticate(self) -> None:
        if self._failure is None:
            self._write(self._conn.reauthenticate())

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None and self._failure is None:
            self._transport.write(data)

    def _ended_error(self, error: Exception | None) -> ConnectionFailedError:
        if not self._ready.done():
            if isinstance(error, ssl.SSLError):
                return handshake_failed(self.address, error)
            return ended_early(self.address, uses_tls=self._config.uses_tls)
        if isinstance(error, ssl.SSLError):
            reason = (error.reason or str(error)).lower().replace("_", " ")
            return ConnectionLostError(
                f"TLS with {self.name} broke ({reason})", address=str(self.address)
            )
        reason = f" ({error})" if error else ""
        hint = ""
        if not (self.answered or self.passes_without_sasl or self._config.uses_sasl):
            hint = (
                " (listeners with SASL do so to a client that does not log in: for one of these "
                "set security.protocol SASL_SSL or SASL_PLAINTEXT)"
            )
        return ConnectionLostError(
            f"{self.name} ended the connection{reason}{hint}", address=str(self.address)
        )

    def _protocol_error(self, error: RemoteProtocolError) -> ConnectionFailedError:
        if isinstance(error, SaslError):
            return AuthenticationError(f"{self.name}: {error}", address=str(self.address))
        if not self._ready.done():
            return not_kafka(self.address, error, uses_tls=self._config.uses_tls)
        return ConnectionLostError(
            f"{self.name} broke the protocol: {error}", address=str(self.address)
        )

    def _fail(self, failure: ConnectionFailedError, *, abort: bool = True) -> None:
        if self._failure is not None:
            return
        self._failure = failure
        if self._reauthentication is not None:
            self._reauthentication.cancel()
        self._tracer.end()
        waiters: list[asyncio.Future[Any]] = [self._ready, *self._pending]
        for waiting in waiters:
            if not waiting.done():
                waiting.set_exception(failure)
                waiting.exception()  # it is no fault when nobody waits for it
        for _ in self._pending:
            self._slots.release()
        self._pending.clear()
        if self._transport is not None:
            if abort:
                self._transport.abort()
            else:
                self._transport.close()

    def _raise_failure(self) -> None:
        """Raise why the connection has ended; what was not written yet has not acted."""
        failure = self._failure
        if isinstance(failure, ConnectionLostError):
            raise ConnectionLostError(str(failure), address=failure.address)
        if failure is not None:
            raise failure


def _apis(newest: str | None, asks_at: int | None) -> list[Api] | None:
    """The apis of this client as that release has them, ApiVersions up to a version; None: all."""
    if newest is None and asks_at is None:
        return None
    apis = []
    for api in api_versions():
        versions = api.versions
        if newest is not None:
            versions = versions & release(newest).versions_of(api.api_key)
        if asks_at is not None and api.api_key == api_keys.API_VERSIONS:
            versions = versions & VersionRange(0, asks_at)
        if not versions.empty:
            apis.append(Api(api.api_key, api.name, versions))
    return apis


def _name(request: Message) -> str:
    return api_name(request.api_key or 0, request.dialect) or request.message_name
