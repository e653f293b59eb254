"""SCRAM (RFC 5802, RFC 7677) the way Kafka speaks it, over the library scramp.

Kafka takes names and passwords as they are, in UTF-8 (``ScramFormatter.normalize``), where the RFC
and scramp prepare them (SASLprep): "ª" would become "a", and a password with it would never fit
the keys that a broker stored. So the exchanges here hand scramp what is prepared already, the
text itself.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any, Final

import msgspec

from kafka_admin_proto.errors import MissingExtraError

#: The mechanisms, and the names of their hashes in hashlib.
HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
#: No message of an exchange is longer; preparing a long name costs a server much time.
LONGEST_MESSAGE_BYTES = 4096
#: Kafka's least number of rounds, which scramp has too.
LEAST_ITERATIONS = 4096
#: What scramp takes for a salt.
_LEAST_SALT_BYTES = 12
_NEW_SALT_BYTES = 24


class ScramCredential(msgspec.Struct, frozen=True):
    """What a broker keeps of a user's password, for one mechanism.

    Kafka stores the same four (``UserScramCredentialRecord``); ``repr`` masks all but the rounds.
    ValueError where scramp would refuse them: fewer than 4096 rounds, a salt of under 12 bytes.
    """

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    def __post_init__(self) -> None:
        if self.iterations < LEAST_ITERATIONS:
            raise ValueError(
                f"a SCRAM credential of {self.iterations} iterations; at least {LEAST_ITERATIONS} "
                "are needed"
            )
        if len(self.salt) < _LEAST_SALT_BYTES:
            raise ValueError(
                f"a SCRAM salt of {len(self.salt)} bytes; at least {_LEAST_SALT_BYTES} are needed"
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
        if not is_sasl_text(password):
            raise ValueError("a SASL password is UTF-8 without NULs")
        salt = secrets.token_bytes(_NEW_SALT_BYTES) if salt is None else salt
        salted = hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations)
        client_key = hmac.digest(salted, b"Client Key", name)
        stored_key = hashlib.new(name, client_key).digest()
        return cls(salt, iterations, stored_key, hmac.digest(salted, b"Server Key", name))

    def __repr__(self) -> str:
        return f"ScramCredential(iterations={self.iterations}, keys and salt not shown)"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("iterations", self.iterations)]


def hash_of(mechanism: str) -> str:
    """The name in hashlib of a mechanism's hash; ValueError for a mechanism that is not SCRAM."""
    if mechanism not in HASHES:
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


def name_in(client_first: str) -> str | None:
    """The name in a client's first message, as the client wrote it; None if there is none."""
    parts = client_first.split(",", 3)
    if len(parts) < 4 or not parts[2].startswith("n="):
        return None
    return parts[2][2:].replace("=2C", ",").replace("=3D", "=")


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
