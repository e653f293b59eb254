"""OAUTHBEARER (RFC 7628, KIP-255): where a client has its tokens, and the message that has one.

A token is a secret like a password: it is in no error and no ``repr``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import iscoroutine, iscoroutinefunction
from typing import Any, NamedTuple, TypeVar

from kafka_admin_proto.errors import RemoteProtocolError, SaslError
from kafka_admin_proto.wire.secrets import MASK

_T = TypeVar("_T")

OAUTHBEARER = "OAUTHBEARER"
#: What a client sends after a broker's error, which the broker then refuses (RFC 7628, 3.2.3).
AFTER_ERROR = b"\x01"

#: RFC 6750's b64token.
_TOKEN = re.compile(r"[-._~+/A-Za-z0-9]+=*")
_KEY, _VALUE = "[A-Za-z]+", "[\\x21-\\x7e \\t\\r\\n]+"
_EXTENSION = re.compile(f"{_KEY}\0{_VALUE}")
_MESSAGE = re.compile(
    "n,(?:a=(?P<id>(?:[\\x01-\\x2b\\x2d-\\x3c\\x3e-\\x7f]|=2C|=3D)+))?,\x01"
    f"(?P<pairs>(?:{_KEY}={_VALUE}\x01)*)\x01"
)
_AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-._~+/A-Za-z0-9]+=*)", re.ASCII)


class TokenSource:
    """A caller's tokens: a function, or an object with ``token`` and perhaps ``extensions``.

    The latter is what kafka-python takes. TypeError for anything else, and for coroutine functions.
    """

    __slots__ = ("_extensions", "_token")

    def __init__(self, provider: Any) -> None:
        token = provider if callable(provider) else getattr(provider, "token", None)
        if not callable(token) or iscoroutinefunction(token):
            raise TypeError(
                "a token provider is a function that returns a token, or an object with such a "
                "method token(), without async"
            )
        self._token: Callable[[], object] = token
        self._extensions: Callable[[], object] | None = getattr(provider, "extensions", None)

    def message(self) -> tuple[str, bytes]:
        """A token, and the client's first message with it.

        Raises SaslError for what is no token, and for a provider that fails.
        """
        token = self._asked("token", self._token)
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            if iscoroutine(token):
                token.close()
            kind = "text with other characters" if isinstance(token, str) else type(token).__name__
            raise _error(f"the token provider returned {kind} in the place of a token")
        pairs = self._asked("extensions", self._pairs)
        return token, f"n,,\x01auth=Bearer {token}\x01{pairs}\x01".encode("ascii")

    def _pairs(self) -> str:
        if self._extensions is None:
            return ""
        extensions = self._extensions()
        if not isinstance(extensions, Mapping):
            if iscoroutine(extensions):
                extensions.close()
            kind = type(extensions).__name__
            raise _error(f"the extensions of the token provider are {kind}, not a mapping")
        return "".join(f"{_checked(key, value)}\x01" for key, value in extensions.items())

    @staticmethod
    def _asked(what: str, provide: Callable[[], _T]) -> _T:
        try:
            return provide()
        except SaslError:
            raise
        except Exception as error:  # its text may have the token
            raise _error(f"the token provider's {what} failed: {type(error).__name__}") from error


class ClientMessage(NamedTuple):
    """A client's first message; ``authorization_id`` is "" for the token's own name."""

    token: str
    authorization_id: str

    def __repr__(self) -> str:
        return f"ClientMessage({MASK!r}, {self.authorization_id!r})"

    @classmethod
    def read(cls, data: bytes) -> ClientMessage | None:
        """As Kafka's ``OAuthBearerClientInitialResponse``; None for another message.

        Raises RemoteProtocolError for another scheme, for which brokers close without an answer.
        """
        message = _MESSAGE.fullmatch(data.decode(errors="replace"))
        if message is None:
            return None
        pairs = dict(each.split("=", 1) for each in message["pairs"].split("\x01") if each)
        auth = _AUTH.fullmatch(pairs.get("auth", ""))
        if auth is None:
            return None
        if auth["scheme"].lower() != "bearer":
            raise RemoteProtocolError(f"a message of {OAUTHBEARER} whose scheme is not Bearer")
        name = (message["id"] or "").replace("=2C", ",").replace("=3D", "=")
        return cls(auth["token"], name)


def _checked(key: object, value: object) -> str:
    if key == "auth" or not _EXTENSION.fullmatch(f"{key}\0{value}"):
        raise _error(
            f"the extension {key!r} cannot be sent: a name has letters only and is not auth, a "
            "value is printable ASCII and not empty"
        )
    return f"{key}={value}"


def _error(fault: str) -> SaslError:
    return SaslError(f"{OAUTHBEARER}: {fault}", mechanism=OAUTHBEARER)
