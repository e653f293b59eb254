"""SASL on the client's side: the credentials, and the tokens made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from kafka_admin_proto.arguments import checked
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import SaslError
from kafka_admin_proto.protocol.connection import oauth, scram
from kafka_admin_proto.wire.secrets import MASK


class ClientExchange(ABC):
    """One authentication, token by token."""

    #: Whether the first token takes time.
    starts_slowly: bool = False
    #: What the broker has said against the client, where it refuses in two steps.
    refusal: str = ""

    @abstractmethod
    def first(self) -> bytes:
        """The first token."""

    def masked(self, text: str) -> str:
        """The broker's words, without what is secret."""
        return text

    @abstractmethod
    def next(self, challenge: bytes) -> Callable[[], bytes] | None:
        """What computes the next token after the broker's, None when the exchange is over.

        Raises SaslError for an answer that is not of this mechanism, or that proves nothing.
        """


class Sasl(ABC):
    """The credentials for one mechanism. They are masked in ``repr`` and never pickled."""

    __slots__ = ("mechanism",)

    def __init__(self, mechanism: str) -> None:
        self.mechanism: str = mechanism

    def __reduce__(self) -> str:
        raise TypeError(
            f"a {type(self).__name__} holds a password and is not pickled; make another one there"
        )

    @property
    @abstractmethod
    def login(self) -> str:
        """Who logs in, as sentences name it: "user 'alice'"."""

    @property
    @abstractmethod
    def secret(self) -> str:
        """What may be wrong when a broker refuses, as sentences name it."""

    @abstractmethod
    def exchange(self, limit: int) -> ClientExchange:
        """A new authentication; ``limit`` is how many PBKDF2 rounds a server may ask for."""


class _PasswordLogin(Sasl):
    """A user with a password.

    TypeError for a user or a password that is no str, ValueError for one that cannot be sent.
    """

    __slots__ = ("_password", "user")

    def __init__(self, mechanism: str, user: str, password: str) -> None:
        for name, text in (("user", user), ("password", password)):
            checked(text, str, f"{type(self).__name__}: {name}")
        if not user or not (scram.is_sasl_text(user) and scram.is_sasl_text(password)):
            raise ValueError("a SASL user needs a name; it and the password are UTF-8 without NULs")
        super().__init__(mechanism)
        self.user: str = user
        self._password = password

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mechanism!r}, {self.user!r}, {MASK!r})"

    @property
    def login(self) -> str:
        return f"user {self.user!r}"

    @property
    def secret(self) -> str:
        return "the user and the password"


class SaslPlain(_PasswordLogin):
    """PLAIN (RFC 4616): the password itself, so over TLS only."""

    __slots__ = ()

    def __init__(self, user: str, password: str) -> None:
        super().__init__("PLAIN", user, password)

    def __repr__(self) -> str:
        return f"SaslPlain({self.user!r}, {MASK!r})"

    def exchange(self, limit: int) -> ClientExchange:
        return _PlainExchange(f"\0{self.user}\0{self._password}".encode())


class SaslScram(_PasswordLogin):
    """SCRAM-SHA-256 or SCRAM-SHA-512; needs the extra ``live``.

    With ``by_token`` the user is the id of a delegation token, and the password its HMAC in base64
    (KIP-48, ``tokenauth`` of Java's clients).

    ValueError for another mechanism, MissingExtraError without the library.
    """

    __slots__ = ("_by_token",)

    def __init__(self, mechanism: str, user: str, password: str, *, by_token: bool = False) -> None:
        scram.hash_of(mechanism)
        scram.scramp()
        super().__init__(mechanism, user, password)
        self._by_token: bool = checked(by_token, bool, "SaslScram: by_token")

    @property
    def login(self) -> str:
        return f"delegation token {self.user!r}" if self._by_token else super().login

    @property
    def secret(self) -> str:
        return "the token's id and its HMAC" if self._by_token else super().secret

    def exchange(self, limit: int) -> ClientExchange:
        client = scram.scramp().ScramClient([self.mechanism], "user", "password")
        client.username, client.password = scram.Verbatim(self.user), scram.Verbatim(self._password)
        return _ScramExchange(client, self.mechanism, limit, self._by_token)


