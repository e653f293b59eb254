"""SASL on a connection: who the client says it is, and whether raw tokens follow.

PLAIN (RFC 4616): ``authzid NUL authcid NUL password``. SCRAM (RFC 5802): the client's first message
is ``n,a=authzid,n=name,r=...``; the server's last starts with ``v=`` when it agrees. Other
mechanisms, and delegation tokens (whose owner the broker knows alone), give no name. To a token of
OAUTHBEARER (RFC 7628) the server agrees with an empty answer. Passwords and tokens are never kept.
"""

from __future__ import annotations

import re

import msgspec

#: Kafka's prefix for a name that SASL gave (``KafkaPrincipal.USER_TYPE``).
_USER = "User:"
#: Bytes of a name; longer ones are ignored, as a peer may send anything.
_MAX_NAME_BYTES = 1024
#: What is no secret in PLAIN's token: the names in front of the password, authzid and authcid.
_OF_PLAIN = re.compile(rb"([^\0]*)\0([^\0]+)\0(?=[^\0]*\Z)")
#: The same in SCRAM's first token, whose nonce follows: with it, a password could be guessed.
_OF_SCRAM = re.compile(
    rb"(?:[ny]|p=[\w.-]*),(?:a=([^,]*))?,n=([^,]+),r=(?!.*,tokenauth=true)", re.DOTALL
)
#: The same in SCRAM's last token: that the server agrees.
_AGREES = b"v="


class SaslExchange(msgspec.Struct):
    """The state of one connection; ``principal`` is None until a server has agreed.

    ``agreed``: the server has said that the exchange is over, as far as its answers show that.
    ``raw_tokens``: tokens follow that have a size in front and no header, which is so after
    SaslHandshake v0.
    """

    principal: str | None = None
    agreed: bool = False
    raw_tokens: bool = False
    mechanism: str = ""
    name: str | None = None

    def handshake(self, mechanism: str, api_version: int | None) -> None:
        """SaslHandshake asks for a mechanism: a new exchange, perhaps not the first."""
        self.mechanism, self.name = mechanism, None
        self.agreed = False
        self.raw_tokens = api_version == 0

    def from_client(self, token: bytes) -> None:
        """Read the client's next token."""
        if self.mechanism == "PLAIN":
            self.name = _plain_name(token)
        elif self.mechanism.startswith("SCRAM-") and token[:2] in (b"n,", b"y,", b"p="):
            self.name = _scram_name(token)

    def from_server(self, token: bytes, *, failed: bool = False) -> None:
        """Read the server's answer to it."""
        if failed:
            self.principal = self.name = None
        elif self.mechanism == "OAUTHBEARER":
            self.agreed = not token
        elif self.mechanism == "PLAIN" or token[:2] == _AGREES:
            self.principal = None if self.name is None else _USER + self.name
            self.agreed = True


def shown_bytes(mechanism: str, token: bytes, *, from_client: bool) -> int:
    """How many bytes at the start of a token are no secret: with these alone it names the user.

    0 where a token is not of the form of its mechanism, has two names, or that of a delegation
    token. A password, a nonce, a salt and a proof are never among them.
    """
    if not from_client:
        agrees = mechanism.startswith("SCRAM-") and token.startswith(_AGREES)
        return len(_AGREES) if agrees else 0
    if mechanism == "PLAIN":
        message = _OF_PLAIN.match(token)
    else:
        message = _OF_SCRAM.match(token) if mechanism.startswith("SCRAM-") else None
    if message is None or _text(message[2]) is None or message[1] not in (None, b"", message[2]):
        return 0
    return message.end()


def _plain_name(token: bytes) -> str | None:
    parts = token.split(b"\0")
    return _text(parts[1]) if len(parts) == 3 else None


def _scram_name(token: bytes) -> str | None:
    # After "n,," or "n,a=...,": n=name, then the nonce and extensions.
    attributes = token.split(b",")[2:]
    if b"tokenauth=true" in attributes:
        return None
    names = [each[2:] for each in attributes if each.startswith(b"n=")]
    name = _text(names[0]) if names else None
    return None if name is None else name.replace("=2C", ",").replace("=3D", "=")


def _text(name: bytes) -> str | None:
    try:
        return name.decode() if 0 < len(name) <= _MAX_NAME_BYTES else None
    except UnicodeDecodeError:
        return None
