"""One client's connection to one node: requests read, answered in order, errors closed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kafka_admin_proto.codec import codec
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
from kafka_admin_proto.protocol.headers import message_of
from kafka_admin_proto.server.failures import REQUEST_TIMED_OUT, ControllerUnavailable
from kafka_admin_proto.server.handlers import IN_STEPS, Answer, Caller
from kafka_admin_proto.server.java import host_address
from kafka_admin_proto.server.network.node import Listener, Node
from kafka_admin_proto.server.network.service import Access, Service
from kafka_admin_proto.server.network.trickle import ClientReads
from kafka_admin_proto.server.network.turns import Steps

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.payload_values import Request
    from kafka_admin_proto.values import Message

#: Bytes of answers that are written at once, about: a client that does not read stops its server.
_WRITE_BYTES = 64 << 10
#: A client with so many bytes of an unfinished request takes turns with others like it.
_LARGE_BYTES = 128 << 10
#: A request of so many bytes names some tens of topics at most: it is answered in one piece.
_SMALL_BYTES = 512
#: How long a broker waits for a controller that a request can be forwarded to.
_CONTROLLER_S = 60.0


class NodeConnection(asyncio.BufferedProtocol):
    """The protocol of one accepted socket; ``access`` is None where the client may be anyone."""

    def __init__(
        self, service: Service, node: Node, listener: Listener, access: Access | None = None
    ) -> None:
        self.service = service
        self._node = node
        self._listener = listener
        self._access = access
        self._connection = ServerConnection(
            apis=service.apis,
            limits=service.limits if access is None else access.limits,
            sasl=None if access is None else access.sasl,
            dialect=service.dialect,
        )
        self._principal = "User:ANONYMOUS"
        #: What ends the connection of a client that does not authenticate in time.
        self._login: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        self._reads = ClientReads(service.trickle)
        self.host: str = ""
        #: Whether something has come, or gone, since the guard looked.
        self.active: bool = True
        #: How often the guard has looked since something came or went.
        self.idle_looks: int = 0
        #: Bytes of a request that has not come in full.
        self.unfinished_bytes = 0
        self._writable = True
        self._held = False
        #: The request that waits for a controller, or for this connection's turn.
        self._waiting: RequestReceived | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._reads.begin(transport)
        peer = transport.get_extra_info("peername")
        self.host = host_address(str(peer[0])) if peer else ""
        self._node.connections.add(self)
        self.service.guard.admit(self)
        if self._access is not None:
            self._login = self._loop.call_later(self._access.login_s, self.close)

    def authenticated(self, principal: str) -> None:
        """The client is who it says, as Kafka writes it."""
        self._principal = principal
        if self._login is not None:
            self._login.cancel()
            self._login = None

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self._node.connections.discard(self)
        self._transport = None
        self._reads.end()
        self.service.guard.leave(self)
        if self._login is not None:
            self._login.cancel()
            self._login = None

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes of the client go."""
        return self.service.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes of the client are there; what they ask is answered at once."""
        self.active = True
        self._connection.receive_data(self.service.buffer[:nbytes])
        self._answer()
        before, unfinished = self.unfinished_bytes, self._connection.buffered
        if before or unfinished or self._reads.small_pieces:
            self._reads.count(nbytes, whole=not before and not unfinished)
            if self._writable and not self._held:
                self._reads.resume()
        if unfinished != before:
            self.service.guard.received(self, unfinished)
            if unfinished > _LARGE_BYTES and not self._held:
                self.wait()
                self.service.turns.add(self.go_on)

    def eof_received(self) -> bool:
        """The client sends no more; its transport is closed."""
        return False

    def pause_writing(self) -> None:
        """The client does not read: leave its requests where they are."""
        self._writable = False
        if self._transport is not None:
            self._reads.pause()
            self.service.guard.does_not_read(self)

    def resume_writing(self) -> None:
        """The client reads again."""
        self.active = self._writable = True
        self.service.guard.reads(self)
        self._read_on()

    @property
    def node_id(self) -> int:
        """The node that the client has connected to."""
        return self._node.id

    @property
    def unread_bytes(self) -> int:
        """Bytes of answers that the client has not taken."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def wait(self) -> None:
        """Read and answer nothing until ``go_on``."""
        self._held = True
        self._reads.pause()

    def go_on(self) -> None:
        """Read and answer again."""
        self._release()

    def hold(self, seconds: float, then: Callable[[], None] | None = None) -> None:
        """Read and answer nothing for so long: requests wait where they are, their order stays.

        ``then`` is called before the next one is looked at; it may hold the connection again.
        """
        self.wait()
        if seconds > 0:
            self._loop.call_later(seconds, self._release, then)
        else:
            self._loop.call_soon(self._release, then)

    def _release(self, then: Callable[[], None] | None = None) -> None:
        self._held = False
        if then is not None:
            then()
        self._read_on()

    def _read_on(self) -> None:
        """Answer the requests that have waited, and read on, unless there is a reason to wait."""
        if self._writable and not self._held:
            self._answer()
        if self._writable and not self._held:
            self._reads.resume()

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.abort()

    def _answer(self) -> None:
        """Answer the requests that are there; what came together is answered together.

        The first one at once; what is behind it in a heap as long as the slice of this turn of the
        event loop lasts, which all connections share, and later when their turns come.
        """
        connection, out, size = self._connection, [], 0
        answered = False
        try:
            while self._transport is not None and self._writable and not self._held:
                event, self._waiting = self._waiting or connection.next_event(), None
                pending = connection.data_to_send()
                if pending:
                    out.append(pending)
                if isinstance(event, RequestReceived):
                    if answered and self.service.turns.slice_is_over():
                        self._waiting = event
                        self.wait()
                        self.service.turns.add(self.go_on)
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
        """A fault of ours, or a full disk: close the connection."""
        print(f"node {self._node.id}: {type(error).__name__}: {error}", file=sys.stderr)
        self._refuse(error)

    def _write(self, out: list[bytes]) -> None:
        """Write what there is, and empty the list."""
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
        """The frame of a new answer; a client that is throttled is not read for a while."""
        if not isinstance(answer, bytes):
            throttled_ms: int = getattr(answer.response, "throttle_time_ms", 0)
            if throttled_ms > 0:  # KIP-219: the answer goes out now, and nothing is read meanwhile
                self.hold(throttled_ms / 1000)
        return self.encoded(event, answer)

    def _handle_in_steps(self, event: RequestReceived, steps: Steps[Answer]) -> bytes:
        """The frame of the answer; b"" where it takes longer than a slice, and goes out later."""
        turns = self.service.turns
        answer = turns.run(steps)
        if answer is not None:
            return self._answered(event, answer)
        self.wait()
        turns.add_large(steps, partial(self._finish_steps, event), partial(self._stop_steps, event))
        return b""

    def _finish_steps(self, event: RequestReceived, answer: Answer) -> None:
        """Send an answer that took several slices, and go on with the requests behind it."""
        if self._transport is None:  # its client is gone
            return
        self._held = False
        try:
            self.write(self._answered(event, answer))
        except Exception as error:
            self._fail(error)
        else:
            self._read_on()

    def _stop_steps(self, event: RequestReceived, error: Exception) -> None:
        """A request of several slices has no answer; one without a controller waits for it."""
        if isinstance(error, ControllerUnavailable):
            self._wait_for_controller(event)
        else:
            self._fail(error)

    def encoded(self, event: RequestReceived, answer: Answer | bytes) -> bytes:
        """The frame of an answer whose records are appended."""
        if self.service.trace is not None:
            self.service.trace(self._node.id, event, _decoded(answer, event.request))
        response = answer if isinstance(answer, bytes) else answer.body or answer.response
        return self._connection.send(response, to=event)

    def write(self, data: bytes) -> None:
        """Write bytes that ``encoded`` gave, or what a fault has made of them."""
        if data and self._transport is not None:
            self._transport.write(data)

    def finish(self) -> None:
        """Close the connection once all that was written is sent."""
        self._held = True
        if self._transport is not None:
            self._transport.close()

    def silence(self, protocol: asyncio.Protocol) -> None:
        """Answer nothing any more; the protocol has what else comes, and the end."""
        self.wait()
        if self._transport is not None:
            self._transport.set_protocol(protocol)
            self._transport.resume_reading()

    def _refuse_later(self, error: SaslError) -> None:
        """Answer a client that failed to authenticate after a while, so that guessing is slow."""
        assert self._access is not None
        self.wait()
        if self._transport is not None:
            self._loop.call_later(self._access.failure_delay_s, self._refuse, error)

    def _wait_for_controller(self, event: RequestReceived) -> None:
        """Answer nothing more until a controller can be asked, as long as brokers wait."""
        waiting = self.service.answers.quorum.waiting

        def go_on() -> None:
            timer.cancel()
            self._release()

        def give_up() -> None:
            from kafka_admin_proto.server.faults.error_answers import Failure, whole_answer

            waiting.remove(go_on)
            if self._transport is None:  # its client is gone
                return
            request, self._waiting = event.request, None
            assert request.body is not None
            failure = Failure(REQUEST_TIMED_OUT)
            response = whole_answer(request.body, request.api_version, failure)
            self.write(self.encoded(event, Answer(response)))
            self._release()

        timer = self._loop.call_later(_CONTROLLER_S, give_up)
        waiting.append(go_on)
        self._waiting, self._held = event, True
        if self._transport is not None:
            self._transport.pause_reading()

    def _refuse(self, error: Exception) -> None:
        """Close the connection, as a broker does; the bytes that are written still go out."""
        transport = self._transport
        if isinstance(error, KafkaAdminProtoError):
            error.without_frames()  # the connection keeps it
        if transport is None:
            return
        if isinstance(error, KafkaAdminProtoError) and not isinstance(error, LocalProtocolError):
            pending = self._connection.data_to_send()
            if pending:
                transport.write(pending)
        transport.close()


def _decoded(answer: Answer | bytes, request: Request) -> Message:
    """The response as a value, for those who look on."""
    if not isinstance(answer, bytes):
        return answer.response
    api_key, version = request.api_key, request.api_version
    found = message_of(api_key, version, "response", request.dialect)
    assert found is not None
    name, dialect = found
    response: Message = codec(name, version, dialect=dialect).decode(answer)
    return response
