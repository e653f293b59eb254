"""One client's connection to one node: it decodes requests and answers them in their order.

An error closes the connection. A connection may be paused: it then neither reads nor answers, and
requests that have arrived wait in their order.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import (
    KafkaAdminProtoError,
    LocalProtocolError,
    RemoteProtocolError,
    SaslError,
)
from kafka_admin_proto.gc_tuning import release_transport
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.messages import EnvelopeResponse
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.connection import (
    NEED_DATA,
    PAUSED,
    Authenticated,
    ConnectionClosed,
    RequestReceived,
    ServerConnection,
)
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.render.field_scan import error_codes
from kafka_admin_proto.server.apis import Answer, Caller
from kafka_admin_proto.server.clock import Timer
from kafka_admin_proto.server.failures import ApiFailure, ControllerUnavailable
from kafka_admin_proto.server.java import host_address
from kafka_admin_proto.server.network.node import Listener, Node
from kafka_admin_proto.server.network.service import LoginRules, Service, decoded, throttled
from kafka_admin_proto.server.quorum.envelopes import Forwarded, sealed

_ANONYMOUS = "User:ANONYMOUS"
#: Answers are collected up to about this number of bytes before they are written.
_WRITE_BYTES = 64 << 10
#: Larger requests wait for a turn of the event loop in which no other large one is answered.
_SMALL_BYTES = 512
#: CreateTopics answers all configs of each topic. Above so many bytes of the request, which name
#: some hundreds of topics, the answer is encoded in another thread.
_LARGE_BYTES = 8 << 10
#: Of a client whose answer waits no more is read once so many bytes of later requests have come.
_UNREAD_BYTES = 128 << 10


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
        self._principal = _ANONYMOUS
        #: Whether the client is known, and not by a delegation token.
        self._may_ask_for_tokens = False
        #: For how long the client is to wait that used too much time, by its last request.
        self._throttle_ms = 0
        #: Closes the connection of a client that does not authenticate in time.
        self._login_timer: Timer | None = None
        self._transport: asyncio.Transport | None = None
        self.host: str = ""
        #: Whether bytes were received or sent since the last idle check.
        self.active: bool = True
        #: When bytes were last received, by the cluster's clock.
        self.used_s: float = service.clock.time_s()
        #: Idle checks since bytes were last received or sent.
        self.idle_checks: int = 0
        #: Bytes received of a request that is not complete yet.
        self.unfinished_bytes = 0
        self._writable = True
        self._paused = False
        #: Whether the client sends no more, and what it has sent is answered before the end.
        self._ended = False
        #: A decoded request that waits for a controller, or for this connection's turn.
        self._waiting: RequestReceived | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to read, within the limits of the cluster and in the time for a login."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self.host = host_address(str(peer[0])) if peer else ""
        self._node.connections.add(self)
        self.service.limiter.admit(self)
        if self._login is not None:
            self._login_timer = self.service.clock.later(self._login.login_s, self.close)

    def authenticated(self, principal: str, *, by_token: bool = False) -> None:
        """Take the client for this principal ("User:alice") from now on."""
        self._principal = principal
        with_sasl = self._login is not None and self._login.sasl is not None
        self._may_ask_for_tokens = (with_sasl or principal != _ANONYMOUS) and not by_token
        self._stop_login_timer()

    def _stop_login_timer(self) -> None:
        if self._login_timer is not None:
            self._login_timer.cancel()
            self._login_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Free what the connection holds: its socket is closed."""
        self._node.connections.discard(self)
        release_transport(self._transport)
        self._transport = None
        self.service.limiter.remove(self)
        self.service.waits.forget(self)
        self.service.lost(self)
        self._stop_login_timer()

    def get_buffer(self, sizehint: int) -> memoryview:
        """The buffer for the next bytes of the client."""
        return self.service.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Answer the requests that are complete with these bytes of the client."""
        self.active, self.used_s = True, self.service.clock.catch_up()
        self._connection.receive_data(self.service.buffer[:nbytes])
        self._answer()
        unfinished = self._connection.buffered
        if unfinished != self.unfinished_bytes:
            self.service.limiter.set_unfinished(self, unfinished)
        if self._paused and unfinished > _UNREAD_BYTES and self._transport is not None:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """The client sends no more: the connection ends, but for requests behind one that waits.

        Kafka reads nothing of a client whose answer waits, not even its end, and goes on behind it:
        a member that has sent LeaveGroup behind its JoinGroup does leave.
        """
        self._ended = self._paused and self._connection.buffered > 0
        return self._ended

    def pause_writing(self) -> None:
        """The client does not read its answers: read no more of its requests."""
        self._writable = False
        if self._transport is not None:
            self._transport.pause_reading()
            self.service.limiter.stopped_reading(self)

    def resume_writing(self) -> None:
        """The client has read its answers: go on with its requests."""
        self.active = self._writable = True
        self.service.limiter.resumed_reading(self)
        self._continue()

    @property
    def node_id(self) -> int:
        return self._node.id

    @property
    def is_protected(self) -> bool:
        """Whether ``max.connections`` spares it: others have a listener beside the brokers' own."""
        first, *others = self._node.listeners.values()  # inter.broker.listener.name is the first
        return bool(others) and self._listener is first

    @property
    def unread_bytes(self) -> int:
        """Bytes of answers that the socket has not taken yet."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def pause(self) -> None:
        """Neither read nor answer until ``resume``."""
        self._paused = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self, then: Callable[[], None] | None = None) -> None:
        """Call ``then``, which may pause the connection again, and go on with its requests."""
        self._paused = False
        if then is not None:
            then()
        self._continue()

    def pause_for(self, seconds: float, then: Callable[[], None] | None = None) -> None:
        self.pause()
        if seconds > 0:
            self.service.clock.later(seconds, self.resume, then)
        else:
            self._loop.call_soon(self.resume, then)

    def wait_until_complete(self, answer: Answer | bytes, then: Callable[[Answer], None]) -> bool:
        """Call ``then`` once an answer can be sent; False if it does not have to wait.

        Requests wait meanwhile, but a few are read, which shows when the client has gone.
        """
        if isinstance(answer, bytes) or answer.wait is None:
            return False

        def in_turn(answer: Answer) -> None:
            self.service.turns.add(partial(self._go_on, then, answer))

        if not self.service.waits.add(self, answer, in_turn):
            return False
        self._paused = True
        self._read()
        return True

    def _continue(self) -> None:
        """Answer the requests that have waited and read more, as far as the state allows it."""
        if self._writable and not self._paused:
            self._answer()
        if not self._paused:
            if self._ended and self._writable and self._transport is not None:
                self._transport.close()
            else:
                self._read()

    def _read(self) -> None:
        """Read more of a client that reads its answers."""
        if self._writable and self._transport is not None:
            self._transport.resume_reading()

    def close(self) -> None:
        """Close the socket at once; bytes that are not sent yet are lost."""
        if self._transport is not None:
            self._transport.abort()

    def _answer(self) -> None:
        """Answer the requests that have arrived; their answers are written together.

        A small request is answered at once if it is the first. A large one, and those behind the
        first, are answered while the slice of this turn of the event loop lasts, which all
        connections share; the rest waits for a later turn.
        """
        connection, out, size = self._connection, [], 0
        answered = False
        try:
            while self._transport is not None and self._writable and not self._paused:
                event, self._waiting = self._waiting or connection.next_event(), None
                if data := connection.data_to_send():
                    out.append(data)
                if isinstance(event, RequestReceived):
                    waits = answered or len(event.request.data) > _SMALL_BYTES
                    if waits and self.service.turns.slice_is_over():
                        self._waiting = event
                        self.pause()
                        self.service.turns.add(self.resume)
                        break
                    answered = True
                    if answer := self._handle(event):
                        out.append(answer)  # alone, it is written without a copy
                    size += len(answer)
                    if size > _WRITE_BYTES:
                        self.write(b"".join(out))
                        out, size = [], 0
                elif event is NEED_DATA or event is PAUSED or isinstance(event, ConnectionClosed):
                    break
                elif isinstance(event, Authenticated):
                    self.authenticated(event.principal, by_token=event.by_token)
        except Exception as error:
            self.write(b"".join(out))
            self._fail(error)
        else:
            self.write(b"".join(out))

    def _fail(self, error: Exception) -> None:
        """Close the connection after an error of its client, of this program or of the system.

        The last two are logged, an error of this program with its traceback.
        """
        if isinstance(error, SaslError):
            self._refuse_later(error)
            return
        if not isinstance(error, RemoteProtocolError):
            where = None if isinstance(error, OSError) else error
            kind = type(error).__name__
            SERVER.error("node %d: %s: %s", self._node.id, kind, error, exc_info=where)
        self._refuse(error)

    def _handle(self, event: RequestReceived) -> bytes:
        request = event.request
        if request.body is None:
            return b""
        service = self.service
        assert request.header is not None
        caller = Caller(
            self._node.id, request.api_version, request.header.client_id, self._principal,
            self._listener.name, self.host, len(request.data), self,
            may_ask_for_tokens=self._may_ask_for_tokens,
        )  # fmt: skip
        came = event
        if request.api_key == api_keys.ENVELOPE:
            try:
                event, caller = service.answers.opened(event, caller)
            except ApiFailure as failure:
                self._throttle_ms = 0  # it was that of a client whose request came before
                return self._answered(event, Answer(EnvelopeResponse(error_code=failure.code)))
            request = event.request
        service.requests.add(caller, request, service.clock.now_ms())
        began_ns = time.perf_counter_ns()
        try:
            if service.faults is not None and service.faults.happen(
                self, service.answers, event, caller
            ):
                return b""
            answer = service.answers.answer(caller, request)
        except ControllerUnavailable:
            self._wait_for_controller(came)
            return b""
        used_ns = time.perf_counter_ns() - began_ns
        self._throttle_ms = service.answers.request_throttle_ms(caller, request, used_ns)
        if request.api_key == api_keys.CREATE_TOPICS and len(request.data) > _LARGE_BYTES:
            assert isinstance(answer, Answer)
            return self._encode_aside(event, answer)
        return self._answered(event, answer)

    def _answered(self, event: RequestReceived, answer: Answer | bytes) -> bytes:
        """The frame of a new answer, or b"" if it waits; a throttled client is read no more."""
        if self.wait_until_complete(answer, partial(self._finish, event)):
            return b""
        answer, throttled_ms = throttled(answer, event.request, self._throttle_ms)
        # KIP-219: the answer goes out now, and nothing is read meanwhile. A broker that forwards
        # for others lets these wait by itself.
        if throttled_ms > 0 and not isinstance(event, Forwarded):
            self.pause_for(throttled_ms / 1000)
        return self.encoded(event, answer)

    def _encode_aside(self, event: RequestReceived, answer: Answer) -> bytes:
        """Encode an answer in another thread, which has it for itself, and send it then."""

        def encoded(body: asyncio.Future[bytes]) -> None:
            if not body.cancelled():  # the loop ends
                answer.body = body.result()  # what a handler made can be encoded
                self._go_on(partial(self._finish, event), answer)

        self.pause()
        body = self._loop.run_in_executor(None, answer.response.encode, event.request.api_version)
        body.add_done_callback(encoded)
        return b""

    def _go_on(self, then: Callable[[Answer], None], answer: Answer) -> None:
        """Call ``then`` with an answer of an earlier turn, unless the client has gone since."""
        if self._transport is not None:
            try:
                then(answer)
            except Exception as error:
                self._fail(error)

    def _finish(self, event: RequestReceived, answer: Answer) -> None:
        """Send an answer of an earlier turn, and go on with later requests."""
        self._paused = False
        self.write(self._answered(event, answer))
        self._continue()

    def encoded(self, event: RequestReceived, answer: Answer | bytes) -> bytes:
        """The frame of an answer whose records are appended; b"" for a request with acks 0.

        Kafka closes the connection of a producer with acks 0 after an error.
        """
        if self.service.trace is not None:
            self.service.trace(self._node.id, event, decoded(answer, event.request))
        if event.turn < 0:
            response = decoded(answer, event.request)
            if error_codes(codec(type(response), event.request.api_version), response):
                self.close_when_sent()
            return b""
        body = answer if isinstance(answer, bytes) else answer.body or answer.response
        if isinstance(event, Forwarded):
            return self._connection.send(sealed(event, body), to=event.envelope)
        return self._connection.send(body, to=event)

    def write(self, data: bytes) -> None:
        """Write frames of answers, or the bytes that a fault has made of one."""
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
            self.service.clock.later(self._login.failure_delay_s, self._refuse, error)

    def _wait_for_controller(self, event: RequestReceived) -> None:
        """Pause until there is a controller to which the request can be forwarded."""
        self._waiting = event
        self.pause()
        self.service.wait_for_controller(self.resume, self._refuse_without_controller)

    def _refuse_without_controller(self) -> None:
        """Answer the request that waits with REQUEST_TIMED_OUT, and go on."""
        if self._transport is None:  # the client has closed the connection
            return
        event, self._waiting = self._waiting, None
        assert event is not None
        request = event.request
        assert request.body is not None
        response = whole_answer(request.body, request.api_version, Failure(codes.REQUEST_TIMED_OUT))
        self.write(self.encoded(event, Answer(response)))
        self.resume()

    def _refuse(self, error: Exception) -> None:
        """Close the connection, as a broker does; bytes that are written are still sent."""
        if isinstance(error, KafkaAdminProtoError):
            error.without_frames()  # the protocol connection keeps the error
            if not isinstance(error, LocalProtocolError):
                self.write(self._connection.data_to_send())
        if self._transport is not None:
            self._transport.close()