class SaslOAuthBearer(Sasl):
    """OAUTHBEARER (RFC 7628): a token for each authentication, so over TLS only.

    ``provider`` is a function that returns a token, or an object with a method ``token`` and
    perhaps one ``extensions``, which returns a mapping of texts (KIP-342), as kafka-python has it.
    It is called anew for each authentication; with ``defer_proofs`` the caller does that. TypeError
    for another provider, or one with async.
    """

    __slots__ = ("_source",)

    def __init__(self, provider: Callable[[], str] | Any) -> None:
        super().__init__(oauth.OAUTHBEARER)
        self._source = oauth.TokenSource(provider)

    def __repr__(self) -> str:
        return f"SaslOAuthBearer({MASK!r})"

    @property
    def login(self) -> str:
        return "the token"

    @property
    def secret(self) -> str:
        return self.login

    def exchange(self, limit: int) -> ClientExchange:
        return _OAuthBearerExchange(self._source)


class _PlainExchange(ClientExchange):
    def __init__(self, token: bytes) -> None:
        self._token = token

    def first(self) -> bytes:
        return self._token

    def next(self, challenge: bytes) -> None:
        return None  # an answer at all is a yes; brokers leave it empty


class _ScramExchange(ClientExchange):
    """``client`` is scramp's ScramClient."""

    def __init__(self, client: Any, mechanism: str, limit: int, by_token: bool) -> None:
        self._client = client
        self._mechanism = mechanism
        self._limit = limit
        self._extension = ",tokenauth=true" if by_token else ""
        self._is_proven = False

    def first(self) -> bytes:
        message: str = self._client.get_client_first() + self._extension
        self._client.client_first_bare += self._extension  # scramp has no extensions
        return message.encode()

    def next(self, challenge: bytes) -> Callable[[], bytes] | None:
        text = scram.text_of(challenge)
        if text is None:
            raise self._error(
                f"its token of {counted(len(challenge), 'bytes')} is not a SCRAM message"
            )
        if self._is_proven:
            fault = self._refused(self._client.set_server_final, text)
            if fault:
                raise self._error(fault)
            return None
        fault = self._refused(self._client.set_server_first, text)
        if fault:
            raise self._error(fault)
        rounds = int(self._client.iterations)
        if rounds > self._limit:
            raise self._error(
                f"it asks for {counted(rounds, 'iterations')}, and the limit is {self._limit}"
            )
        self._is_proven = True
        return self._proof

    def _proof(self) -> bytes:
        """The client's last token: PBKDF2, about a second at the limit."""
        return str(self._client.get_client_final()).encode()

    def _refused(self, step: Any, text: str) -> str:
        """Why scramp does not take a message, "" if it does."""
        try:
            step(text)
        except scram.scramp().ScramException as error:
            return str(error)
        return ""

    def _error(self, fault: str) -> SaslError:
        return SaslError(
            f"{self._mechanism}: the broker's side of the exchange is wrong: {fault}",
            mechanism=self._mechanism,
        )


class _OAuthBearerExchange(ClientExchange):
    """The broker answers a token that it refuses with JSON first (RFC 7628, 3.2.2)."""

    starts_slowly = True

    def __init__(self, source: oauth.TokenSource) -> None:
        self._source = source
        self._token = ""

    def first(self) -> bytes:
        self._token, message = self._source.message()
        return message

    def next(self, challenge: bytes) -> Callable[[], bytes] | None:
        if self.refusal:
            raise SaslError(
                f"{oauth.OAUTHBEARER}: the broker refused the token: {self.refusal}",
                mechanism=oauth.OAUTHBEARER,
            )
        if not challenge:
            return None
        self.refusal = self.masked(challenge.decode(errors="replace"))
        return lambda: oauth.AFTER_ERROR

    def masked(self, text: str) -> str:
        return text.replace(self._token, MASK) if self._token else text
