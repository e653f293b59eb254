"""One client's connection to one node: it decodes requests and answers them in their order.

An error closes the connection. A connection may be paused: it then neither reads nor answers, and
requests that have arrived wait in their order.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial

from kafka_admin_proto.errors import (
    KafkaAdminProtoError,
    LocalProtocolError,
    RemoteProtocolError,
    SaslError,
)
from kafka_admin_proto.protocol.connection import (
    NEED_DATA,
    PAUSED,
    Authenticated,
    ConnectionClosed,
    RequestReceived,
    ServerConnection,
)
from kafka_admin_proto.server.failures import REQUEST_TIMED_OUT, ControllerUnavailable
from kafka_admin_proto.server.handlers import IN_STEPS, Answer, Caller
from kafka_admin_proto.server.java import host_address
from kafka_admin_proto.server.network.node import Listener, Node
from kafka_admin_proto.server.network.paced_reads import ReadControl
from kafka_admin_proto.server.network.service import LoginRules, Service, decoded
from kafka_admin_proto.server.network.turns import Steps

#: Answers are collected up to about so many bytes before they are written.
_WRITE_BYTES = 64 << 10
#: Connections with so many bytes of an incomplete request are read one in a turn.
_LARGE_BYTES = 128 << 10
#: Requests of so many bytes name some tens of topics at most, and are answered in one step.
_SMALL_BYTES = 512
#: How long a broker waits for a controller to which it can forward a request.
_CONTROLLER_S = 60.0


class NodeConnection(asyncio.BufferedProtocol):
    """The asyncio protocol of one client; without ``login`` the client is anonymous."""

    def __init__(
        self, service: Service, node: Node, listener: Listener, login: LoginRules | None = None
    ) -> None:
        self.service = service
        self._node = node
        self._listener = listener
        self._login = login
        self._connection = ServerConnection(
            apis=service.apis,
            limits=service.limits if login is None else login.limits,
            sasl=None if login is None else login.sasl,
            dialect=service.dialect,
        )
        self._principal = "User:ANONYMOUS"
        #: Closes the connection of a client that does not authenticate in time.
        self._login_timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self._reading = ReadControl(service.paced_reads)
        self.host: str = ""
        #: Whether bytes were received or sent since the last idle check.
        self.active: bool = True
        #: Idle checks since bytes were last received or sent.
        self.idle_checks: int = 0
        #: Bytes received of a request that is not complete yet.
        self.unfinished_bytes = 0
        self._writable = True
        self._paused = False
        #: A decoded request that waits for a controller, or for this connection's turn.
        self._waiting: RequestReceived | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to read, within the limits of the cluster and in the time for a login."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._reading.begin(transport)
        peer = transport.get_extra_info("peername")
        self.host = host_address(str(peer[0])) if peer else ""
        self._node.connections.add(self)
        self.service.limiter.admit(self)
        if self._login is not None:
            self._login_timer = self._loop.call_later(self._login.login_s, self.close)

    def authenticated(self, principal: str) -> None:
        """Take the client for this principal ("User:alice") from now on."""
        self._principal = principal
        self._stop_login_timer()

    def _stop_login_timer(self) -> None:
        if self._login_timer is not None:
            self._login_timer.cancel()
            self._login_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Free what the connection holds: its socket is closed."""
        self._node.connections.discard(self)
        self._transport = None
        self._reading.end()
        self.service.limiter.remove(self)
        self._stop_login_timer()

    def get_buffer(self, sizehint: int) -> memoryview:
        """The buffer for the next bytes of the client."""
        return self.service.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Answer the requests that are complete with these bytes of the client."""
        self.active = True
        self._connection.receive_data(self.service.buffer[:nbytes])
        self._answer()
        before, unfinished = self.unfinished_bytes, self._connection.buffered
        if before or unfinished or self._reading.small_pieces:
            self._reading.count(nbytes, whole=not before and not unfinished)
            if self._writable and not self._paused:
                self._reading.resume()
        if unfinished != before:
            self.service.limiter.set_unfinished(self, unfinished)
            if unfinished > _LARGE_BYTES and not self._paused:
                self.pause()
                self.service.turns.add(self.resume)

    def eof_received(self) -> bool:
        """The client sends no more bytes: False lets asyncio close the transport."""
        return False

    def pause_writing(self) -> None:
        """The client does not read its answers: read no more of its requests."""
        self._writable = False
        if self._transport is not None:
            self._reading.pause()
            self.service.limiter.stopped_reading(self)

    def resume_writing(self) -> None:
        """The client has read its answers: go on with its requests."""
        self.active = self._writable = True
        self.service.limiter.resumed_reading(self)
        self._continue()

    @property
    def node_id(self) -> int:
        """The id of the node that the client has connected to."""
        return self._node.id

    @property
    def unread_bytes(self) -> int:
        """Bytes of answers that the socket has not taken yet."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def pause(self) -> None:
        """Neither read nor answer until ``resume``."""
        self._paused = True
        self._reading.pause()

    def resume(self, then: Callable[[], None] | None = None) -> None:
        """Call ``then``, which may pause the connection again, and go on with its requests."""
        self._paused = False
        if then is not None:
            then()
        self._continue()

    def pause_for(self, seconds: float, then: Callable[[], None] | None = None) -> None:
        """Pause for so long, then ``resume`` with ``then``."""
        self.pause()
        if seconds > 0:
            self._loop.call_later(seconds, self.resume, then)
        else:
            self._loop.call_soon(self.resume, then)

    def _continue(self) -> None:
        """Answer the requests that have waited and read more, as far as the state allows it."""
        if self._writable and not self._paused:
            self._answer()
        if self._writable and not self._paused:
            self._reading.resume()

    def close(self) -> None:
        """Close the socket at once; bytes that are not sent yet are lost."""
        if self._transport is not None:
            self._transport.abort()

    def _answer(self) -> None:
        """Answer the requests that have arrived; their answers are written together.

        The first request is answered at once. Those behind it are answered while the slice of this
        turn of the event loop lasts, which all connections share; the rest waits for a later turn.
        """
        connection, out, size = self._connection, [], 0
        answered = False
        try:
            while self._transport is not None and self._writable and not self._paused:
                event, self._waiting = self._waiting or connection.next_event(), None
                pending = connection.data_to_send()
                if pending:
                    out.append(pending)
                if isinstance(event, RequestReceived):
                    if answered and self.service.turns.slice_is_over():
                        self._waiting = event
                        self.pause()
                        self.service.turns.add(self.resume)
                        break
                    answered = True
                    answer = self._handle(event)
                    out.append(answer)
                    size += len(answer)
                    if size > _WRITE_BYTES:
                        self._write(out)
                        size = 0
                elif event is NEED_DATA or event is PAUSED or isinstance(event, ConnectionClosed):
                    break
                elif isinstance(event, Authenticated):
                    self.authenticated(event.principal)
        except SaslError as error:
            self._write(out)
            self._refuse_later(error)
        except RemoteProtocolError as error:
            self._write(out)
            self._refuse(error)
        except Exception as error:
            self._write(out)
            self._fail(error)
        else:
            self._write(out)

    def _fail(self, error: Exception) -> None:
        """Close the connection after an error of this program, or of a disk that is full."""
        print(f"node {self._node.id}: {type(error).__name__}: {error}", file=sys.stderr)
        self._refuse(error)

    def _write(self, out: list[bytes]) -> None:
        """Write these bytes, and empty the list."""
        data = b"".join(out)
        out.clear()
        if data and self._transport is not None:
            self._transport.write(data)

    def _handle(self, event: RequestReceived) -> bytes:
        request = event.request
        if event.turn < 0 or request.body is None:
            return b""
        service = self.service
        assert request.header is not None
        caller = Caller(
            self._node.id,
            request.api_version,
            request.header.client_id,
            listener=self._listener.name,
            host=self.host,
            principal=self._principal,
        )
        try:
            if service.faults is not None and service.faults.happen(self, event, caller):
                return b""
            body = service.answers.encoded(caller, request)
        except ControllerUnavailable:
            self._wait_for_controller(event)
            return b""
        if body is not None:
            return self.encoded(event, body)
        if request.api_key in IN_STEPS and len(request.data) > _SMALL_BYTES:
            return self._handle_in_steps(event, service.answers.in_steps(caller, request))
        return self._answered(event, service.answers.answer(caller, request))

    def _answered(self, event: RequestReceived, answer: Answer | bytes) -> bytes:
        """The frame of a new answer; the connection of a throttled client is paused."""
        if not isinstance(answer, bytes):
            throttled_ms: int = getattr(answer.response, "throttle_time_ms", 0)
            if throttled_ms > 0:  # KIP-219: the answer goes out now, and nothing is read meanwhile
                self.pause_for(throttled_ms / 1000)
        return self.encoded(event, answer)

    def _handle_in_steps(self, event: RequestReceived, steps: Steps[Answer]) -> bytes:
        """The frame of the answer; b"" if it takes longer than a slice and is sent later."""
        turns = self.service.turns
        answer = turns.run(steps)
        if answer is not None:
            return self._answered(event, answer)
        self.pause()
        turns.add_large(steps, partial(self._finish_steps, event), partial(self._stop_steps, event))
        return b""

    def _finish_steps(self, event: RequestReceived, answer: Answer) -> None:
        """Send an answer that took several slices, and go on with the requests behind it."""
        if self._transport is None:  # the client has closed the connection
            return
        self._paused = False
        try:
            self.write(self._answered(event, answer))
        except Exception as error:
            self._fail(error)
        else:
            self._continue()

    def _stop_steps(self, event: RequestReceived, error: Exception) -> None:
        """A request of several slices has failed; without a controller it is asked again later."""
        if isinstance(error, ControllerUnavailable):
            self._wait_for_controller(event)
        else:
            self._fail(error)

    def encoded(self, event: RequestReceived, answer: Answer | bytes) -> bytes:
        """The frame of an answer whose records are appended."""
        if self.service.trace is not None:
            self.service.trace(self._node.id, event, decoded(answer, event.request))
        response = answer if isinstance(answer, bytes) else answer.body or answer.response
        return self._connection.send(response, to=event)

    def write(self, data: bytes) -> None:
        """Write the frame of an answer, or the bytes that a fault has made of it."""
        if data and self._transport is not None:
            self._transport.write(data)

    def close_when_sent(self) -> None:
        """Close the connection once all written bytes are sent."""
        self._paused = True
        if self._transport is not None:
            self._transport.close()

    def hand_over(self, protocol: asyncio.Protocol) -> None:
        """Answer no more requests: ``protocol`` gets later bytes, and the end of the socket."""
        self.pause()
        if self._transport is not None:
            self._transport.set_protocol(protocol)
            self._transport.resume_reading()

    def _refuse_later(self, error: SaslError) -> None:
        """Refuse a client whose login failed, after a delay that makes guessing slow."""
        assert self._login is not None
        self.pause()
        if self._transport is not None:
            self._loop.call_later(self._login.failure_delay_s, self._refuse, error)

    def _wait_for_controller(self, event: RequestReceived) -> None:
        """Pause until there is a controller, or answer REQUEST_TIMED_OUT after `_CONTROLLER_S`."""
        waiting = self.service.answers.quorum.waiting

        def ask_again() -> None:
            timer.cancel()
            self.resume()

        def give_up() -> None:
            from kafka_admin_proto.server.faults.error_answers import Failure, whole_answer

            waiting.remove(ask_again)
            if self._transport is None:  # the client has closed the connection
                return
            request, self._waiting = event.request, None
            assert request.body is not None
            failure = Failure(REQUEST_TIMED_OUT)
            response = whole_answer(request.body, request.api_version, failure)
            self.write(self.encoded(event, Answer(response)))
            self.resume()

        timer = self._loop.call_later(_CONTROLLER_S, give_up)
        waiting.append(ask_again)
        self._waiting = event
        self.pause()

    def _refuse(self, error: Exception) -> None:
        """Close the connection, as a broker does; bytes that are written are still sent."""
        transport = self._transport
        if isinstance(error, KafkaAdminProtoError):
            error.without_frames()  # the protocol connection keeps the error
        if transport is None:
            return
        if isinstance(error, KafkaAdminProtoError) and not isinstance(error, LocalProtocolError):
            pending = self._connection.data_to_send()
            if pending:
                transport.write(pending)
        transport.close()
