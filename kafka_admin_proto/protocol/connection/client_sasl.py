"""Authentication as the client does it: SaslHandshake, then tokens in one of two forms.

After SaslHandshake v1 each token is a SaslAuthenticate request (KIP-152). After v0 the tokens are
bare frames, without headers; a broker of that age refuses by closing the connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from kafka_admin_proto.errors import DecodeError, RemoteProtocolError, SaslError
from kafka_admin_proto.messages import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.connection.events import ClientEvent, ProofNeeded
from kafka_admin_proto.protocol.connection.sasl_client import Sasl
from kafka_admin_proto.protocol.connection.words import error_words
from kafka_admin_proto.protocol.payload_values import Response
from kafka_admin_proto.protocol.payloads import read_response
from kafka_admin_proto.values import Message

#: Takes the answer to one of the connection's own requests.
Handler: TypeAlias = Callable[[Response], ClientEvent | None]

_M = TypeVar("_M", bound=Message)


def body_of(response: Response, kind: type[_M]) -> _M:
    """The body of an answer that the connection itself needs; RemoteProtocolError without one."""
    if isinstance(response.body, kind):
        return response.body
    raise RemoteProtocolError(f"the {response.api} response does not read: {response.problem}")


def _null_refusal(response: Response) -> SaslAuthenticateResponse | None:
    """A refusal whose token is null, as some brokers send it although Kafka's definition has none.

    The broker's words stand in front of the token; None for any other answer.
    """
    error, data = response.error, response.data
    if not isinstance(error, DecodeError) or error.path != "auth_bytes" or error.offset is None:
        return None
    null, empty = (b"\0", b"\1") if response.api_version > 1 else (bytes([255] * 4), bytes(4))
    start, end = error.offset, error.offset + len(null)
    if data[start:end] != null:
        return None
    data = data[:start] + empty + data[end:]
    body = read_response(data, response.api_key, response.api_version).body
    return body if isinstance(body, SaslAuthenticateResponse) and body.error_code else None


class ClientAuthentication:
    """One authentication.

    ``versions`` has the version to use by api key. ``ask`` writes a request of the connection's
    own, ``write`` a bare token, and ``done`` is called with the session's lifetime in the end.
    With ``defer_proofs`` the caller computes SCRAM's proofs and asks for tokens.
    """

    def __init__(
        self,
        sasl: Sasl,
        limit: int,
        versions: Mapping[int, int],
        *,
        ask: Callable[[Message, int, Handler], None],
        write: Callable[[bytes], None],
        done: Callable[[int], ClientEvent],
        defer_proofs: bool,
    ) -> None:
        self._sasl = sasl
        self._exchange = sasl.exchange(limit)
        self._versions = versions
        self._ask = ask
        self._write = write
        self._done = done
        self._defers = defer_proofs
        #: Whether the caller computes a token now.
        self.lacks_proof: bool = False
        #: Whether the tokens are bare frames from now on.
        self.bare: bool = False

    def start(self) -> None:
        """Write the SaslHandshake; SaslError where the broker has none."""
        version = self._versions.get(api_keys.SASL_HANDSHAKE)
        if version is None:
            raise self._error("the broker has no SaslHandshake, so no SASL that is known here")
        if api_keys.SASL_AUTHENTICATE not in self._versions:
            version = 0
        request = SaslHandshakeRequest(mechanism=self._sasl.mechanism)
        self._ask(request, version, self._take_handshake)

    def take_bare(self, token: bytes) -> ClientEvent | None:
        """The broker's next bare token."""
        compute = self._exchange.next(token)
        return self._done(0) if compute is None else self._answer(compute)

    def send(self, token: bytes) -> None:
        """Write the next token, in the form that the version of the handshake requires."""
        self.lacks_proof = False
        if self.bare:
            self._write(token)
        else:
            version = self._versions[api_keys.SASL_AUTHENTICATE]
            request = SaslAuthenticateRequest(auth_bytes=token)
            self._ask(request, version, self._take_token)

    def closed(self) -> SaslError:
        """The error of a stream that ends amid bare tokens."""
        return self._error(
            f"the broker closed the connection during the exchange for {self._sasl.login}, "
            f"which is how it refuses after SaslHandshake v0: check {self._sasl.secret}"
        )

    def _take_handshake(self, response: Response) -> ClientEvent | None:
        body = body_of(response, SaslHandshakeResponse)
        if body.error_code == codes.UNSUPPORTED_SASL_MECHANISM:
            known = ", ".join(body.mechanisms) or "none"
            raise self._error(
                f"the broker refused the mechanism, it names {known}: "
                f"{error_words(body.error_code)}",
                body.error_code,
            )
        if body.error_code:
            raise self._error(
                f"the broker takes no authentication now: {error_words(body.error_code)} "
                "A listener without SASL takes none, one whose sessions do not end "
                "(connections.max.reauth.ms) no second one, and any other one a second at most",
                body.error_code,
            )
        self.bare = response.api_version == 0
        if self._exchange.starts_slowly:
            return self._answer(self._exchange.first)
        self.send(self._exchange.first())
        return None

    def _take_token(self, response: Response) -> ClientEvent | None:
        body = _null_refusal(response) or body_of(response, SaslAuthenticateResponse)
        if body.error_code:
            said = self._exchange.masked(body.error_message or self._exchange.refusal)
            raise self._error(
                f"the broker refused {self._sasl.login}: {error_words(body.error_code, said)}",
                body.error_code,
            )
        compute = self._exchange.next(body.auth_bytes)
        return self._done(body.session_lifetime_ms) if compute is None else self._answer(compute)

    def _answer(self, compute: Callable[[], bytes]) -> ClientEvent | None:
        if self._defers:
            self.lacks_proof = True
            return ProofNeeded(compute)
        self.send(compute())
        return None

    def _error(self, fault: str, code: int = 0) -> SaslError:
        return SaslError(
            f"{self._sasl.mechanism}: {fault}", mechanism=self._sasl.mechanism, code=code
        )
