"""SASL on the server's side: whose credentials are taken, and the exchanges that check them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from hmac import compare_digest
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.arguments import check_fields, checked
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import RemoteProtocolError, SettingsError
from kafka_admin_proto.protocol.connection import oauth, scram

#: Whether a user has that password; to be compared in constant time (``hmac.compare_digest``).
PlainVerifier = Callable[[str, str], bool]
#: A user's credential, None for a user that does not exist.
ScramLookup = Callable[[str], scram.ScramCredential | None]


class TokenOwner(NamedTuple):
    """Whose a token is, and for how many milliseconds from now: its client's session ends then.

    A session of more than 2**63 nanoseconds, 292 years, ends the connection in place of the answer,
    as in Kafka.
    """

    name: str
    lifetime_ms: int


class DelegatedCredential(NamedTuple):
    """A delegation token's credential, its owner's name, and for how many milliseconds from now.

    The client of a token that has expired is let in, and its next request ends the connection, as
    in Kafka.
    """

    credential: scram.ScramCredential
    owner: str
    lifetime_ms: int


#: The credential of a token by the mechanism and the token's id; None for one that is not there.
DelegatedLookup = Callable[[str, str], DelegatedCredential | None]
#: The owner of a token, or the name alone for one without end; None for one that is not valid.
TokenVerifier = Callable[[str], TokenOwner | str | None]


class SaslServer(msgspec.Struct, frozen=True, kw_only=True):
    """The mechanisms of a listener: one for each field that is given.

    The callables are asked while bytes are read and have to answer from memory. For PLAIN True
    accepts and False refuses, for SCRAM a ScramCredential is a user's and None says that there is
    none, for OAUTHBEARER a TokenOwner or the name of one accepts and None refuses. SCRAM clients
    that say that their password is a delegation token (KIP-48) are asked of ``delegation_tokens``;
    without it they are refused. Any other answer
    is a TypeError: what is only true, as a coroutine is, lets nobody in. A credential that was made
    for another mechanism is a ValueError. These and what they raise pass through ``next_event``,
    and the connection has failed.

    With a ``session_lifetime_ms`` clients have to authenticate again within that time
    (``connections.max.reauth.ms``), and within the lifetime of a TokenOwner if that is less;
    without either they cannot. A ``clock`` in seconds, like
    ``time.monotonic``, lets the connection see to that itself: requests of a session that is over
    end it, and a client authenticates again once a second at most.

    Raises TypeError for a field of another type and for coroutine functions, ValueError without a
    mechanism and for a lifetime below 0.
    """

    plain: PlainVerifier | None = None
    scram_sha_256: ScramLookup | None = None
    scram_sha_512: ScramLookup | None = None
    oauthbearer: TokenVerifier | None = None
    delegation_tokens: DelegatedLookup | None = None
    session_lifetime_ms: int = 0
    clock: Callable[[], float] | None = None

    def __post_init__(self) -> None:
        check_fields(self, "SaslServer")
        if self.session_lifetime_ms < 0:
            raise ValueError(f"session_lifetime_ms is {self.session_lifetime_ms}; the least is 0")
        if not self.mechanisms:
            raise ValueError("a SaslServer without a mechanism lets nobody in; give one of them")

    @classmethod
    def of_passwords(cls, passwords: Mapping[str, str]) -> SaslServer:
        """PLAIN and both of SCRAM for users by name, with a new salt; others are not let in.

        SCRAM takes names of ASCII alone. SettingsError for names and passwords that cannot log in.
        """
        given: dict[str, str] = dict(checked(passwords, Mapping[str, str], "of_passwords"))
        for name, password in given.items():
            if not name or not password or not all(map(scram.is_sasl_text, (name, password))):
                raise SettingsError(
                    f"the user {name!r} cannot log in: a name and a password are UTF-8 without "
                    "NULs, and neither is empty"
                )

        def is_password(name: str, password: str) -> bool:
            expected = given.get(name)
            return expected is not None and compare_digest(expected.encode(), password.encode())

        def lookup(mechanism: str) -> ScramLookup:
            return {
                name: scram.ScramCredential.of_password(mechanism, password)
                for name, password in given.items()
                if name.isascii()
            }.get

        return cls(
            plain=is_password,
            scram_sha_256=lookup("SCRAM-SHA-256"),
            scram_sha_512=lookup("SCRAM-SHA-512"),
        )

    @property
    def mechanisms(self) -> list[str]:
        """Their names, as SaslHandshake lists them: in the order of Java's HashSet."""
        given = {
            "PLAIN": self.plain,
            "SCRAM-SHA-512": self.scram_sha_512,
            "SCRAM-SHA-256": self.scram_sha_256,
            oauth.OAUTHBEARER: self.oauthbearer,
        }
        return [name for name, each in given.items() if each is not None]

    def exchange(self, mechanism: str) -> ServerExchange | None:
        """A new authentication; None for a mechanism that is not taken."""
        if mechanism == "PLAIN" and self.plain is not None:
            return _PlainExchange(self.plain)
        if mechanism == oauth.OAUTHBEARER and self.oauthbearer is not None:
            return _OAuthBearerExchange(self.oauthbearer)
        lookup = {"SCRAM-SHA-256": self.scram_sha_256, "SCRAM-SHA-512": self.scram_sha_512}
        found = lookup.get(mechanism)
        return None if found is None else _ScramExchange(mechanism, found, self.delegation_tokens)

    def __repr__(self) -> str:
        return f"SaslServer({', '.join(self.mechanisms)})"

    def __rich_repr__(self) -> list[Any]:
        return list(self.mechanisms)


