"""The login of a client where SASL ends at the proxy: answered as brokers do."""

from __future__ import annotations

from collections.abc import Callable

from kafka_admin_proto.errors import SaslError
from kafka_admin_proto.messages import SaslAuthenticateRequest, SaslHandshakeRequest
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.connection.sasl_server import SaslServer
from kafka_admin_proto.protocol.connection.server_sasl import ServerAuthentication, refused_amid
from kafka_admin_proto.protocol.connection.words import api_words
from kafka_admin_proto.protocol.payload_values import Request
from kafka_admin_proto.proxy.apis import LOGIN
from kafka_admin_proto.values import Message

_FIRST = (api_keys.API_VERSIONS, api_keys.SASL_HANDSHAKE)


class ClientLogin:
    """Who a client is: its requests of SASL are answered here, and others wait for their end."""

    def __init__(self, sasl: SaslServer) -> None:
        self._authentication = ServerAuthentication(sasl)

    @property
    def is_over(self) -> bool:
        """Whether the client has logged in."""
        return self._authentication.principal is not None

    @property
    def takes_tokens(self) -> bool:
        return self._authentication.bare

    def takes(
        self, api_key: int, answer: Callable[[Message], None] | None, *, knows_versions: bool
    ) -> bool:
        """Whether a request is one of SASL; SaslError for one that may not come before the login.

        RemoteProtocolError for one that comes when the session is over.
        ``answer`` gives it the answer that brokers give before they close; None for a version that
        is not known. The broker is asked for its versions before, once, and in version 0 again
        where it lacks a newer one.
        """
        if self._authentication.running and api_key != api_keys.SASL_AUTHENTICATE:
            refusal = refused_amid(api_key)
            if refusal is not None and answer is not None:
                answer(refusal)
            raise SaslError(f"a request of {api_words(api_key)} during the authentication")
        begins = self._authentication.running or api_key in _FIRST
        if api_key == api_keys.API_VERSIONS and knows_versions:
            begins = False
        if not self.is_over and not begins:
            raise SaslError(f"a request of {api_words(api_key)} before the authentication")
        if api_key in LOGIN:
            return True
        if self.is_over:
            self._authentication.check_session()
        return False

    def take(self, request: Request, answer: Callable[[Message], None]) -> None:
        """Answer a request of SASL; SaslError, after the answer, for a client that fails."""
        body = request.body
        assert isinstance(body, SaslHandshakeRequest | SaslAuthenticateRequest)
        self._authentication.take(request, body, lambda _, message: answer(message))

    def take_token(self, token: bytes, write: Callable[[bytes], None]) -> None:
        """Answer a bare token; SaslError without an answer for a client that fails."""
        self._authentication.take_bare(token, write)
