"""The login of clients: what the listeners ask for, and the time that a client has."""

from __future__ import annotations

import asyncio
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
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.network.connection import NodeConnection
from kafka_admin_proto.server.network.service import LoginRules, Service
from kafka_admin_proto.server.security.listeners import (
    LISTENER_PREFIX,
    MECHANISMS,
    SERVED_MECHANISMS,
    ListenerConfigs,
    client_auth,
)
from kafka_admin_proto.server.security.subjects import NameRules
from kafka_admin_proto.server.security.tls_connection import TlsConnection
from kafka_admin_proto.server.security.tokens import owner_of
from kafka_admin_proto.server.security.users import Users

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.views import Views
    from kafka_admin_proto.server.network.node import Listener, Node
    from kafka_admin_proto.server.state import State

#: The longest time for a login, whatever else the client sends; a smaller
#: ``connections.max.idle.ms`` counts instead. Kafka only closes connections that are silent.
_LOGIN_S = 60.0
_MECHANISMS = "sasl.enabled.mechanisms"
#: What stands for the users in the config that a broker describes: the text itself never leaves.
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required;"


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

    ``configs`` are those that the brokers have in addition to the user's. ``on_disk``: a folder may
    have further users.
    """

    def __init__(
        self,
        listeners: Mapping[str, str],
        users: Mapping[str, str],
        configs: Mapping[str, str],
        release: str,
        limits: Limits | None,
        *,
        on_disk: bool,
    ) -> None:
        with_sasl = any(each.startswith("SASL") for each in listeners.values())
        self.configs: dict[str, str] = {_MECHANISMS: MECHANISMS} if with_sasl else {}
        self._users = Users(users)
        texts = {**self.configs, **configs}
        self._listeners = {
            name: _listener(
                protocol,
                client_auth(name, protocol, texts),
                ListenerConfigs(name, texts, release),
                limits or Limits(),
            )
            for name, protocol in listeners.items()
            if protocol != "PLAINTEXT"
        }
        if users:
            self.configs |= {
                f"{LISTENER_PREFIX}{name.lower()}.plain.sasl.jaas.config": _LOGIN
                for name, each in self._listeners.items()
                if "PLAIN" in each.mechanisms
            }
        without_sasl = any(not each.startswith("SASL") for each in listeners.values())
        self._check_users(users, may_be_made=on_disk or without_sasl)

    def _check_users(self, users: Mapping[str, str], *, may_be_made: bool) -> None:
        """Raise SettingsError for a listener where nobody can log in, and a user who never can.

        ``may_be_made``: there may be other users, who are made over the wire and have SCRAM only.
        """
        for name, each in self._listeners.items():
            has_scram = any(mechanism.startswith("SCRAM") for mechanism in each.mechanisms)
            others = (may_be_made and has_scram) or "OAUTHBEARER" in each.mechanisms
            if each.mechanisms and not users and not others:
                raise SettingsError(
                    f"nobody can log in at the listener {name}, which asks for SASL: give users"
                )
        if not any("PLAIN" in each.mechanisms for each in self._listeners.values()):
            for name in users:
                if not name.isascii():
                    raise SettingsError(
                        f"the user {name!r} can never log in: SCRAM has names in ASCII only, and "
                        "no listener has PLAIN"
                    )

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
            sasl=self._sasl(found, views, node.id, service.clock) if found.mechanisms else None,
            limits=found.limits,
            login_s=found.login_s,
            failure_delay_s=found.failure_delay_s,
        )
        connection = NodeConnection(service, node, listener, login)
        if found.tls is None:
            return connection
        names = None if found.mechanisms else found.names
        return TlsConnection(found.tls, connection, service.buffer, names)

    def _sasl(self, listener: _Listener, views: Views, node_id: int, clock: Clock) -> SaslServer:
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

        has_tokens = "OAUTHBEARER" in listener.mechanisms
        return SaslServer(
            oauthbearer=(lambda token: owner_of(token, clock.now_ms())) if has_tokens else None,
            plain=self._users.is_password if "PLAIN" in listener.mechanisms else None,
            scram_sha_256=scram("SCRAM-SHA-256", 1),
            scram_sha_512=scram("SCRAM-SHA-512", 2),
            session_lifetime_ms=listener.session_lifetime_ms,
            clock=clock.time_s,
        )


def _listener(protocol: str, asks: str, configs: ListenerConfigs, limits: Limits) -> _Listener:
    with_sasl, with_tls = protocol.startswith("SASL"), protocol.endswith("SSL")
    mechanisms: tuple[str, ...] = ()
    if with_sasl:
        mechanisms = tuple(configs.value(_MECHANISMS))
        unknown = [each for each in mechanisms if each not in SERVED_MECHANISMS.split(",")]
        if unknown or not mechanisms:
            raise SettingsError(
                f"{_MECHANISMS}={configs.texts[_MECHANISMS]}: expected some of "
                f"{SERVED_MECHANISMS}, which are served"
            )
    tls = None
    if with_tls:
        tls = TlsSettings.from_properties(configs.texts).server_context(asks)
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
