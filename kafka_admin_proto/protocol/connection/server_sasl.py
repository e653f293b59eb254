"""Authentication as the server does it: which requests belong to it, and what they are answered.

The codes are those of Kafka's ``SaslServerAuthenticator``. Where that closes the connection after
its answer, a SaslError is raised here once the answer is written.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_admin_proto.errors import SaslError
from kafka_admin_proto.messages.sasl_authenticate_request import SaslAuthenticateRequest
from kafka_admin_proto.messages.sasl_authenticate_response import SaslAuthenticateResponse
from kafka_admin_proto.messages.sasl_handshake_request import SaslHandshakeRequest
from kafka_admin_proto.messages.sasl_handshake_response import SaslHandshakeResponse
from kafka_admin_proto.protocol.connection.events import Authenticated
from kafka_admin_proto.protocol.connection.sasl_server import (
    Refusing,
    SaslServer,
    ServerExchange,
    Step,
)
from kafka_admin_proto.protocol.payloads import Request
from kafka_admin_proto.values import Message

_UNSUPPORTED_SASL_MECHANISM = 33
_ILLEGAL_SASL_STATE = 34
_SASL_AUTHENTICATION_FAILED = 58


class ServerAuthentication:
    """The authentications of one connection, the first and the later ones.

    ``answer`` writes the response to a request, ``write`` a bare token.
    """

    def __init__(
        self,
        sasl: SaslServer,
        *,
        answer: Callable[[Request, Message], None],
        write: Callable[[bytes], None],
    ) -> None:
        self._sasl = sasl
        self._answer = answer
        self._write = write
        self._exchange: ServerExchange | None = None
        self._mechanism = ""
        #: Who the client is, as Kafka writes it; None before the first authentication.
        self.principal: str | None = None
        #: Whether the client's tokens are bare frames now.
        self.bare = False

    @property
    def running(self) -> bool:
        """Whether a mechanism was agreed on and the exchange is not over."""
        return self._exchange is not None

    def take_handshake(self, request: Request, body: SaslHandshakeRequest) -> Authenticated | None:
        """Answer a SaslHandshake; SaslError for a mechanism that is not taken."""
        again = self.principal is not None
        exchange = self._sasl.exchange(body.mechanism)
        code = 0
        if exchange is None:
            code = _UNSUPPORTED_SASL_MECHANISM
        elif again and request.api_version == 0:
            code = _ILLEGAL_SASL_STATE
        mechanisms = self._sasl.mechanisms
        self._answer(request, SaslHandshakeResponse(error_code=code, mechanisms=mechanisms))
        if code == _ILLEGAL_SASL_STATE:
            raise self._error(body.mechanism, "re-authentication needs SaslHandshake v1", code)
        if code:
            known = ", ".join(mechanisms)
            raise self._error(
                body.mechanism, f"the client asked for a mechanism that is none of {known}", code
            )
        if again and body.mechanism != self._mechanism:
            exchange = Refusing("the mechanism may not change in a re-authentication")
        self._exchange, self._mechanism = exchange, body.mechanism
        self.bare = request.api_version == 0
        return None

    def take_authenticate(
        self, request: Request, body: SaslAuthenticateRequest
    ) -> Authenticated | None:
        """Answer a SaslAuthenticate; SaslError, after the answer, for a client that fails."""
        if self._exchange is None or self.bare:
            self._answer(
                request,
                SaslAuthenticateResponse(
                    error_code=_ILLEGAL_SASL_STATE,
                    error_message="SaslAuthenticate without a SaslHandshake v1 in front of it",
                ),
            )
            return None
        step = self._step(body.auth_bytes)
        if step.refusal is not None:
            words = f"Authentication failed: {step.refusal}"
            self._answer(
                request,
                SaslAuthenticateResponse(
                    error_code=_SASL_AUTHENTICATION_FAILED, error_message=words
                ),
            )
            raise self._error(self._mechanism, step.refusal, _SASL_AUTHENTICATION_FAILED)
        lifetime_ms = 0
        if step.user is not None and request.api_version > 0:
            lifetime_ms = self._sasl.session_lifetime_ms
        self._answer(
            request,
            SaslAuthenticateResponse(auth_bytes=step.answer, session_lifetime_ms=lifetime_ms),
        )
        return None if step.user is None else self._authenticated(step.user, lifetime_ms)

    def take_bare(self, token: bytes) -> Authenticated | None:
        """Answer a bare token; SaslError without an answer for a client that fails."""
        step = self._step(token)
        if step.refusal is not None:
            raise self._error(self._mechanism, step.refusal)
        self._write(step.answer)
        return None if step.user is None else self._authenticated(step.user, 0)

    def _step(self, token: bytes) -> Step:
        assert self._exchange is not None
        step = self._exchange.take(token)
        before = self.principal
        if step.user is not None and before not in (None, f"User:{step.user}"):
            return Step(refusal="the user may not change in a re-authentication")
        return step

    def _authenticated(self, user: str, lifetime_ms: int) -> Authenticated:
        again = self.principal is not None
        self.principal = f"User:{user}"
        self._exchange, self.bare = None, False
        return Authenticated(self.principal, self._mechanism, lifetime_ms, again)

    def _error(self, mechanism: str, fault: str, code: int = 0) -> SaslError:
        return SaslError(f"{mechanism}: {fault}", mechanism=mechanism, code=code)
