"""SCRAM (RFC 5802, RFC 7677) the way Kafka speaks it, over the library scramp.

Kafka takes names and passwords as they are, in UTF-8 (``ScramFormatter.normalize``), where the RFC
and scramp prepare them (SASLprep): "ª" would become "a", and a password with it would never fit
the keys that a broker stored. So the client hands scramp what is prepared already, the text itself.
The server's side takes what the patterns of Kafka's ``ScramMessages`` take. It computes HMACs only:
PBKDF2 is the client's.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import Any, Final

import msgspec

from kafka_admin_proto.arguments import check_fields, checked
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import MissingExtraError
from kafka_admin_proto.wire.secrets import MASK

#: The mechanisms, and the names of their hashes in hashlib.
HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
#: No message of an exchange is longer; preparing a long name costs a server much time.
LONGEST_MESSAGE_BYTES = 4096
#: Kafka's least number of rounds, which scramp has too.
LEAST_ITERATIONS = 4096
_NEW_SALT_BYTES = 24
_NEW_NONCE_BYTES = 24


class ScramCredential(msgspec.Struct, frozen=True):
    """What a broker keeps of a user's password, for one mechanism.

    Kafka stores the same four (``UserScramCredentialRecord``); ``repr`` masks all but the rounds.
    ValueError for fewer than 4096 rounds, which Kafka refuses; TypeError for what is no bytes.
    """

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    def __post_init__(self) -> None:
        check_fields(self, "ScramCredential")
        if self.iterations < LEAST_ITERATIONS:
            raise ValueError(
                f"a SCRAM credential of {counted(self.iterations, 'iterations')}; at least "
                f"{LEAST_ITERATIONS} "
                "are needed"
            )

    @classmethod
    def of_password(
        cls,
        mechanism: str,
        password: str,
        *,
        salt: bytes | None = None,
        iterations: int = LEAST_ITERATIONS,
    ) -> ScramCredential:
        """The credential of a password, with a new salt by default; ValueError as above."""
        name = hash_of(mechanism)
        checked(password, str, "of_password: password")
        if not is_sasl_text(password):
            raise ValueError("a SASL password is UTF-8 without NULs")
        salt = secrets.token_bytes(_NEW_SALT_BYTES) if salt is None else salt
        salted = hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations)
        client_key = hmac.digest(salted, b"Client Key", name)
        stored_key = hashlib.new(name, client_key).digest()
        return cls(salt, iterations, stored_key, hmac.digest(salted, b"Server Key", name))

    def fits(self, mechanism: str) -> bool:
        """Whether the keys are as long as those that the mechanism's hash makes."""
        size = hashlib.new(hash_of(mechanism)).digest_size
        return len(self.stored_key) == len(self.server_key) == size

    def __repr__(self) -> str:
        return f"ScramCredential(iterations={self.iterations}, keys and salt not shown)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("iterations", self.iterations)]


def hash_of(mechanism: str) -> str:
    """The name in hashlib of a mechanism's hash; ValueError for a mechanism that is not SCRAM."""
    if checked(mechanism, str, "a SCRAM mechanism") not in HASHES:
        raise ValueError(f"{mechanism!r} is no SCRAM mechanism of Kafka's: {', '.join(HASHES)}")
    return HASHES[mechanism]


def is_sasl_text(text: str) -> bool:
    """Whether a name or password has bytes in UTF-8, and no NUL among them.

    An error of Python's own codec would carry the text along.
    """
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


