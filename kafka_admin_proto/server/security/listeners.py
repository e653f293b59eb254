"""The names and security protocols of listeners, and the configs of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.configs.parsing import parse
from kafka_admin_proto.server.java import trim
from kafka_admin_proto.server.network.node import SECURITY_PROTOCOLS
from kafka_admin_proto.server.releases import ReleaseNumber

if TYPE_CHECKING:
    from typing import Any

#: The SASL mechanisms of a listener by default, and those that one may have.
MECHANISMS = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"
SERVED_MECHANISMS = f"{MECHANISMS},OAUTHBEARER"
_RESERVED = "CONTROLLER"
LISTENER_PREFIX = "listener.name."
_TLS, _SASL = ("SSL", "SASL_SSL"), ("SASL_PLAINTEXT", "SASL_SSL")
_STORES = ("keystore.location", "keystore.type", "keystore.certificate.chain", "keystore.key",
           "keystore.password", "truststore.location", "truststore.type", "truststore.certificates",
           "truststore.password", "key.password", "enabled.protocols")  # fmt: skip
#: Kafka's class that checks tokens with a signature, by its two names, and the one for others.
TOKEN_HANDLER = "sasl.server.callback.handler.class"
_OAUTHBEARER = "org.apache.kafka.common.security.oauthbearer"
SIGNED = (
    f"{_OAUTHBEARER}.OAuthBearerValidatorCallbackHandler",
    f"{_OAUTHBEARER}.secured.OAuthBearerValidatorCallbackHandler",
)
UNSECURED = f"{_OAUTHBEARER}.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
JWKS_URL = "sasl.oauthbearer.jwks.endpoint.url"
#: What that class reads; Kafka reads it with ``oauthbearer.`` in front as well.
OF_TOKENS = tuple(
    f"sasl.oauthbearer.{each}"
    for each in ("jwks.endpoint.url", "jwks.endpoint.refresh.ms", "expected.audience",
                 "expected.issuer", "allow.unverified.audience", "allow.unverified.issuer",
                 "clock.skew.seconds", "scope.claim.name", "sub.claim.name")
)  # fmt: skip
#: Configs that listeners read → the security protocols of those that do.
_READ_BY = {
    **{f"ssl.{each}": _TLS for each in _STORES},
    "ssl.client.auth": ("SSL",),  # and by a listener of SASL_SSL its own
    "ssl.principal.mapping.rules": ("SSL",),
    "sasl.enabled.mechanisms": _SASL,
    "sasl.server.max.receive.size": _SASL,
    "connections.max.reauth.ms": _SASL,
    "connection.failed.authentication.delay.ms": _SASL,
    **dict.fromkeys(OF_TOKENS, _SASL),
}

#: Configs of certificates that clients show: without a listener that asks for one they do nothing.
_OF_CLIENTS = (
    "ssl.truststore.location",
    "ssl.truststore.type",
    "ssl.truststore.certificates",
    "ssl.truststore.password",
    "ssl.principal.mapping.rules",
)
#: Configs that Kafka's listeners read beside those of TLS and SASL, and that have no effect here.
_WITHOUT_COUNTERPART = (
    "max.connections",
    "max.connection.creation.rate",
    "num.network.threads",
    "principal.builder.class",
)
#: Kafka's files have it; Python takes the newest version that ``ssl.enabled.protocols`` allows.
_WITHOUT_USE = "ssl.protocol"


def checked_listeners(listeners: Mapping[str, str]) -> dict[str, str]:
    """Security protocols by listener, in capitals. Raises SettingsError for an unknown one."""
    protocols: dict[str, str] = {}
    for name, protocol in listeners.items():
        key = name.upper()
        if not key or key == _RESERVED or key in protocols:
            raise SettingsError(
                f"the listener {name!r} cannot be had: names differ, are not empty, and "
                f"{_RESERVED} is the controllers' own"
            )
        if protocol.upper() not in SECURITY_PROTOCOLS:
            raise SettingsError(
                f"the listener {name} has the security protocol {protocol!r}; expected one of "
                f"{', '.join(SECURITY_PROTOCOLS)}"
            )
        protocols[key] = protocol.upper()
    if not protocols:
        raise SettingsError("a cluster has one listener or more, NAME:PROTOCOL each")
    return protocols


def of_mechanism(name: str) -> tuple[str, str]:
    """The SASL mechanism in front of a listener's config, "" without, and the config without it."""
    mechanism, _, own = name.partition(".")
    is_login = own.startswith("sasl.") or own == "connections.max.reauth.ms"
    return (mechanism, own) if is_login and mechanism else ("", name)


