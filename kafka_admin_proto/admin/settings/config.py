"""The settings of a client: from arguments, from a properties file of Kafka's tools, or both."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_admin_proto.admin.errors import ConfigurationError
from kafka_admin_proto.admin.retry import Backoff
from kafka_admin_proto.admin.settings.librdkafka import in_kafkas_names
from kafka_admin_proto.admin.settings.properties import read_properties
from kafka_admin_proto.admin.settings.providers import resolve
from kafka_admin_proto.admin.settings.security import (
    TLS_PROPERTIES,
    TOKEN_PROPERTIES,
    complete_security,
    refuse_unknown,
    warn_of_clear_secret,
)
from kafka_admin_proto.arguments import check_fields, checked_arguments
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import SettingsError, UnknownReleaseError
from kafka_admin_proto.protocol.addresses import Address, parse_addresses
from kafka_admin_proto.protocol.connection import Sasl, SaslOAuthBearer, SaslPlain, SaslScram
from kafka_admin_proto.wire.secrets import MASK, MaskedStruct

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")

#: A string of the protocol has a length of two bytes.
_LONGEST_CLIENT_ID_BYTES = 32767

#: Properties that are times in milliseconds → attribute in seconds.
_TIMES = {
    "default.api.timeout.ms": "timeout",
    "request.timeout.ms": "request_timeout",
    "socket.connection.setup.timeout.ms": "connect_timeout",
    "metadata.max.age.ms": "metadata_max_age",
}
#: Back-offs: attribute → property of the first pause, property of the longest.
_BACKOFFS = {
    "backoff": ("retry.backoff.ms", "retry.backoff.max.ms"),
    "reconnect_backoff": ("reconnect.backoff.ms", "reconnect.backoff.max.ms"),
}
#: Properties that are the values of attributes, with dots in the place of underscores.
_PLAIN = (
    "bootstrap.servers", "bootstrap.controllers", "client.id", "security.protocol",
    "sasl.mechanism", "sasl.username", "sasl.password",
)  # fmt: skip
#: Every property that has an effect here.
UNDERSTOOD = frozenset(
    {
        *_TIMES,
        *(name for pair in _BACKOFFS.values() for name in pair),
        *_PLAIN,
        "sasl.client.callback.handler.class",
        "sasl.jaas.config",
        *TLS_PROPERTIES,
        *TOKEN_PROPERTIES,
    }
)
#: Digits of milliseconds: more than an INT64 has are a slip.
_DIGITS = 20

#: The attributes of a login: those behind the mechanism are of a password, the last one of tokens.
_LOGIN = ("sasl_mechanism", "sasl_username", "sasl_password", "sasl_oauth_token_provider")
_SECRET = _LOGIN[2:]


class ClientConfig(MaskedStruct, frozen=True, kw_only=True):
    """The settings of a client; times are in seconds.

    One of ``bootstrap_servers`` and ``bootstrap_controllers`` is set. ``ssl_context`` is there
    where ``security_protocol`` is SSL or SASL_SSL. ``unused`` are names of properties that have no
    effect here. Passwords are not in its repr.
    """

    bootstrap_servers: tuple[Address, ...] = ()
    bootstrap_controllers: tuple[Address, ...] = ()
    client_id: str = "kafka-admin-proto"
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str | None = None
    sasl_username: str | None = None
    sasl_password: str | None = None
    #: Of SCRAM: whether these are the id of a delegation token, and its HMAC in base64.
    sasl_delegation_token: bool = False
    #: Of OAUTHBEARER: what ``SaslOAuthBearer`` takes.
    sasl_oauth_token_provider: Any = None
    ssl_context: ssl.SSLContext | None = None
    #: For all attempts of one call together.
    timeout: float = 60.0
    #: For one attempt; a broker that is silent for so long is given up.
    request_timeout: float = 30.0
    #: For one connection, TLS and SASL included.
    connect_timeout: float = 10.0
    metadata_max_age: float = 300.0
    #: The release of Kafka whose versions of requests are the newest to send, as "3.9".
    max_release: str | None = None
    backoff: Backoff = Backoff(0.1, 1.0)
    reconnect_backoff: Backoff = Backoff(0.05, 1.0)
    unused: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self, "ClientConfig")
        if self.bootstrap_servers and self.bootstrap_controllers:
            raise ConfigurationError(
                "bootstrap_servers and bootstrap_controllers exclude each other; give the one that "
                "the request is for"
            )
        if not self.addresses:
            raise ConfigurationError("bootstrap_servers is missing: host:port of a broker")
        if self.security_protocol not in PROTOCOLS:
            raise ConfigurationError(
                f"security.protocol {self.security_protocol!r} is not known; there are "
                f"{', '.join(PROTOCOLS)}"
            )
        if self.uses_tls != (self.ssl_context is not None):
            raise ConfigurationError(
                f"security protocol {self.security_protocol} "
                + ("needs an ssl_context" if self.uses_tls else "has no use for an ssl_context")
            )
        self._check_client_id()
        self._check_sasl()
        self._check_release()
        for name in ("timeout", "request_timeout", "connect_timeout", "metadata_max_age"):
            if not getattr(self, name) > 0:
                raise ConfigurationError(
                    f"{name} is {getattr(self, name)}; it has to be more than 0 seconds"
                )

    def _check_release(self) -> None:
        """Refuse a release of which nobody knows the versions."""
        if self.max_release is None:
            return
        from kafka_admin_proto.protocol.releases import release

        try:
            release(self.max_release)
        except UnknownReleaseError as error:
            raise ConfigurationError(f"max_release: {error}") from None

    def _check_client_id(self) -> None:
        """Refuse a client_id that the header of a request cannot carry."""
        try:
            size = len(self.client_id.encode())
        except UnicodeEncodeError:
            raise ConfigurationError("client_id is not UTF-8; use other characters") from None
        if size > _LONGEST_CLIENT_ID_BYTES:
            raise ConfigurationError(
                f"client_id has {counted(size, 'bytes')}; it may have {_LONGEST_CLIENT_ID_BYTES}"
            )

    def _check_sasl(self) -> None:
        if not self.uses_sasl:
            if self.sasl_delegation_token or any(
                getattr(self, name) is not None for name in _LOGIN
            ):
                raise ConfigurationError(
                    f"there are SASL settings, and the security protocol {self.security_protocol} "
                    "does not use them; set it to SASL_SSL (or SASL_PLAINTEXT)"
                )
            return
        if self.sasl_mechanism not in MECHANISMS:
            said = "is missing" if self.sasl_mechanism is None else f"{self.sasl_mechanism!r}"
            raise ConfigurationError(
                f"sasl.mechanism {said}; this client can log in with {', '.join(MECHANISMS)}"
            )
        with_token = self.sasl_mechanism == "OAUTHBEARER"
        others = _LOGIN[1:3] if with_token else _LOGIN[3:]
        given = [name for name in others if getattr(self, name) is not None]
        if self.sasl_delegation_token and not self.sasl_mechanism.startswith("SCRAM"):
            given.append("sasl_delegation_token")
        if given:
            raise ConfigurationError(
                f"{' and '.join(given)} would have no effect with {self.sasl_mechanism}; remove "
                "it, or set another sasl_mechanism"
            )
        if with_token:
            if self.sasl_oauth_token_provider is None:
                raise ConfigurationError(
                    "OAUTHBEARER needs tokens: sasl_oauth_token_provider, or in a properties file "
                    "sasl.oauthbearer.token.endpoint.url or sasl.jaas.config"
                )
        elif not self.sasl_username or self.sasl_password is None:
            raise ConfigurationError(
                f"{self.security_protocol} needs a user and a password: sasl_username and "
                "sasl_password, or sasl.jaas.config in a properties file"
            )
        try:
            self.credentials()
        except ValueError as error:
            raise ConfigurationError(str(error)) from None

    @property
    def addresses(self) -> tuple[Address, ...]:
        """The bootstrap addresses."""
        return self.bootstrap_servers or self.bootstrap_controllers

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol.endswith("SSL")

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL")

    def credentials(self) -> Sasl | None:
        """The SASL credentials; raises MissingExtraError for SCRAM without its library."""
        if self.sasl_mechanism is None:
            return None
        if self.sasl_mechanism == "OAUTHBEARER":
            return SaslOAuthBearer(self.sasl_oauth_token_provider)
        user, password = self.sasl_username or "", self.sasl_password or ""
        if self.sasl_mechanism == "PLAIN":
            return SaslPlain(user, password)
        return SaslScram(self.sasl_mechanism, user, password, by_token=self.sasl_delegation_token)

    def __reduce__(self) -> str:
        raise TypeError(
            "a ClientConfig may hold a password and is not pickled; make another one there"
        )

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [
            (name, MASK if name in _SECRET else value)
            for name in self.__struct_fields__
            if (value := getattr(self, name))
        ]


def client_config(
    bootstrap_servers: str | Sequence[str] | None = None,
    *,
    bootstrap_controllers: str | Sequence[str] | None = None,
    command_config: str | Path | Mapping[str, str] | None = None,
    ssl_context: ssl.SSLContext | None = None,
    **settings: Any,
) -> ClientConfig:
    """The settings out of a properties file (or such a mapping) and of arguments.

    Arguments, named as the attributes of ClientConfig, go before properties. An ``ssl_context`` or
    a property ``ssl.*`` makes the protocol SSL, and SASL_SSL where there is a login, unless it is
    set. Warns of a password that goes beyond this machine in the clear. Raises
    ConfigurationError, also for settings of security that would have no effect; TypeError for an
    argument that there is not.
    """
    if unknown := settings.keys() - set(ClientConfig.__struct_fields__):
        raise TypeError(f"no setting is called {', '.join(sorted(unknown))}")
    settings = {name: value for name, value in settings.items() if value is not None}
    arguments = {
        "bootstrap_servers": bootstrap_servers,
        "bootstrap_controllers": bootstrap_controllers,
        "command_config": command_config,
        "ssl_context": ssl_context,
    }
    bootstrap_servers, bootstrap_controllers, command_config, ssl_context = checked_arguments(
        client_config, arguments
    ).values()
    checked_arguments(ClientConfig, settings)
    if isinstance(command_config, (str, Path)):
        command_config = read_properties(command_config)
    given = in_kafkas_names(resolve(command_config or {}))
    properties = {name: text.strip() for name, text in given.items()}
    values = _from_properties(properties, settings)
    values |= settings
    if bootstrap_servers or bootstrap_controllers:  # the command line goes before the file
        values.pop("bootstrap_servers", None)
        values.pop("bootstrap_controllers", None)
    if bootstrap_servers:
        values["bootstrap_servers"] = _addresses(bootstrap_servers)
    if bootstrap_controllers:
        values["bootstrap_controllers"] = _addresses(bootstrap_controllers)
    if values.get("sasl_mechanism") == "AWS_MSK_IAM":
        from kafka_admin_proto.admin.settings.msk import msk_tokens

        addresses = values.get("bootstrap_servers") or values.get("bootstrap_controllers") or ()
        values["sasl_mechanism"] = "OAUTHBEARER"
        values["sasl_oauth_token_provider"] = msk_tokens(properties, (a.host for a in addresses))
    complete_security(values, ssl_context, properties)
    config = ClientConfig(**values)
    if config.sasl_mechanism and not config.uses_tls:
        warn_of_clear_secret(config.sasl_mechanism, config.addresses)
    return config


def _addresses(text: str | Sequence[str]) -> tuple[Address, ...]:
    try:
        return parse_addresses(text)
    except SettingsError as error:
        raise ConfigurationError(str(error)) from None


def _from_properties(properties: Mapping[str, str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by attribute; the arguments say which mechanism it is, and may have the tokens."""
    values: dict[str, Any] = {"unused": tuple(sorted(properties.keys() - UNDERSTOOD))}
    refuse_unknown(values["unused"])
    for name, attribute in _TIMES.items():
        if name in properties:
            values[attribute] = _milliseconds(properties, name)
    for attribute, (first, longest) in _BACKOFFS.items():
        if first in properties or longest in properties:
            default: Backoff = getattr(_DEFAULTS, attribute)
            first_s = _milliseconds(properties, first, default.first_s)
            longest_s = _milliseconds(properties, longest, max(default.longest_s, first_s))
            values[attribute] = Backoff(first_s, longest_s)
    for name in _PLAIN:
        if text := properties.get(name):
            value = _addresses(text) if name.startswith("bootstrap.") else text
            values[name.replace(".", "_")] = value
    if "security_protocol" in values:
        values["security_protocol"] = values["security_protocol"].upper()
    mechanism = settings.get("sasl_mechanism") or values.get("sasl_mechanism")
    is_msk = mechanism == "AWS_MSK_IAM"
    if "sasl.client.callback.handler.class" in properties and not is_msk:
        raise ConfigurationError(
            "sasl.client.callback.handler.class is a class of Java, which would have no effect "
            f"with sasl.mechanism {mechanism}"
        )
    if mechanism == "OAUTHBEARER":
        if "sasl_oauth_token_provider" not in settings:
            from kafka_admin_proto.admin.settings.tokens import read_tokens

            timeout_s = _milliseconds(properties, "sasl.login.read.timeout.ms")
            values["sasl_oauth_token_provider"] = read_tokens(properties, timeout_s or None)
        return values
    if idle := sorted(TOKEN_PROPERTIES & properties.keys()):
        raise ConfigurationError(
            f"{', '.join(idle)} would have no effect: sasl.mechanism is {mechanism}"
        )
    if is_msk:
        return values
    if properties.get("sasl.jaas.config"):
        from kafka_admin_proto.admin.settings.jaas import read_jaas

        login = read_jaas(properties["sasl.jaas.config"])
        if twice := [name for name in ("sasl.username", "sasl.password") if properties.get(name)]:
            raise ConfigurationError(
                f"{' and '.join(twice)}: sasl.jaas.config has the login as well; remove one"
            )
        values["sasl_username"] = login.get("username")
        values["sasl_password"] = login.get("password")
        values["sasl_delegation_token"] = login.get("tokenauth", "").lower() == "true"
    return values


def _milliseconds(properties: Mapping[str, str], name: str, default_s: float = 0.0) -> float:
    text = properties.get(name)
    if text is None:
        return default_s
    if not (text.isascii() and text.isdigit() and len(text) < _DIGITS):
        raise ConfigurationError(f"{name}={text} is not a number of milliseconds")
    return int(text) / 1000


_DEFAULTS = ClientConfig(bootstrap_servers=(Address("localhost", 9092),))
