"""Authentication as the server does it: which requests belong to it, and what they are answered.

The codes are those of Kafka's ``SaslServerAuthenticator``. Where that closes the connection after
its answer, a SaslError is raised here once the answer is written.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_admin_proto.arguments import checked
from kafka_admin_proto.errors import RemoteProtocolError, SaslError
from kafka_admin_proto.messages import (
    ApiVersionsResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.connection.events import Authenticated
from kafka_admin_proto.protocol.connection.sasl_server import SaslServer, ServerExchange, Step
from kafka_admin_proto.protocol.payload_values import Request
from kafka_admin_proto.values import Message

#: Seconds from one re-authentication to the next that is taken.
_REAUTHENTICATION_S = 1.0
#: The longest session whose nanoseconds fit into Java's long (``Utils.msToNs``): 292 years.
_MAX_LIFETIME_MS = (2**63 - 1) // 1_000_000

#: Writes the response to a request.
AnswerWriter = Callable[[Request, Message], None]


def not_due(body: SaslHandshakeRequest | SaslAuthenticateRequest) -> Message:
    """The answer to a request of SASL that is part of no authentication."""
    if isinstance(body, SaslHandshakeRequest):
        return SaslHandshakeResponse(error_code=codes.ILLEGAL_SASL_STATE)
    return SaslAuthenticateResponse(
        error_code=codes.ILLEGAL_SASL_STATE,
        error_message="SaslAuthenticate request received after successful authentication",
    )


def refused_amid(api_key: int) -> Message | None:
    """The answer to what is no token amid an authentication; the connection is closed behind it.

    Kafka answers every api. Here that is so for those of a client that starts again; None for the
    others, which see the close only.
    """
    if api_key == api_keys.API_VERSIONS:
        return ApiVersionsResponse(error_code=codes.ILLEGAL_SASL_STATE)
    if api_key == api_keys.SASL_HANDSHAKE:
        return SaslHandshakeResponse(error_code=codes.ILLEGAL_SASL_STATE)
    return None


class ServerAuthentication:
    """The authentications of one connection, the first and the later ones.

    What writes answers is given with each request and not kept: the connection has this object, and
    one that the connection has in turn would be left to the cyclic collector, with the connection.
    """

    def __init__(self, sasl: SaslServer) -> None:
        self._sasl: SaslServer = checked(sasl, SaslServer | None, "ServerConnection: sasl")
        self._exchange: ServerExchange | None = None
        self._mechanism = ""
        #: When the last re-authentication began, and when the session ends, by the server's clock.
        self._began: float | None = None
        self._ends: float | None = None
        #: The milliseconds that the session lasts since it began, None without end.
        self._lifetime_ms: int | None = None
        #: Why the mechanism of a re-authentication is not taken.
        self._wrong_mechanism = ""
        #: Who the client is, as Kafka writes it; None before the first authentication.
        self.principal: str | None = None
        #: Whether the client's tokens are bare frames now.
        self.bare: bool = False

    @property
    def running(self) -> bool:
        """Whether a mechanism was agreed on and the exchange is not over."""
        return self._exchange is not None

    def check_session(self) -> None:
        """RemoteProtocolError when the session is over: the client did not authenticate again."""
        clock = self._sasl.clock
        if self._ends is not None and clock is not None and clock() > self._ends:
            raise RemoteProtocolError(f"a request after the session's {self._lifetime_ms} ms")

    def may_begin(self) -> bool:
        """Whether a SaslHandshake that comes now begins an authentication."""
        if self.principal is None:
            return True
        if self._lifetime_ms is None:
            return False
        if self._sasl.clock is not None:
            now = self._sasl.clock()
            if self._began is not None and now - self._began < _REAUTHENTICATION_S:
                return False
            self._began = now
        return True

    def take(
        self,
        request: Request,
        body: SaslHandshakeRequest | SaslAuthenticateRequest,
        answer: AnswerWriter,
    ) -> Authenticated | None:
        """Answer a request of SASL, as part of an authentication, or as one that is not due."""
        if isinstance(body, SaslHandshakeRequest):
            if self.may_begin():
                return self.take_handshake(request, body, answer)
        elif self.running:
            return self.take_authenticate(request, body, answer)
        self.check_session()
        answer(request, not_due(body))
        return None

    def take_handshake(
        self, request: Request, body: SaslHandshakeRequest, answer: AnswerWriter
    ) -> Authenticated | None:
        """Answer a SaslHandshake; SaslError for a mechanism that is not taken.

        In a re-authentication Kafka closes the connection for such a one without an answer.
        """
        exchange = self._sasl.exchange(body.mechanism)
        code = 0 if exchange else codes.UNSUPPORTED_SASL_MECHANISM
        mechanisms = self._sasl.mechanisms
        if not code or self.principal is None:
            answer(request, SaslHandshakeResponse(error_code=code, mechanisms=mechanisms))
        if code:
            known = ", ".join(mechanisms)
            raise self._error(
                body.mechanism, f"the client asked for a mechanism that is none of {known}", code
            )
        if self.principal is not None and body.mechanism != self._mechanism:
            self._wrong_mechanism = body.mechanism
        else:
            self._mechanism = body.mechanism
        self._exchange = exchange
        self.bare = request.api_version == 0
        return None

    def take_authenticate(
        self, request: Request, body: SaslAuthenticateRequest, answer: AnswerWriter
    ) -> Authenticated | None:
        """Answer a SaslAuthenticate; SaslError, after the answer, for a client that fails."""
        step = self._step(body.auth_bytes)
        if step.refusal is not None:
            words = self._words(step.refusal)
            answer(
                request,
                SaslAuthenticateResponse(
                    error_code=codes.SASL_AUTHENTICATION_FAILED, error_message=words
                ),
            )
            raise self._error(self._mechanism, words, codes.SASL_AUTHENTICATION_FAILED)
        lifetime_ms = self._lifetime_of(step)
        granted_ms = lifetime_ms or 0 if request.api_version > 0 else 0
        answer(
            request,
            SaslAuthenticateResponse(auth_bytes=step.answer, session_lifetime_ms=granted_ms),
        )
        return None if step.user is None else self._authenticated(step, granted_ms)

    def take_bare(self, token: bytes, write: Callable[[bytes], None]) -> Authenticated | None:
        """Answer a bare token; SaslError without an answer for a client that fails."""
        step = self._step(token)
        if step.refusal is not None:
            raise self._error(self._mechanism, self._words(step.refusal))
        self._lifetime_of(step)
        write(step.answer)
        return None if step.user is None else self._authenticated(step, 0)

    def _lifetime_of(self, step: Step) -> int | None:
        """The milliseconds of a session that begins: what ends first, as Kafka's ReauthInfo.

        None for one without end, and for a step that begins none.
        SaslError, unanswered, for a session that is longer than Kafka can count.
        """
        if step.user is None:
            return None
        bounds = [self._sasl.session_lifetime_ms or None, step.lifetime_ms]
        least_ms = min((each for each in bounds if each is not None), default=None)
        if least_ms is not None and least_ms > _MAX_LIFETIME_MS:
            raise self._error(
                self._mechanism, f"a session of {least_ms} ms, more than {_MAX_LIFETIME_MS}"
            )
        return None if least_ms is None else max(0, least_ms)

    def _step(self, token: bytes) -> Step:
        """What a token led to; SaslError, unanswered, for another mechanism than before."""
        assert self._exchange is not None
        if self._wrong_mechanism:
            raise self._error(
                self._mechanism,
                f"SASL mechanism '{self._wrong_mechanism}' requested by client is not supported "
                f"for re-authentication of mechanism '{self._mechanism}'",
            )
        step = self._exchange.take(token)
        before = self.principal
        if step.user is not None and before not in (None, f"User:{step.user}"):
            return Step(
                refusal="Cannot change principals during re-authentication from "
                f"User.{str(before).removeprefix('User:')}: User.{step.user}"
            )
        return step

    def _words(self, refusal: str) -> str:
        kind = "authentication" if self.principal is None else "re-authentication"
        return refusal or (
            f"Authentication failed during {kind} due to invalid credentials with SASL mechanism "
            f"{self._mechanism}"
        )

    def _authenticated(self, step: Step, granted_ms: int) -> Authenticated:
        again = self.principal is not None
        self.principal = f"User:{step.user}"
        self._exchange, self.bare = None, False
        self._lifetime_ms, self._ends = self._lifetime_of(step), None
        if self._sasl.clock is not None and self._lifetime_ms is not None:
            self._ends = self._sasl.clock() + self._lifetime_ms / 1000
        return Authenticated(self.principal, self._mechanism, granted_ms, again, step.by_token)

    def _error(self, mechanism: str, fault: str, code: int = 0) -> SaslError:
        return SaslError(f"{mechanism}: {fault}", mechanism=mechanism, code=code)