class Step(NamedTuple):
    """The result of a client's token: an answer, and then an authenticated user or a failure.

    ``lifetime_ms`` is how long the user's credential is valid, None without end. ``refusal`` has
    Kafka's words for the client, "" where it only says that the credentials are invalid: whether
    there is such a user stays unsaid. ``by_token`` says that it was a delegation token.
    """

    answer: bytes = b""
    user: str | None = None
    refusal: str | None = None
    lifetime_ms: int | None = None
    by_token: bool = False


class ServerExchange(ABC):
    """One authentication, token by token."""

    @abstractmethod
    def take(self, token: bytes) -> Step:
        """The answer to the client's next token.

        Raises RemoteProtocolError for one that a broker closes the connection for, unanswered.
        """


_ANOTHER_ID = (
    "Authentication failed: Client requested an authorization id that is different from username"
)
#: Kafka's words for DELEGATION_TOKEN_AUTH_DISABLED.
_NO_TOKENS = "Delegation Token feature is not enabled."
_INVALID = Step(refusal="")


class _PlainExchange(ServerExchange):
    """Kafka's ``PlainSaslServer``."""

    def __init__(self, verify: PlainVerifier) -> None:
        self._verify = verify

    def take(self, token: bytes) -> Step:
        parts = token.decode(errors="replace").split("\0", 4)[:4]
        if len(parts) != 3:
            fault = f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}"
            return Step(refusal=fault)
        authorization_id, user, password = parts
        if not user:
            return Step(refusal="Authentication failed: username not specified")
        if not password:
            return Step(refusal="Authentication failed: password not specified")
        is_right: object = self._verify(user, password)
        if is_right is not True and is_right is not False:
            raise _wrong_answer("plain", is_right, "True accepts a password and False refuses it")
        if not is_right:
            return Step(refusal="Authentication failed: Invalid username or password")
        if authorization_id not in ("", user):
            return Step(refusal=_ANOTHER_ID)
        return Step(user=user)


def _wrong_answer(field: str, answer: object, expected: str) -> TypeError:
    """The error for a callback's answer, which may be a secret and is not shown."""
    kind = type(answer).__name__
    return TypeError(f"{field} of SaslServer returned an object of type {kind}: {expected}")


