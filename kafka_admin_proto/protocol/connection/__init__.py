"""Connections without a socket: bytes in, events out, both roles."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from kafka_admin_proto.protocol.connection.client import ClientConnection
from kafka_admin_proto.protocol.connection.events import (
    NEED_DATA,
    ConnectionClosed,
    Ready,
    Reauthenticated,
    ResponseReceived,
    SentRequest,
    Signal,
    State,
)
from kafka_admin_proto.protocol.connection.limits import Limits


class Role(Enum):
    """The two ends of a connection."""

    CLIENT = "client"
    SERVER = "server"


CLIENT: Final = Role.CLIENT


def Connection(role: Role, **settings: Any) -> ClientConnection:
    """The end of a connection that ``role`` names; the settings are those of its class."""
    return ClientConnection(**settings)


__all__ = [
    "CLIENT",
    "NEED_DATA",
    "ClientConnection",
    "Connection",
    "ConnectionClosed",
    "Limits",
    "Ready",
    "Reauthenticated",
    "ResponseReceived",
    "Role",
    "SentRequest",
    "Signal",
    "State",
]
