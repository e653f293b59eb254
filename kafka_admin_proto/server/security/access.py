"""The login of clients: what the listeners ask for, and the time that a client has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ssl import SSLContext
from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.connection import Limits, SaslServer, ScramCredential
from kafka_admin_proto.protocol.connection.sasl_server import (
    DelegatedCredential,
    ScramLookup,
    TokenOwner,
)
from kafka_admin_proto.protocol.connection.scram import LEAST_ITERATIONS
from kafka_admin_proto.protocol.tls import TlsSettings
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.java import trim
from kafka_admin_proto.server.network.connection import NodeConnection
from kafka_admin_proto.server.network.service import LoginRules, Service
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.security.listeners import (
    JWKS_URL,
    LISTENER_PREFIX,
    MECHANISMS,
    OF_TOKENS,
    SERVED_MECHANISMS,
    SIGNED,
    TOKEN_HANDLER,
    UNSECURED,
    ListenerConfigs,
    client_auth,
)
from kafka_admin_proto.server.security.subjects import NameRules
from kafka_admin_proto.server.security.tls_connection import TlsConnection
from kafka_admin_proto.server.security.token_credentials import credential_of
from kafka_admin_proto.server.security.tokens import unsecured_owner_of
from kafka_admin_proto.server.security.users import Users

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.views import Views
    from kafka_admin_proto.server.network.node import Listener, Node
    from kafka_admin_proto.server.security.jwks import Jwks
    from kafka_admin_proto.server.state import State

#: The longest time for a login, whatever else the client sends; a smaller
#: ``connections.max.idle.ms`` counts instead. Kafka only closes connections that are silent.
_LOGIN_S = 60.0
_MECHANISMS = "sasl.enabled.mechanisms"
_UNVERIFIED = "sasl.oauthbearer.allow.unverified."
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
    #: With OAUTHBEARER: whose a token is at a time, and the keys that check signatures.
    owner_of: Callable[[str, float], TokenOwner | None] | None
    jwks: Jwks | None


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
        release: ReleaseNumber,
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
        given = [each for each in OF_TOKENS if each in configs]
        if given and not any(each.jwks for each in self._listeners.values()):
            raise _unread(given[0])
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
        for name, listener in self._listeners.items():
            has_scram = any(mechanism.startswith("SCRAM") for mechanism in listener.mechanisms)
            others = (may_be_made and has_scram) or "OAUTHBEARER" in listener.mechanisms
            if listener.mechanisms and not users and not others:
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

    async def read_keys(self, clock: Clock) -> None:
        """Read the keys of tokens. Raises SettingsError where there are none to be had."""
        for each in self._listeners.values():
            if each.jwks is not None:
                await asyncio.to_thread(each.jwks.start, clock.now_ms())

    async def add_users(self, state: State) -> None:
        """Append the SCRAM credentials of the users that the cluster does not have."""
        state.append(await self._users.records(state.cluster.scram_users))

    def accept(
        self, service: Service, views: Views, node: Node, listener: Listener
    ) -> asyncio.BufferedProtocol:
        secured = self._listeners.get(listener.name)
        if secured is None:
            return NodeConnection(service, node, listener)
        login = LoginRules(
            sasl=self._sasl(secured, views, node.id, service.clock) if secured.mechanisms else None,
            limits=secured.limits,
            login_s=secured.login_s,
            failure_delay_s=secured.failure_delay_s,
        )
        connection = NodeConnection(service, node, listener, login)
        if secured.tls is None:
            return connection
        names = None if secured.mechanisms else secured.names
        return TlsConnection(secured.tls, connection, service.buffer, names)

    def _sasl(self, listener: _Listener, views: Views, node_id: int, clock: Clock) -> SaslServer:
        """The SASL server of a listener, with the SCRAM credentials in the view of the broker."""

        def scram(mechanism: str, number: int) -> ScramLookup | None:
            if mechanism not in listener.mechanisms:
                return None

            def credential(user: str) -> ScramCredential | None:
                stored = views.of(node_id).cluster.scram_users.get((user, number))
                if stored is None or stored.iterations < LEAST_ITERATIONS:
                    return None
                return ScramCredential(
                    stored.salt, stored.iterations, stored.stored_key, stored.server_key
                )

            return credential

        def delegated(mechanism: str, token_id: str) -> DelegatedCredential | None:
            view = views.of(node_id)
            return credential_of(view, node_id, mechanism, token_id, clock.now_ms())

        owner_of = listener.owner_of
        return SaslServer(
            oauthbearer=(lambda token: owner_of(token, clock.now_ms())) if owner_of else None,
            plain=self._users.is_password if "PLAIN" in listener.mechanisms else None,
            scram_sha_256=scram("SCRAM-SHA-256", 1),
            scram_sha_512=scram("SCRAM-SHA-512", 2),
            delegation_tokens=delegated,
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
    owner_of, jwks = _tokens(configs, "OAUTHBEARER" in mechanisms)
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
        owner_of=owner_of,
        jwks=jwks,
    )


def _tokens(
    configs: ListenerConfigs, has_tokens: bool
) -> tuple[Callable[[str, float], TokenOwner | None] | None, Jwks | None]:
    """What says whose a token is, by the class of Kafka's that the listener names, and its keys."""
    handler = trim(configs.texts.get(TOKEN_HANDLER, ""))
    given = [each for each in OF_TOKENS if each in configs.own]
    if handler and not has_tokens:
        raise SettingsError(f"{TOKEN_HANDLER} has no effect without OAUTHBEARER in {_MECHANISMS}")
    if handler not in (*SIGNED, UNSECURED, ""):
        raise SettingsError(
            f"{TOKEN_HANDLER}={handler} is a class of Java, which this cluster does not have; "
            f"there are {SIGNED[0]} and {UNSECURED}"
        )
    if handler in SIGNED:
        if not configs.texts.get(JWKS_URL):
            raise SettingsError(f"{SIGNED[0]} needs {JWKS_URL}, whose keys check tokens")
        from kafka_admin_proto.server.security.jwks import Jwks

        try:
            from kafka_admin_proto.server.security.signed_tokens import SignedTokens
        except ImportError:
            raise SettingsError(
                "tokens with a signature are checked by the package cryptography: pip install "
                "'kafka-admin-proto[security]'"
            ) from None
        jwks = Jwks(
            configs.texts[JWKS_URL], configs.value("sasl.oauthbearer.jwks.endpoint.refresh.ms")
        )
        audiences = configs.value("sasl.oauthbearer.expected.audience") or ()
        issuer = trim(configs.value("sasl.oauthbearer.expected.issuer") or "") or None
        _check_verified(configs, "audience", audiences)
        _check_verified(configs, "issuer", issuer)
        rules = SignedTokens(
            keys=jwks.keys,
            audiences=audiences,
            issuer=issuer,
            any_audience=configs.value(f"{_UNVERIFIED}audience") is True,
            skew_s=configs.value("sasl.oauthbearer.clock.skew.seconds"),
            subject_claim=_claim_name(configs, "sasl.oauthbearer.sub.claim.name"),
            scope_claim=_claim_name(configs, "sasl.oauthbearer.scope.claim.name"),
        )
        return rules.owner_of, jwks
    if given:
        raise _unread(given[0])
    return unsecured_owner_of if has_tokens else None, None


def _check_verified(configs: ListenerConfigs, claim: str, expected: object) -> None:
    """Raise SettingsError where brokers since 4.4 do not start: any audience or issuer would do."""
    unverified = f"{_UNVERIFIED}{claim}"
    if not expected and configs.value(unverified) is False:
        raise SettingsError(
            f"tokens would be let in whatever their {claim} is, with which brokers since 4.4 do "
            f"not start: set sasl.oauthbearer.expected.{claim}, or {unverified}=true"
        )


def _claim_name(configs: ListenerConfigs, name: str) -> str:
    found = trim(configs.value(name))
    if not found:
        raise SettingsError(f"{name} is empty; name a claim, or leave it out")
    return found


def _unread(name: str) -> SettingsError:
    return SettingsError(
        f"{name} would have no effect: tokens are let in without a signature; name {SIGNED[0]} as "
        f"listener.name.LISTENER.oauthbearer.{TOKEN_HANDLER}"
    )
