"""The two ends of a connection, and the function that makes either."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, Final, Literal, overload

from kafka_admin_proto.protocol.connection.client import ClientConnection, Trace
from kafka_admin_proto.protocol.connection.limits import Limits
from kafka_admin_proto.protocol.connection.sasl_client import Sasl
from kafka_admin_proto.protocol.connection.sasl_server import SaslServer
from kafka_admin_proto.protocol.connection.server import ServerConnection
from kafka_admin_proto.protocol.versions import Api


class Role(Enum):
    """An end of a connection."""

    CLIENT = "client"
    SERVER = "server"


CLIENT: Final = Role.CLIENT
SERVER: Final = Role.SERVER


@overload
def Connection(
    role: Literal[Role.CLIENT],
    *,
    client_id: str | None = None,
    sasl: Sasl | None = None,
    apis: Iterable[Api] | None = None,
    negotiate: bool = True,
    limits: Limits | None = None,
    software_name: str = "kafka-admin-proto",
    software_version: str | None = None,
    first_correlation_id: int = 0,
    defer_proofs: bool = False,
    trace: Trace | None = None,
) -> ClientConnection: ...


@overload
def Connection(
    role: Literal[Role.SERVER],
    *,
    sasl: SaslServer | None = None,
    apis: Iterable[Api] | None = None,
    limits: Limits | None = None,
    dialect: str = "kafka",
) -> ServerConnection: ...


def Connection(role: Role, **settings: Any) -> ClientConnection | ServerConnection:
    """The end of a new connection that ``role`` names; its class says what the settings are."""
    if role is Role.CLIENT:
        return ClientConnection(**settings)
    if role is Role.SERVER:
        return ServerConnection(**settings)
    raise TypeError(f"a role is CLIENT or SERVER, not {role!r}")
