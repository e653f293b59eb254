"""How a client is secured: the protocol that its settings imply, and what would have no effect."""

from __future__ import annotations

import ipaddress
import ssl
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from kafka_admin_proto.admin.errors import ConfigurationError
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.addresses import Address

#: Of OAUTHBEARER, read by tokens.py.
TOKEN_PROPERTIES = frozenset(
    {
        "sasl.login.callback.handler.class",
        "sasl.login.read.timeout.ms",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.header.urlencode",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.token.endpoint.url",
    }
)
#: Read by protocol/tls.py.
TLS_PROPERTIES = frozenset(
    {
        "ssl.truststore.location",
        "ssl.truststore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.password",
        "ssl.keystore.location",
        "ssl.keystore.type",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.password",
        "ssl.key.password",
        "ssl.endpoint.identification.algorithm",
        "ssl.enabled.protocols",
        "ssl.protocol",
    }
)
#: A property of these that is not understood may be meant to protect: it is refused.
_PREFIXES = ("security.", "sasl.", "ssl.")
#: Here an empty text says something: names are not checked.
_SAYS_MORE_EMPTY = "ssl.endpoint.identification.algorithm"


def refuse_unknown(unused: Sequence[str]) -> None:
    """Raise ConfigurationError for a property about security that has no effect here."""
    if unknown := [name for name in unused if name.startswith(_PREFIXES)]:
        raise ConfigurationError(
            f"{', '.join(unknown)}: this client has no such setting; correct the name, or remove it"
        )


def complete_security(
    values: dict[str, Any], context: ssl.SSLContext | None, properties: Mapping[str, str]
) -> None:
    """Set the security protocol that other settings imply, and the context of TLS.

    Raises ConfigurationError for settings of TLS beside a protocol without it, or beside a context.
    """
    given = sorted(name for name in TLS_PROPERTIES & properties.keys()
                   if properties[name] or name == _SAYS_MORE_EMPTY)  # fmt: skip
    if "security_protocol" not in values:
        has_login = any(name.startswith("sasl_") for name in values)
        parts = ["SASL"] if has_login else []
        parts += ["SSL"] if context or given else ["PLAINTEXT"]
        values["security_protocol"] = "_".join(parts)
    protocol = values["security_protocol"] = values["security_protocol"].upper()
    if context is not None:
        if given:
            raise ConfigurationError(
                f"{', '.join(given)}: no effect beside an ssl_context, which has its own settings; "
                "remove the one or the other"
            )
        from kafka_admin_proto.protocol.tls import check_role

        try:
            check_role("ssl_context", context, is_server=False)
        except SettingsError as error:
            raise ConfigurationError(str(error)) from None
        values["ssl_context"] = context
    elif protocol in ("SSL", "SASL_SSL"):
        from kafka_admin_proto.protocol.tls import TlsSettings

        try:
            values["ssl_context"] = TlsSettings.from_properties(properties).client_context()
        except SettingsError as error:
            raise ConfigurationError(str(error)) from None
    elif given and protocol.endswith("PLAINTEXT"):
        raise ConfigurationError(
            f"{', '.join(given)}: the security protocol {protocol} does not use TLS; set it to "
            f"{protocol.replace('PLAINTEXT', 'SSL')}, or remove what is about TLS"
        )


def warn_of_clear_secret(mechanism: str, addresses: Sequence[Address]) -> None:
    """Warn of a mechanism that sends its secret to addresses beyond this machine without TLS."""
    secret = {"PLAIN": "password", "OAUTHBEARER": "token"}.get(mechanism)
    far = [str(each) for each in addresses if not is_loopback(each.host)]
    if secret and far:
        warnings.warn(
            f"the {secret} goes to {', '.join(far)} in the clear: {mechanism} without TLS; set the "
            "security protocol to SASL_SSL, or the mechanism to SCRAM-SHA-512",
            UserWarning,
            stacklevel=3,
        )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return host.lower() == "localhost"
