"""Addresses as Kafka's tools take them: ``host:port``, several with commas between."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence

import msgspec

from kafka_admin_proto.errors import SettingsError

HIGHEST_PORT = 65535
#: A host's name or address of IPv4; names with an underscore are in use.
_NAME = re.compile(r"[\w.-]+")
_PORT = re.compile(r"[0-9]{1,5}")
#: The addresses that stand for all of a machine, in bytes: 0.0.0.0, ::, and ::ffff:0.0.0.0.
_UNSPECIFIED = (bytes(4), bytes(16), bytes(10) + b"\xff\xff" + bytes(4))


class Address(msgspec.Struct, frozen=True):
    """Where a broker listens; ``str`` of it is host:port, IPv6 in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_addresses(text: str | Sequence[str]) -> tuple[Address, ...]:
    """The addresses in one text, or in several; SettingsError for a text that is no address."""
    texts = [text] if isinstance(text, str) else list(text)
    parts = [part.strip() for each in texts for part in each.split(",")]
    found = tuple(_address(part) for part in parts if part)
    if not found:
        raise SettingsError("no address to connect to; give host:port of at least one broker")
    return tuple(dict.fromkeys(found))


def listen_address(text: str, setting: str) -> Address:
    """host:port to listen on, port 0 for any; SettingsError, which names the setting."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and _PORT.fullmatch(port) and int(port) <= HIGHEST_PORT):
        raise SettingsError(
            f"{setting}: {text!r} is not host:port, as 127.0.0.1:9092, or 0 for any port"
        )
    return Address(host.strip("[]"), int(port))


def without_brackets(host: str) -> str:
    """A host without the brackets that an address of IPv6 has in front of a port."""
    bracketed = host.startswith("[") and host.endswith("]") and ":" in host
    return host[1:-1] if bracketed else host


def is_host(text: str) -> bool:
    """Whether a text may be a host's name, or is an address of IPv4 or IPv6."""
    address, percent, zone = text.partition("%")
    if ":" not in address:
        return _NAME.fullmatch(text) is not None
    return _packed(address) is not None and (not percent or _NAME.fullmatch(zone) is not None)


def is_unspecified(host: str) -> bool:
    """Whether a host is an address that stands for all of a machine, however it is written."""
    return _packed(host) in _UNSPECIFIED


def _packed(host: str) -> bytes | None:
    """The bytes of an IP address; None for a name."""
    try:
        if ":" in host:
            return socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
        return socket.inet_aton(host)  # which takes "0" too, as the resolver does
    except (OSError, ValueError):  # ValueError: characters that no address has
        return None


def _address(text: str) -> Address:
    # Kafka takes PLAINTEXT://host:port too, and does not look at what is in front.
    host, colon, port = text.rpartition("://")[2].rpartition(":")
    bare = without_brackets(host)
    if ":" in host and host == bare:
        raise SettingsError(
            f"{text!r} is not an address: write an IPv6 address in brackets, [::1]:9092"
        )
    if not colon or not bare:
        raise SettingsError(f"{text!r} is not an address: write host:port, kafka-1:9092")
    if not (_PORT.fullmatch(port) and 0 < int(port) <= HIGHEST_PORT):
        raise SettingsError(f"{text!r} is not an address: a port is a number from 1 to 65535")
    return Address(bare, int(port))