class _ScramExchange(ServerExchange):
    """Kafka's ``ScramSaslServer``."""

    def __init__(
        self, mechanism: str, lookup: ScramLookup, delegated: DelegatedLookup | None
    ) -> None:
        self._mechanism = mechanism
        self._hash = scram.hash_of(mechanism)
        self._lookup = lookup
        self._delegated = delegated
        self._credential: scram.ScramCredential | None = None
        #: What the last step has, if the client's proof is right.
        self._success = Step()
        #: What the client's proof is about: its first message, then the server's.
        self._said = ""
        self._nonce = ""

    def take(self, token: bytes) -> Step:
        text = token.decode(errors="replace")
        return self._first(text) if self._credential is None else self._final(text)

    def _first(self, text: str) -> Step:
        message = scram.ClientFirst.read(text)
        if message is None:
            return _INVALID
        if message.has_token and self._delegated is None:
            return Step(refusal=_NO_TOKENS)
        field, credential, success = self._credential_of(message)
        if credential is None:
            return _INVALID
        if not isinstance(credential, scram.ScramCredential):
            expected = "a ScramCredential is the user's, and None says that there is no such user"
            raise _wrong_answer(field, credential, expected)
        if not credential.fits(self._mechanism):
            raise ValueError(
                f"{field} of SaslServer returned a credential that was made for another mechanism "
                f"than {self._mechanism}: its keys are of {len(credential.stored_key)} and "
                f"{counted(len(credential.server_key), 'bytes')}"
            )
        if message.authorization_id not in ("", message.user):
            return Step(refusal=_ANOTHER_ID)
        self._credential, self._success = credential, success
        self._nonce = message.nonce + scram.new_nonce()
        answer = scram.server_first(self._nonce, credential)
        self._said = f"{message.bare},{answer}"
        return Step(answer=answer.encode())

    def _credential_of(self, message: scram.ClientFirst) -> tuple[str, object, Step]:
        """A user's or a token's credential, the field that it is from, and what is its success."""
        if not message.has_token:
            field = self._mechanism.lower().replace("-", "_")
            return field, self._lookup(message.user), Step(user=message.user)
        field = "delegation_tokens"
        token: object = self._delegated and self._delegated(self._mechanism, message.user)
        if token is None:
            return field, None, _INVALID
        if not isinstance(token, DelegatedCredential):
            expected = "a DelegatedCredential is the token's, and None says that there is none"
            raise _wrong_answer(field, token, expected)
        success = Step(user=token.owner, lifetime_ms=token.lifetime_ms, by_token=True)
        return field, token.credential, success

    def _final(self, text: str) -> Step:
        credential = self._credential
        assert credential is not None
        message = scram.ClientFinal.read(text)
        if message is None or not message.nonce.endswith(self._nonce):
            return _INVALID
        if len(message.proof) != len(credential.stored_key):
            raise RemoteProtocolError(
                f"a SCRAM proof of {counted(len(message.proof), 'bytes')}, and {self._hash} has "
                f"{len(credential.stored_key)}"
            )
        said = f"{self._said},{message.without_proof}".encode()
        stored_key = scram.stored_key_of(self._hash, credential.stored_key, said, message.proof)
        if not compare_digest(stored_key, credential.stored_key):
            return _INVALID
        answer = scram.server_final(self._hash, credential.server_key, said)
        return self._success._replace(answer=answer.encode())


class _OAuthBearerExchange(ServerExchange):
    """Kafka's ``OAuthBearerSaslServer``: an error is said, and refused with the next token."""

    _ERROR = '{"status":"invalid_token"}'

    def __init__(self, verify: TokenVerifier) -> None:
        self._verify = verify
        self._is_refused = False

    def take(self, token: bytes) -> Step:
        if self._is_refused and token == oauth.AFTER_ERROR:
            return Step(refusal=self._ERROR)
        self._is_refused = False
        message = oauth.ClientMessage.read(token)
        if message is None:
            return _INVALID
        owner: object = self._verify(message.token)
        if owner is None:
            self._is_refused = True
            return Step(answer=self._ERROR.encode())
        name, lifetime_ms = owner if isinstance(owner, TokenOwner) else (owner, None)
        if not isinstance(name, str) or not name or type(lifetime_ms) not in (int, type(None)):
            expected = "a TokenOwner, or its name, accepts a token and None refuses it"
            raise _wrong_answer("oauthbearer", owner, expected)
        if message.authorization_id not in ("", name):
            return Step(
                refusal=f"Authentication failed: Client requested an authorization id "
                f"({message.authorization_id}) that is different from the token's principal name "
                f"({name})"
            )
        return Step(user=name, lifetime_ms=lifetime_ms)