class Verbatim:
    """A name or a password for scramp, which is used as it is.

    scramp asks a name for its ``escape`` and a password for its bytes.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def escape(self) -> str:
        return self._text.replace("=", "=3D").replace(",", "=2C")

    def __bytes__(self) -> bytes:
        return self._text.encode()


# What a client sends, in the form that Kafka takes.

_NAME = r"(?:[\x01-\x2B\x2D-\x3C\x3E-\x7F]|=2C|=3D)+"
_VALUE = r"[\x01-\x2B\x2D-\x7F]+"
_NONCE = r"[\x21-\x2B\x2D-\x7E]+"
_EXTENSIONS = rf"(?:,[A-Za-z]+={_VALUE})*"
_BASE64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_CLIENT_FIRST = re.compile(
    rf"n,(?:a=(?P<authorization_id>{_NAME}))?,(?:m={_VALUE},)?"
    rf"n=(?P<name>{_NAME}),r=(?P<nonce>{_NONCE})(?P<extensions>{_EXTENSIONS})"
)
_CLIENT_FINAL = re.compile(
    rf"c=(?P<channel>{_BASE64}),r=(?P<nonce>{_NONCE}){_EXTENSIONS},p=(?P<proof>{_BASE64})"
)


class ClientFirst(msgspec.Struct, frozen=True):
    """A client's first message.

    ``bare`` is what its proof is about, which ``m=`` is no part of; ``has_token`` says that it
    wants to authenticate with a delegation token.
    """

    user: str
    nonce: str
    authorization_id: str
    bare: str
    has_token: bool

    @classmethod
    def read(cls, text: str) -> ClientFirst | None:
        """None for what is no such message."""
        message = _CLIENT_FIRST.fullmatch(text)
        if message is None:
            return None
        name, nonce, extensions = message["name"], message["nonce"], message["extensions"]
        return cls(
            user=name.replace("=2C", ",").replace("=3D", "="),
            nonce=nonce,
            authorization_id=message["authorization_id"] or "",
            bare=f"n={name},r={nonce}{extensions}",
            has_token=any(
                key == "tokenauth" and value.lower() == "true"
                for key, _, value in (each.partition("=") for each in extensions.split(","))
            ),
        )


class ClientFinal(msgspec.Struct, frozen=True):
    """A client's last message; ``without_proof`` is what the proof is about."""

    nonce: str
    proof: bytes
    without_proof: str

    @classmethod
    def read(cls, text: str) -> ClientFinal | None:
        """None for what is no such message."""
        message = _CLIENT_FINAL.fullmatch(text)
        if message is None:
            return None
        without_proof = f"c={message['channel']},r={message['nonce']}"
        return cls(message["nonce"], base64.b64decode(message["proof"]), without_proof)

    def __repr__(self) -> str:
        return f"ClientFinal({MASK!r})"

    def __rich_repr__(self) -> list[Any]:
        return [MASK]


def new_nonce() -> str:
    """The server's part of a nonce: 24 random bytes as printable text."""
    return secrets.token_urlsafe(_NEW_NONCE_BYTES)


def server_first(nonce: str, credential: ScramCredential) -> str:
    salt = base64.b64encode(credential.salt).decode()
    return f"r={nonce},s={salt},i={credential.iterations}"


def stored_key_of(name: str, stored_key: bytes, said: bytes, proof: bytes) -> bytes:
    """The stored key that a proof stands for, which is as long as the key (RFC 5802, section 3)."""
    signature = hmac.digest(stored_key, said, name)
    client_key = bytes(a ^ b for a, b in zip(signature, proof, strict=True))
    return hashlib.new(name, client_key).digest()


def server_final(name: str, server_key: bytes, said: bytes) -> str:
    """The server's own proof."""
    return f"v={base64.b64encode(hmac.digest(server_key, said, name)).decode()}"


def text_of(message: bytes) -> str | None:
    """A message of the exchange as text; None for one that is too long or not UTF-8."""
    if len(message) > LONGEST_MESSAGE_BYTES:
        return None
    try:
        return message.decode()
    except UnicodeDecodeError:
        return None


def scramp() -> Any:
    """The library; MissingExtraError where it is not installed."""
    try:
        import scramp
    except ImportError:
        raise MissingExtraError(
            "SCRAM needs the library scramp: pip install 'kafka-admin-proto[live]'"
        ) from None
    return scramp
