"""Addresses as Kafka's tools take them: ``host:port``, several with commas between."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kafka_admin_proto.errors import SettingsError

#: The highest port of TCP.
HIGHEST_PORT = 65535


class Address(msgspec.Struct, frozen=True):
    """Where a broker listens; ``str`` of it is host:port, IPv6 in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_addresses(text: str | Sequence[str]) -> tuple[Address, ...]:
    """The addresses in one text, or in several; SettingsError for what is none."""
    texts = [text] if isinstance(text, str) else list(text)
    parts = [part.strip() for each in texts for part in each.split(",")]
    found = tuple(_address(part) for part in parts if part)
    if not found:
        raise SettingsError("no address to connect to; give host:port of at least one broker")
    return tuple(dict.fromkeys(found))


def listen_address(text: str, setting: str) -> Address:
    """host:port to listen on, port 0 for any; SettingsError, which names the setting."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= HIGHEST_PORT):
        raise SettingsError(
            f"{setting}: {text!r} is not host:port, as 127.0.0.1:9092, or 0 for any port"
        )
    return Address(host.strip("[]"), int(port))


def _address(text: str) -> Address:
    # Kafka takes PLAINTEXT://host:port too, and does not look at what is in front.
    host, colon, port = text.rpartition("://")[2].rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise SettingsError(
            f"{text!r} is not an address: write an IPv6 address in brackets, [::1]:9092"
        )
    if not colon or not host:
        raise SettingsError(f"{text!r} is not an address: write host:port, kafka-1:9092")
    if not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) <= HIGHEST_PORT):
        raise SettingsError(f"{text!r} is not an address: a port is a number from 1 to 65535")
    return Address(host, int(port))
