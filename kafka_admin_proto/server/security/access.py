"""The login of clients: what the listeners ask for, and the time that a client has."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from ssl import SSLContext
from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.connection import Limits, SaslServer, ScramCredential
from kafka_admin_proto.protocol.connection.sasl_server import ScramLookup
from kafka_admin_proto.protocol.connection.scram import LEAST_ITERATIONS
from kafka_admin_proto.protocol.tls import TlsSettings
from kafka_admin_proto.server.network.connection import NodeConnection
from kafka_admin_proto.server.network.service import LoginRules, Service
from kafka_admin_proto.server.security.listeners import (
    MECHANISMS,
    ListenerConfigs,
    checked_listeners,
)
from kafka_admin_proto.server.security.subjects import NameRules
from kafka_admin_proto.server.security.tls_connection import TlsConnection
from kafka_admin_proto.server.security.users import Users

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.views import Views
    from kafka_admin_proto.server.network.node import Listener, Node
    from kafka_admin_proto.server.state import State

#: The longest time for a login, whatever else the client sends; a smaller
#: ``connections.max.idle.ms`` counts instead. Kafka only closes connections that are silent.
_LOGIN_S = 60.0
_MECHANISMS = "sasl.enabled.mechanisms"


@dataclass(frozen=True)
class _Listener:
    """The login settings of a listener: no ``mechanisms`` without SASL, no ``tls`` without TLS."""

    mechanisms: tuple[str, ...]
    tls: SSLContext | None
    names: NameRules
    session_lifetime_ms: int
    failure_delay_s: float
    login_s: float
    limits: Limits


class Security:
    """The security of a cluster's listeners. Raises SettingsError for settings that cannot work.

    ``protocols`` are the listeners' security protocols by name. ``configs`` are those that the
    brokers have in addition to the user's.
    """

    def __init__(
        self,
        listeners: Mapping[str, str],
        users: Mapping[str, str],
        configs: Mapping[str, str],
        release: str,
        limits: Limits | None,
    ) -> None:
        self.protocols: dict[str, str] = checked_listeners(listeners)
        with_sasl = any(each.startswith("SASL") for each in self.protocols.values())
        self.configs: dict[str, str] = {_MECHANISMS: MECHANISMS} if with_sasl else {}
        self._users = Users(users)
        texts = {**self.configs, **configs}
        self._listeners = {
            name: _listener(protocol, ListenerConfigs(name, texts, release), limits or Limits())
            for name, protocol in self.protocols.items()
            if protocol != "PLAINTEXT"
        }

    async def add_users(self, state: State) -> None:
        """Append the SCRAM credentials of the users that the cluster does not have."""
        state.append(await self._users.records(state.cluster.scram_users))

    def accept(
        self, service: Service, views: Views, node: Node, listener: Listener
    ) -> asyncio.BufferedProtocol:
        """The asyncio protocol of a socket that a listener has accepted."""
        found = self._listeners.get(listener.name)
        if found is None:
            return NodeConnection(service, node, listener)
        login = LoginRules(
            sasl=self._sasl(found, views, node.id) if found.mechanisms else None,
            limits=found.limits,
            login_s=found.login_s,
            failure_delay_s=found.failure_delay_s,
        )
        connection = NodeConnection(service, node, listener, login)
        if found.tls is None:
            return connection
        names = None if found.mechanisms else found.names
        return TlsConnection(found.tls, connection, service.buffer, names)

    def _sasl(self, listener: _Listener, views: Views, node_id: int) -> SaslServer:
        """The SASL server of a listener, with the SCRAM credentials in the view of the broker."""

        def scram(mechanism: str, number: int) -> ScramLookup | None:
            if mechanism not in listener.mechanisms:
                return None

            def credential(user: str) -> ScramCredential | None:
                found = views.of(node_id).cluster.scram_users.get((user, number))
                if found is None or found.iterations < LEAST_ITERATIONS:
                    return None
                return ScramCredential(
                    found.salt, found.iterations, found.stored_key, found.server_key
                )

            return credential

        return SaslServer(
            plain=self._users.is_password if "PLAIN" in listener.mechanisms else None,
            scram_sha_256=scram("SCRAM-SHA-256", 1),
            scram_sha_512=scram("SCRAM-SHA-512", 2),
            session_lifetime_ms=listener.session_lifetime_ms,
            clock=time.monotonic,
        )


def _listener(protocol: str, configs: ListenerConfigs, limits: Limits) -> _Listener:
    with_sasl, with_tls = protocol.startswith("SASL"), protocol.endswith("SSL")
    mechanisms: tuple[str, ...] = ()
    if with_sasl:
        text = configs.texts[_MECHANISMS]
        mechanisms = tuple(each.strip() for each in text.split(",") if each.strip())
        unknown = [each for each in mechanisms if each not in MECHANISMS.split(",")]
        if unknown or not mechanisms:
            raise SettingsError(
                f"{_MECHANISMS}={text}: expected some of {MECHANISMS}, which are served"
            )
    tls = None
    if with_tls:
        # With SASL Kafka looks at the listener's own config only: SASL says who the client is.
        asked = configs.own if with_sasl else configs.texts
        tls = TlsSettings.from_properties(configs.texts).server_context(
            asked.get("ssl.client.auth", "none")
        )
    idle_ms = configs.value("connections.max.idle.ms")
    frame_bytes = configs.value("sasl.server.max.receive.size")
    return _Listener(
        mechanisms=mechanisms,
        tls=tls,
        names=NameRules(configs.value("ssl.principal.mapping.rules")),
        session_lifetime_ms=configs.value("connections.max.reauth.ms"),
        failure_delay_s=configs.value("connection.failed.authentication.delay.ms") / 1000,
        login_s=min(_LOGIN_S, idle_ms / 1000) if idle_ms >= 0 else _LOGIN_S,
        limits=msgspec.structs.replace(limits, unauthenticated_frame_bytes=frame_bytes),
    )
