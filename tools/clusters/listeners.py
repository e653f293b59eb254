"""Listeners of brokers beside the plain one: TLS, SASL, both, and addresses that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_admin_proto.testing import Certificate
from tools.clusters.processes import HOST

_MODULES = "org.apache.kafka.common.security"


@dataclass(frozen=True, slots=True)
class Listener:
    """A listener of each broker.

    ``protocol`` is Kafka's security protocol; ``properties`` stand without their
    "listener.name.<name>."; ``advertised`` is the host:port that Metadata names instead of the
    one that is listened on.
    """

    name: str
    protocol: str = "PLAINTEXT"
    properties: Mapping[str, str] = field(default_factory=dict)
    advertised: str | None = None


def tls_properties(
    certificate: Certificate, *, client_auth: str = "none", clients: Certificate | None = None
) -> dict[str, str]:
    """A listener's properties for TLS: what it shows, and with ``client_auth`` "required" the
    authority (``clients``) that its clients' certificates have to be from.
    """
    found = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificate.bundle),
        "ssl.client.auth": client_auth,
    }
    if clients is not None:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(clients.file)}
    return found


def sasl_properties(
    mechanisms: Sequence[str], plain_users: Mapping[str, str] | None = None
) -> dict[str, str]:
    """A listener's properties for SASL; ``plain_users`` are passwords by name, for PLAIN.

    SCRAM's users are in the cluster's metadata: `kraft` takes them as ``scram``.
    """
    found = {"sasl.enabled.mechanisms": ",".join(mechanisms)}
    for mechanism in mechanisms:
        module, options = f"{_MODULES}.scram.ScramLoginModule", ""
        if mechanism == "PLAIN":
            module = f"{_MODULES}.plain.PlainLoginModule"
            users = (plain_users or {}).items()
            options = "".join(f' user_{name}="{password}"' for name, password in users)
        elif mechanism == "OAUTHBEARER":  # tokens without a signature, by default
            module = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule"
            options = ' unsecuredLoginStringClaim_sub="broker"'
        key = f"{mechanism.lower()}.sasl.jaas.config"
        found[key] = f"{module} required{options};"
    return found


def listener_properties(listeners: Iterable[Listener], ports: Mapping[str, int]) -> dict[str, str]:
    """The broker's properties for its listeners, of which ``ports`` may have more."""
    listeners = list(listeners)
    protocols = {name: "PLAINTEXT" for name in ports} | {
        each.name: each.protocol for each in listeners
    }
    found = {
        "listeners": ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items()),
        "listener.security.protocol.map": ",".join(map(":".join, protocols.items())),
        "inter.broker.listener.name": "PLAINTEXT",
    }
    if any(each.advertised for each in listeners):
        addresses = {name: f"{HOST}:{port}" for name, port in ports.items()}
        addresses |= {each.name: each.advertised for each in listeners if each.advertised}
        found["advertised.listeners"] = ",".join(f"{k}://{v}" for k, v in addresses.items())
    for each in listeners:
        prefix = f"listener.name.{each.name.lower()}."
        found |= {f"{prefix}{name}": value for name, value in each.properties.items()}
    return found
