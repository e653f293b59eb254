"""The client's end: asks for versions, authenticates, sends requests, pairs the answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from kafka_admin_proto.arguments import checked_arguments, version_number
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import (
    LocalProtocolError,
    RemoteProtocolError,
    UnsupportedVersionError,
)
from kafka_admin_proto.messages import ApiVersionsRequest, ApiVersionsResponse, RequestHeader
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.connection.base import BaseConnection
from kafka_admin_proto.protocol.connection.client_sasl import ClientAuthentication, Handler, body_of
from kafka_admin_proto.protocol.connection.correlation_ids import CorrelationIds
from kafka_admin_proto.protocol.connection.events import (
    NEED_DATA,
    ClientEvent,
    ConnectionClosed,
    Ready,
    Reauthenticated,
    ResponseReceived,
    SentRequest,
    Signal,
    State,
)
from kafka_admin_proto.protocol.connection.limits import Limits
from kafka_admin_proto.protocol.connection.sasl_client import Sasl
from kafka_admin_proto.protocol.connection.words import api_words, error_words, mismatch
from kafka_admin_proto.protocol.frames import frame
from kafka_admin_proto.protocol.headers import is_header
from kafka_admin_proto.protocol.payload_values import Response, expects_response
from kafka_admin_proto.protocol.payload_writers import api_key_of, write_request
from kafka_admin_proto.protocol.payloads import read_response
from kafka_admin_proto.protocol.software import checked_software
from kafka_admin_proto.protocol.versions import (
    Api,
    negotiate,
    negotiate_apis,
    supported,
    version_ranges,
)
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.base import cannot_encode

#: Called with each message that passes, the connection's own included: whether it is sent, which
#: request it is or answers, and its body (None for one that does not decode).
Trace: TypeAlias = Callable[[bool, SentRequest, Message | None], None]

#: A request without an answer, and what takes the answer where that is the connection's own.
_Pending: TypeAlias = tuple[SentRequest, Handler | None]


class ClientConnection(BaseConnection[ClientEvent]):
    """A client's end of a connection to a broker; ``Connection(CLIENT, ...)`` makes one.

    ``apis`` are the versions that this client uses, all that are meant for use by default. With
    ``negotiate=False`` the broker is not asked: ``apis`` says what it has. With ``defer_proofs``
    the caller computes SCRAM's proofs and asks the provider of tokens. ``trace`` is called with
    each message that passes. ValueError for a software name or version that brokers refuse and for
    no apis, TypeError for an argument of another type.
    """

    def __init__(
        self,
        *,
        client_id: str | None = None,
        sasl: Sasl | None = None,
        apis: Iterable[Api] | None = None,
        negotiate: bool = True,
        limits: Limits | None = None,
        software_name: str = "kafka-admin-proto",
        software_version: str | None = None,
        first_correlation_id: int = 0,
        defer_proofs: bool = False,
        trace: Trace | None = None,
    ) -> None:
        others = ("self", "apis", "limits")  # which the base checks
        given = {name: each for name, each in locals().items() if name not in others}
        checked_arguments(ClientConnection.__init__, given)
        super().__init__(limits, State.NEW)
        self.client_id = client_id
        self._apis = self._checked_apis(apis)
        self._ours = {each.api_key: each.versions for each in self._apis}
        if negotiate and api_keys.API_VERSIONS not in self._ours:
            raise ValueError("apis lacks ApiVersions, without which nothing can be negotiated")
        #: The versions of the broker, and the one to use, by api key.
        self._theirs: Mapping[int, VersionRange] = {}
        self._versions: Mapping[int, int] = {}
        self._negotiates = negotiate
        self._answer: ApiVersionsResponse | None = None
        self._software = checked_software(software_name, software_version)
        self._ids = CorrelationIds(first_correlation_id)
        self._pending: deque[_Pending] = deque()
        self._trace = trace
        self._sasl = sasl
        self._authentication: ClientAuthentication | None = None
        self._defers_proofs = defer_proofs
        self._event: ClientEvent | None = None
        #: Requests that wait for the end of a re-authentication.
        self._held: list[tuple[bytes, _Pending | None]] = []
        self._held_bytes = 0

    @property
    def unanswered(self) -> list[SentRequest]:
        """The caller's requests without an answer, in order."""
        held = (pending for _, pending in self._held if pending is not None)
        return [request for request, handler in (*self._pending, *held) if handler is None]

    def start(self) -> bytes:
        """The first bytes to write: the question which versions the broker has.

        Without negotiation these are SASL's first step, or none.
        """
        if self._state is not State.NEW:
            raise LocalProtocolError(
                f"start is called once, and the connection is {self._state.value}"
            )
        if self._negotiates:
            self._enter(State.NEGOTIATING)
            self._ask_versions(self._ours[api_keys.API_VERSIONS].highest, self._take_first_versions)
        else:
            self._theirs = self._ours
            self._versions = {key: each.highest for key, each in self._theirs.items()}
            self._event = self._negotiated()
        return self.data_to_send()

    def send(
        self,
        request: Message,
        version: int | None = None,
        context: Any = None,
        *,
        header: RequestHeader | None = None,
    ) -> bytes:
        """The bytes to write for a request, at the highest version of both peers by default.

        ``context`` comes back with the answer. ``header`` is the one that a proxy has read: its
        version, correlation id, client id and unknown tagged fields are kept. During a
        re-authentication the request is kept back: it is in ``data_to_send`` when that is over.
        Raises LocalProtocolError when the connection is not ready or a limit is reached, and for a
        header with the correlation id of a request that has no answer yet; UnsupportedVersionError
        when the broker lacks the api or the version, EncodeError for a value that cannot be
        written.
        """
        if self._state is not State.READY and self._state is not State.REAUTHENTICATING:
            raise LocalProtocolError(
                f"the connection is {self._state.value}; it takes requests between the event "
                "Ready and the end of the stream"
            )
        api_key = api_key_of(request, "Request")
        if header is not None:
            version = self._kept_version(request, api_key, version, header)
        elif version is None and api_key in self._versions and request.dialect == "kafka":
            version = self._versions[api_key]
        else:
            version = self._checked_version(request, api_key, version)
        answered = expects_response(api_key, request)
        if answered and len(self._pending) + len(self._held) >= self.limits.in_flight:
            raise LocalProtocolError(
                f"in_flight is {self.limits.in_flight}, and as many requests are unanswered; "
                "take answers before the next request"
            )
        if header is None:
            header = RequestHeader(api_key, version, self._ids.next(), self.client_id)
        data = frame(write_request(request, header=header))
        if answered:
            self._ids.check_free(header.correlation_id)
        sent = SentRequest(api_key, version, header.correlation_id, context, request.dialect)
        if self._state is State.REAUTHENTICATING:
            self._hold(data, (sent, None) if answered else None)
        else:
            self._write(data, (sent, None) if answered else None)
        self._note_sent(sent, request, answered=answered)
        return self.data_to_send()

    def reauthenticate(self) -> bytes:
        """The bytes that start another authentication with the same credentials (KIP-368).

        The event Reauthenticated reports its end. Raises LocalProtocolError without credentials,
        when the connection is not ready, and where the broker cannot do it.
        """
        if self._sasl is None or self._state is not State.READY:
            raise LocalProtocolError(
                f"the connection is {self._state.value} and has "
                f"{'no ' if self._sasl is None else ''}credentials; it authenticates again when "
                "it is ready and has some"
            )
        needed = (api_keys.SASL_HANDSHAKE, api_keys.SASL_AUTHENTICATE)
        if any(self._versions.get(key, 0) < 1 for key in needed):
            raise LocalProtocolError(
                "the broker has no SaslHandshake v1 and SaslAuthenticate v1, so no "
                "re-authentication; make another connection"
            )
        self._enter(State.REAUTHENTICATING)
        self._authenticate(self._sasl)
        return self.data_to_send()

    def send_proof(self, token: bytes) -> bytes:
        """The bytes that send what ``ProofNeeded`` computed, as a SCRAM server's challenge wants.

        Raises LocalProtocolError where none is needed.
        """
        authentication = self._authentication
        if authentication is None or not self._lacks_proof:
            raise LocalProtocolError(
                f"the connection is {self._state.value} and needs no proof; one is sent after the "
                "event ProofNeeded"
            )
        authentication.send(token)
        return self.data_to_send()

    @property
    def _lacks_proof(self) -> bool:
        return self._authentication is not None and self._authentication.lacks_proof

    def next_event(self) -> ClientEvent | Literal[Signal.NEED_DATA]:
        """The next event; NEED_DATA when the bytes received hold no further one.

        Raises RemoteProtocolError, and from then on with each call, for what a broker may not
        send; SaslError when it refuses the credentials. ``data_to_send`` comes after each call.
        """
        if self._event is not None:
            first, self._event = self._event, None
            return first
        if self._lacks_proof:
            return NEED_DATA
        while True:
            event = self._next_frame()
            if event is not None:
                return event

    # What the connection itself says.

    def _ask_versions(self, version: int, handler: Handler) -> None:
        self._ask(ApiVersionsRequest(*self._software), version, handler)

    def _take_first_versions(self, response: Response) -> ClientEvent | None:
        body = body_of(response, ApiVersionsResponse)
        if body.error_code != codes.UNSUPPORTED_VERSION:
            return self._take_versions(response)
        try:
            again = negotiate_apis(body, self._apis)[api_keys.API_VERSIONS]
        except UnsupportedVersionError as error:
            fault = f"ApiVersions: {error}"
        else:
            self._ask_versions(again, self._take_versions)
            return None
        raise RemoteProtocolError(fault)

    def _take_versions(self, response: Response) -> ClientEvent | None:
        body = body_of(response, ApiVersionsResponse)
        if body.error_code:
            raise RemoteProtocolError(
                f"the broker does not tell its versions: {error_words(body.error_code)}"
            )
        self._answer = body
        self._theirs = version_ranges(body)
        self._versions = negotiate_apis(body, self._apis)
        return self._negotiated()

    def _negotiated(self) -> ClientEvent | None:
        if self._sasl is None:
            self._enter(State.READY)
            return Ready(self._theirs, self._answer)
        self._enter(State.AUTHENTICATING)
        self._authenticate(self._sasl)
        return None

    def _authenticate(self, sasl: Sasl) -> None:
        self._authentication = ClientAuthentication(
            sasl,
            self.limits.scram_iterations,
            self._versions,
            ask=self._ask,
            write=lambda token: self._out.append(frame(token)),
            done=self._authenticated,
            defer_proofs=self._defers_proofs,
        )
        self._authentication.start()

    def _authenticated(self, lifetime_ms: int) -> ClientEvent:
        self._authentication = None
        if self._state is State.AUTHENTICATING:
            self._enter(State.READY)
            return Ready(self._theirs, self._answer, lifetime_ms)
        self._enter(State.READY)
        for data, pending in self._held:
            self._write(data, pending)
        self._held, self._held_bytes = [], 0
        return Reauthenticated(lifetime_ms)

    # The bytes.

    def _ask(self, body: Message, version: int, handler: Handler) -> None:
        """Write a request of the connection's own."""
        sent = SentRequest(api_key_of(body, "Request"), version, self._ids.next())
        data = frame(write_request(body, version, sent.correlation_id, self.client_id))
        self._write(data, (sent, handler))
        self._note_sent(sent, body, answered=True)

    def _note_sent(self, sent: SentRequest, body: Message, *, answered: bool) -> None:
        self._ids.sent(sent.correlation_id, answered=answered)
        if self._trace is not None:
            self._trace(True, sent, body)

    def _write(self, data: bytes, pending: _Pending | None) -> None:
        self._out.append(data)
        if pending is not None:
            self._pending.append(pending)

    def _hold(self, data: bytes, pending: _Pending | None) -> None:
        waiting = self._held_bytes + len(data)
        if waiting > self.limits.waiting_bytes:
            raise LocalProtocolError(
                f"{counted(waiting, 'bytes')} of requests would wait for the end of the "
                "re-authentication, "
                f"and the limit waiting_bytes is {self.limits.waiting_bytes}"
            )
        self._held.append((data, pending))
        self._held_bytes = waiting

    def _take(self, payload: bytes) -> ClientEvent | None:
        authentication = self._authentication
        if authentication is not None and authentication.bare:
            return authentication.take_bare(payload)
        if not self._pending:
            raise RemoteProtocolError(
                f"the broker sent a response of {counted(len(payload), 'bytes')}, and nothing "
                "was asked"
            )
        request, handler = self._pending[0]
        response = read_response(payload, request.api_key, request.version, dialect=request.dialect)
        if response.header is None or response.header.correlation_id != request.correlation_id:
            raise RemoteProtocolError(mismatch(response, request))
        self._pending.popleft()
        self._ids.received(request.correlation_id)
        if self._trace is not None:
            self._trace(False, request, response.body)
        return ResponseReceived(response, request) if handler is None else handler(response)

    def _at_end(self) -> ConnectionClosed | Literal[Signal.NEED_DATA]:
        authentication = self._authentication
        if authentication is not None and authentication.bare:
            raise self._fail(authentication.closed())
        return super()._at_end()

    def _unanswered(self) -> list[SentRequest]:
        return self.unanswered

    def _kept_version(
        self, request: Message, api_key: int, version: int | None, header: RequestHeader
    ) -> int:
        """The version of a header that is kept, checked as one that was asked for."""
        if version is not None:
            raise TypeError("send takes a version or a header, which has the version")
        if not is_header(header, "RequestHeader"):
            raise cannot_encode("header", header, "a RequestHeader")
        return self._checked_version(request, api_key, header.request_api_version)

    def _checked_version(self, request: Message, api_key: int, version: int | None) -> int:
        """The version asked for, where the broker has it; UnsupportedVersionError saying why.

        A draft's request without one is sent in the highest that the draft and the broker have.
        """
        name = api_words(api_key, request.dialect)
        theirs = self._theirs.get(api_key)
        if theirs is None:
            raise UnsupportedVersionError(f"the broker does not have {name}")
        if version is None and request.dialect != "kafka":
            return negotiate(supported(request.message_name, dialect=request.dialect), theirs)
        if version is None:
            ours = self._ours.get(api_key, VersionRange.NONE)
            raise UnsupportedVersionError(
                f"no version of {name} in common: we have {ours}, the broker has {theirs}"
            )
        if version_number(version) not in theirs:
            raise UnsupportedVersionError(
                f"the broker has {name} in versions {theirs}, not in version {version}"
            )
        return version_number(version)
