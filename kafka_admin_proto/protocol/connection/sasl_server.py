"""SASL on the server's side: whose credentials are taken, and the exchanges that check them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.protocol.connection import scram

#: Whether a user has that password; to be compared in constant time (``hmac.compare_digest``).
PlainVerifier = Callable[[str, str], bool]
#: A user's credential, None for a user that does not exist.
ScramLookup = Callable[[str], scram.ScramCredential | None]


class SaslServer(msgspec.Struct, frozen=True, kw_only=True):
    """The mechanisms of a listener: one for each field that is given.

    The callables are asked while bytes are read and have to answer from memory. What they raise
    passes through ``next_event``. With a ``session_lifetime_ms`` clients have to authenticate
    again within that time (``connections.max.reauth.ms``).
    """

    plain: PlainVerifier | None = None
    scram_sha_256: ScramLookup | None = None
    scram_sha_512: ScramLookup | None = None
    session_lifetime_ms: int = 0

    def __post_init__(self) -> None:
        if not self.mechanisms:
            raise ValueError("a SaslServer without a mechanism lets nobody in; give one of them")
        if self.scram_sha_256 or self.scram_sha_512:
            scram.scramp()

    @property
    def mechanisms(self) -> list[str]:
        """Their names, as SaslHandshake lists them."""
        given = (self.plain, self.scram_sha_256, self.scram_sha_512)
        return [name for name, each in zip(_MECHANISMS, given, strict=True) if each is not None]

    def exchange(self, mechanism: str) -> ServerExchange | None:
        """A new authentication; None for a mechanism that is not taken."""
        if mechanism == "PLAIN" and self.plain is not None:
            return _PlainExchange(self.plain)
        lookup = {"SCRAM-SHA-256": self.scram_sha_256, "SCRAM-SHA-512": self.scram_sha_512}
        found = lookup.get(mechanism)
        return None if found is None else _ScramExchange(mechanism, found)

    def __repr__(self) -> str:
        return f"SaslServer({', '.join(self.mechanisms)})"

    def __rich_repr__(self) -> list[Any]:
        return list(self.mechanisms)


_MECHANISMS = ("PLAIN", *scram.HASHES)


class Step(NamedTuple):
    """What a client's token led to: an answer, then a user who is in, or why nobody is."""

    answer: bytes = b""
    user: str | None = None
    refusal: str | None = None


class ServerExchange(ABC):
    """One authentication, token by token."""

    @abstractmethod
    def take(self, token: bytes) -> Step:
        """The answer to the client's next token."""


class Refusing(ServerExchange):
    """An exchange that nobody passes."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def take(self, token: bytes) -> Step:
        return Step(refusal=self._reason)


class _PlainExchange(ServerExchange):
    def __init__(self, verify: PlainVerifier) -> None:
        self._verify = verify

    def take(self, token: bytes) -> Step:
        parts = token.split(b"\0")
        if len(parts) != 3:
            return Step(refusal="a PLAIN token has three parts with NULs between them")
        try:
            authzid, user, password = (part.decode() for part in parts)
        except UnicodeDecodeError:
            return Step(refusal="a PLAIN token is UTF-8")
        if authzid not in ("", user):
            return Step(refusal="a PLAIN token may not ask to act for another user")
        if not user or not self._verify(user, password):
            return Step(refusal="user or password is wrong")
        return Step(user=user)


class _ScramExchange(ServerExchange):
    def __init__(self, mechanism: str, lookup: ScramLookup) -> None:
        self._mechanism = mechanism
        self._lookup = lookup
        self._server: Any = None  # scramp's ScramServer, once the user is known
        self._user = ""

    def take(self, token: bytes) -> Step:
        text = scram.text_of(token)
        if text is None:
            return Step(refusal="a token is not a SCRAM message")
        if self._server is not None:
            return self._final(text)
        user = scram.name_in(text)
        credential = None if not user else self._lookup(user)
        if not user or credential is None:
            return Step(refusal="user or password is wrong")
        return self._first(text, user, credential)

    def _first(self, text: str, user: str, credential: scram.ScramCredential) -> Step:
        library = scram.scramp()
        kept = (
            credential.salt,
            credential.stored_key,
            credential.server_key,
            credential.iterations,
        )
        server = library.ScramMechanism(self._mechanism).make_server(lambda name: kept)
        try:
            server.set_client_first(text)
            answer = str(server.get_server_first()).encode()
        except library.ScramException as error:
            return Step(refusal=str(error))
        self._server, self._user = server, user
        return Step(answer=answer)

    def _final(self, text: str) -> Step:
        library = scram.scramp()
        try:
            self._server.set_client_final(text)
        except library.ScramException:
            return Step(refusal="user or password is wrong")
        return Step(answer=str(self._server.get_server_final()).encode(), user=self._user)