def is_of_listener(name: str) -> bool:
    """Whether Kafka, or this cluster, reads a config for each listener, with the listener's prefix.

    Kafka does not know any other config with such a prefix.
    """
    return name.startswith(("ssl.", "sasl.")) or name in (*_READ_BY, *_WITHOUT_COUNTERPART)


def check_read(
    name: str, own: str, protocols: Mapping[str, str], configs: Mapping[str, str]
) -> None:
    """Raise SettingsError for a config of TLS or SASL that none of these listeners reads.

    ``own`` is its name without that of a listener; ``protocols`` are those of the listeners that
    it is for, and ``configs`` are all configs.
    """
    mechanism, own = of_mechanism(own)
    readers = _TLS if own == "ssl.client.auth" and name != own else _READ_BY.get(own)
    if mechanism == "oauthbearer" and own == TOKEN_HANDLER:
        readers = _SASL
    elif mechanism and readers and (mechanism != "oauthbearer" or own not in OF_TOKENS):
        raise SettingsError(
            f"the config {name} has no effect in this cluster, where all mechanisms of a listener "
            f"have the same; give it without {mechanism}."
        )
    if readers is None:
        if name != own and own == "max.connections":
            raise SettingsError(
                f"the config {name} has no effect: connections are limited for all listeners of a "
                "node together; give max.connections"
            )
        if own.startswith(("ssl.", "sasl.")) and own != _WITHOUT_USE:
            instead = "leave it out"
            if own == "sasl.jaas.config" and mechanism != "oauthbearer":
                instead = "give the users as users, or --users FILE"
            elif own == TOKEN_HANDLER:
                listener = next(iter(protocols)).lower()
                instead = f"give {LISTENER_PREFIX}{listener}.oauthbearer.{own}"
            raise SettingsError(f"the config {name} has no effect in this cluster; {instead}")
        return
    there = ", ".join(f"{each}:{protocol}" for each, protocol in protocols.items())
    if not {*readers} & {*protocols.values()}:
        raise SettingsError(
            f"the config {name} has no effect: it is read by listeners with "
            f"{' or '.join(readers)}, and there is {there}; leave it out, or give such a listener"
        )
    if own in _OF_CLIENTS and not any(
        client_auth(each, protocol, configs) != "none" for each, protocol in protocols.items()
    ):
        raise SettingsError(
            f"the config {name} has no effect: no listener of {there} asks clients for a "
            "certificate; set its ssl.client.auth to required, or leave it out"
        )


def client_auth(listener: str, protocol: str, configs: Mapping[str, str]) -> str:
    """Whether a listener asks clients for a certificate: none, requested or required.

    With SASL Kafka looks at the listener's own config only: SASL says who the client is.
    """
    if protocol not in _TLS:
        return "none"
    own = configs.get(f"{LISTENER_PREFIX}{listener.lower()}.ssl.client.auth")
    if own is None and protocol == "SSL":
        own = configs.get("ssl.client.auth")
    return "none" if own is None else trim(own)


class ListenerConfigs:
    """The configs of a listener; ``listener.name.<name>.…`` take precedence."""

    def __init__(self, name: str, configs: Mapping[str, str], release: ReleaseNumber) -> None:
        prefix = f"{LISTENER_PREFIX}{name.lower()}."
        own = {
            key.removeprefix(prefix): value
            for key, value in configs.items()
            if key.startswith(prefix) and is_of_listener(of_mechanism(key.removeprefix(prefix))[1])
        }
        first = "oauthbearer."  # what it has is read of OAUTHBEARER alone
        own |= {key.removeprefix(first): own[key] for key in own if key.startswith(first)}
        self.own: Mapping[str, str] = own
        self.texts: Mapping[str, str] = {**configs, **own}
        self._release = release

    def value(self, name: str) -> Any:
        """The value of a config, None where the release has no such config; its text is valid."""
        config = definitions(self._release).in_properties.get(name)
        if config is None:
            return None
        return parse(config, self.texts.get(name, config.default))
