"""Who a connection's client says it is: the names in SASL exchanges, never the passwords.

PLAIN (RFC 4616): ``authzid NUL authcid NUL password``. SCRAM (RFC 5802): the client's first message
is ``n,a=authzid,n=name,r=...``; the server's last starts with ``v=`` when it agrees. Of other
mechanisms, and of delegation tokens (whose owner the broker knows alone), there is no name.
"""

from __future__ import annotations

#: What Kafka puts in front of a name that SASL gave (``KafkaPrincipal.USER_TYPE``).
_USER = "User:"
#: No name is longer; a peer may say anything.
_LONGEST = 1024


class SaslExchange:
    """The state of one connection; ``principal`` is None until a server has agreed."""

    def __init__(self) -> None:
        self.principal: str | None = None
        self._mechanism = ""
        self._name: str | None = None
        self._agreed = False

    @property
    def agreed(self) -> bool:
        """Whether the server has said that the exchange is over, as far as that can be told."""
        return self._agreed

    def mechanism(self, name: str) -> None:
        """SaslHandshake asks for a mechanism: a new exchange, perhaps not the first."""
        self._mechanism, self._name = name, None
        self._agreed = False

    def from_client(self, token: bytes) -> None:
        """The client's next token."""
        if self._mechanism == "PLAIN":
            self._name = _plain_name(token)
        elif self._mechanism.startswith("SCRAM-") and token[:2] in (b"n,", b"y,", b"p="):
            self._name = _scram_name(token)

    def from_server(self, token: bytes, *, failed: bool = False) -> None:
        """The server's answer to it."""
        if failed:
            self.principal = self._name = None
        elif self._mechanism == "PLAIN" or token[:2] == b"v=":
            self.principal = None if self._name is None else _USER + self._name
            self._agreed = True


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
        return name.decode() if 0 < len(name) <= _LONGEST else None
    except UnicodeDecodeError:
        return None
