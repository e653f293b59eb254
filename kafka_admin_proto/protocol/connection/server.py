"""The server's end: reads requests in order, authenticates the client, sends answers in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from kafka_admin_proto.arguments import checked
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import (
    LocalProtocolError,
    RemoteProtocolError,
    SaslError,
    TrailingBytesError,
)
from kafka_admin_proto.messages import SaslAuthenticateRequest, SaslHandshakeRequest
from kafka_admin_proto.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.connection.base import BaseConnection
from kafka_admin_proto.protocol.connection.events import (
    PAUSED,
    Authenticated,
    RequestReceived,
    SentRequest,
    ServerEvent,
    Signal,
    State,
)
from kafka_admin_proto.protocol.connection.limits import Limits
from kafka_admin_proto.protocol.connection.words import api_words
from kafka_admin_proto.protocol.frames import frame
from kafka_admin_proto.protocol.payload_values import Request
from kafka_admin_proto.protocol.payload_writers import write_encoded_response, write_response
from kafka_admin_proto.protocol.payloads import read_request
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection.sasl_server import SaslServer
    from kafka_admin_proto.protocol.connection.server_sasl import ServerAuthentication

#: What a client may ask before it is authenticated, and during an authentication.
_BEFORE_SASL = (api_keys.API_VERSIONS, api_keys.SASL_HANDSHAKE)
_DURING_SASL = (api_keys.SASL_AUTHENTICATE,)
#: The states in which requests are read and answered.
_OPEN = (State.AUTHENTICATING, State.READY, State.REAUTHENTICATING)


class ServerConnection(BaseConnection[ServerEvent]):
    """A server's end of a connection to a client; ``Connection(SERVER, ...)`` makes one.

    ``apis`` are the versions that this server has, all that are meant for use by default. Requests
    are read by ``dialect``, and as Kafka's own where that lacks them. With
    ``sasl`` the client has to authenticate first. SaslHandshake, SaslAuthenticate and ApiVersions
    requests of an unknown version are answered by the connection itself. TypeError for an argument
    of another type, ValueError for no apis, UnknownMessageError for a dialect that is not there.
    """

    def __init__(
        self,
        *,
        sasl: SaslServer | None = None,
        apis: Iterable[Api] | None = None,
        limits: Limits | None = None,
        dialect: str = "kafka",
    ) -> None:
        super().__init__(limits, State.READY if sasl is None else State.AUTHENTICATING)
        self._dialect: str = checked(dialect, str, "ServerConnection: dialect")
        catalog().names(dialect)  # which says what dialects there are
        self._apis = {each.api_key: each.versions for each in self._checked_apis(apis)}
        self._sasl: ServerAuthentication | None = None
        if sasl is not None:
            from kafka_admin_proto.protocol.connection.server_sasl import ServerAuthentication

            self._sasl = ServerAuthentication(sasl)
        #: One entry for each request that is to be answered, in order: the request, or the frame
        #: of its answer once that is there.
        self._turns: deque[RequestReceived | bytes] = deque()
        #: How many have been answered and sent.
        self._done = 0
        self._held_bytes = 0
        #: Whether a client that is to authenticate has had the versions, which it gets once.
        self._knows_versions = False

    @property
    def principal(self) -> str | None:
        """Who the client is, as Kafka writes it (``User:alice``); None while it may be anyone."""
        return None if self._sasl is None else self._sasl.principal

    @property
    def unanswered(self) -> list[RequestReceived]:
        """The requests that ``send`` was not called for yet, in order."""
        return [each for each in self._turns if not isinstance(each, bytes)]

    def api_versions(self) -> ApiVersionsResponse:
        """The answer to an ApiVersions request: what this server has; features may be added."""
        rows = [ApiVersion(key, each.lowest, each.highest) for key, each in self._apis.items()]
        return ApiVersionsResponse(api_keys=rows)

    def next_event(self) -> ServerEvent | Literal[Signal.NEED_DATA, Signal.PAUSED]:
        """The next event; NEED_DATA when the bytes received hold no further one.

        PAUSED when as many requests are unanswered as the limit ``in_flight`` allows: nothing
        more has to be received until some are answered. Raises RemoteProtocolError, and from then
        on with each call, for what no client may send; SaslError when it fails to authenticate.
        The connection is to be closed then, once ``data_to_send`` is written, which comes after
        each call.
        """
        while True:
            if len(self._turns) >= self.limits.in_flight and self._state in _OPEN:
                return PAUSED
            event = self._next_frame()
            if event is not None:
                return event

    def send(self, response: Message | bytes, *, to: RequestReceived) -> bytes:
        """The bytes to write for the answer to a request, and for answers that waited for it.

        An answer that is given often may be the bytes of its body, encoded once in the version of
        the request; they are not looked at.

        An answer whose turn has not come is kept, and b"" is returned. Raises LocalProtocolError
        for a request that has an answer or gets none, after the end of the connection, and for an
        answer that would exceed the limit ``waiting_bytes``: answer earlier requests first, or
        close. EncodeError for a value that cannot be written.
        """
        if self._state not in _OPEN:
            raise LocalProtocolError(f"the connection is {self._state.value}; nothing can be sent")
        place = to.turn - self._done
        if not 0 <= place < len(self._turns) or self._turns[place] is not to:
            raise LocalProtocolError(
                f"the request of {api_words(to.request.api_key, to.request.dialect)} gets no "
                "answer: it has acks 0, was answered before, or is one of another connection"
            )
        request = to.request
        assert request.header is not None
        correlation_id = request.header.correlation_id
        if isinstance(response, bytes):
            payload = write_encoded_response(
                response, request.api_key, request.api_version, correlation_id, request.dialect
            )
        else:
            payload = write_response(response, request.api_version, correlation_id)
            if response.api_key != request.api_key:
                words = api_words(request.api_key, request.dialect)
                raise LocalProtocolError(
                    f"{response.message_name} is no answer to a request of {words}"
                )
        data = frame(payload)
        if place and self._held_bytes + len(data) > self.limits.waiting_bytes:
            raise LocalProtocolError(
                f"{counted(self._held_bytes + len(data), 'bytes')} of answers would wait for "
                "their turn, and "
                f"the limit waiting_bytes is {self.limits.waiting_bytes}; the oldest request "
                "without an answer comes first"
            )
        self._fill(place, data)
        return self.data_to_send()

    # Reading.

    def _take(self, payload: bytes) -> ServerEvent | None:
        try:
            return self._take_payload(payload)
        except RemoteProtocolError:
            raise
        except Exception:  # of a callback: a client that has no answer gets no other try
            self._out.clear()
            self._fail(SaslError("the login ended when a callback of the server failed"))
            raise

    def _take_payload(self, payload: bytes) -> ServerEvent | None:
        sasl = self._sasl
        if sasl is not None and sasl.bare:
            return self._after_sasl(sasl, sasl.take_bare(payload, self._write_bare))
        # Where nobody has to authenticate, header and body are one call of the engine.
        request = read_request(payload, body=sasl is None, dialect=self._dialect)
        api_key = request.api_key
        if request.header is None:
            raise RemoteProtocolError(f"a request that does not read: {request.problem}")
        if sasl is not None and (sasl.running or self._state is State.AUTHENTICATING):
            allowed = _DURING_SASL if sasl.running else _BEFORE_SASL
            if api_key not in allowed or (
                api_key == api_keys.API_VERSIONS and self._knows_versions
            ):
                if sasl.running:
                    self._refuse_api(request)
                raise SaslError(
                    f"a request of {api_words(api_key)} "
                    f"{'during' if sasl.running else 'before'} the authentication"
                )
        versions = self._apis.get(api_key)
        if versions is None:
            raise RemoteProtocolError(f"a request of {api_words(api_key)}, which is not served")
        if request.api_version not in versions:
            self._refuse_version(request)
            return None
        if request.body is None:
            request.read_body()
        if request.error is not None and not isinstance(request.error, TrailingBytesError):
            raise RemoteProtocolError(
                f"a request of {api_words(api_key, self._dialect)} v{request.api_version} that "
                f"does not read: {request.problem}"
            )
        if api_key in (api_keys.SASL_HANDSHAKE, api_keys.SASL_AUTHENTICATE):
            return self._take_sasl(request)
        if sasl is not None:
            if sasl.principal is None:
                self._knows_versions = True
            else:
                sasl.check_session()
        if not request.expects_response:
            return RequestReceived(request, -1)
        return self._take_turn(request)

    def _refuse_api(self, request: Request) -> None:
        """Answer what is no token amid an authentication, where we have its version."""
        from kafka_admin_proto.protocol.connection.server_sasl import refused_amid

        refusal = refused_amid(request.api_key)
        if refusal is not None and request.api_version in self._apis.get(request.api_key, ()):
            self._answer(request, refusal)

    def _take_turn(self, request: Request) -> RequestReceived:
        event = RequestReceived(request, self._done + len(self._turns))
        self._turns.append(event)
        return event

    def _refuse_version(self, request: Request) -> None:
        """KIP-511: ApiVersions in a version that we lack is answered in version 0."""
        api_key = request.api_key
        versions = self._apis[api_key]
        if api_key != api_keys.API_VERSIONS:
            raise RemoteProtocolError(
                f"a request of {api_words(api_key, self._dialect)} in version "
                f"{request.api_version}, and "
                f"{versions} are served"
            )
        own = ApiVersion(api_key, versions.lowest, versions.highest)
        self._answer(request, ApiVersionsResponse(codes.UNSUPPORTED_VERSION, [own]), version=0)

    def _take_sasl(self, request: Request) -> ServerEvent | None:
        """A request of SASL: part of an authentication, or refused as Kafka does elsewhere."""
        sasl, body = self._sasl, request.body
        assert isinstance(body, SaslHandshakeRequest | SaslAuthenticateRequest)
        if sasl is None:
            from kafka_admin_proto.protocol.connection.server_sasl import not_due

            self._answer(request, not_due(body))
            return None
        return self._after_sasl(sasl, sasl.take(request, body, self._answer))

    def _after_sasl(
        self, sasl: ServerAuthentication, event: Authenticated | None
    ) -> ServerEvent | None:
        if event is not None:
            self._enter(State.READY)
        elif sasl.running and sasl.principal is not None:
            self._enter(State.REAUTHENTICATING)
        return event

    # Answers, in the order of the requests.

    def _answer(self, request: Request, body: Message, version: int | None = None) -> None:
        assert request.header is not None
        place = len(self._turns)
        self._take_turn(request)
        version = request.api_version if version is None else version
        self._fill(place, frame(write_response(body, version, request.header.correlation_id)))

    def _write_bare(self, token: bytes) -> None:
        if self._turns:
            self._held_bytes += 4 + len(token)
            self._turns.append(frame(token))
        else:
            self._out.append(frame(token))

    def _fill(self, place: int, data: bytes) -> None:
        """The frame for a turn; what is due goes out."""
        turns = self._turns
        if place:
            turns[place] = data
            self._held_bytes += len(data)
            return
        turns.popleft()
        self._out.append(data)
        self._done += 1
        while turns:
            due = turns[0]
            if not isinstance(due, bytes):
                break
            turns.popleft()
            self._out.append(due)
            self._done += 1
            self._held_bytes -= len(due)

    def _unanswered(self) -> list[SentRequest]:
        return [
            SentRequest(
                each.request.api_key, each.request.api_version, each.request.header.correlation_id
            )
            for each in self.unanswered
            if each.request.header is not None
        ]
