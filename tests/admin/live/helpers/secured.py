"""A node with a listener for each way of logging in, and for each way a certificate is wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_admin_proto.testing import Authority, Certificate
from tools.clusters import (
    HOST,
    Cluster,
    Listener,
    free_ports,
    kraft,
    sasl_properties,
    tls_properties,
)

#: Of PLAIN and of both SCRAM mechanisms.
PASSWORDS = {"admin": "admin-secret", "bob": "bob-secret"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
#: What Metadata names on the listener NOWHERE.
NOWHERE = "no-such-host.invalid:9092"


@dataclass(frozen=True, slots=True)
class Secured:
    """The cluster, with `Cluster.address(listener)`, and what its clients need.

    Listeners: PLAINTEXT; TLS; MUTUAL (TLS that asks for a client's certificate); SASL and SASL_TLS
    (PLAIN and SCRAM); SCRAM_ONLY (SCRAM-SHA-512 alone); EXPIRED and OTHER_NAME (TLS whose
    certificate is over, or for another host); NOWHERE (plain; it advertises a host that no
    resolver knows); PROXIED (plain; it advertises ``proxy_port`` of this machine).

    ``authority`` has signed all of their certificates, ``foreign`` none; ``client`` is a
    client's for MUTUAL.
    """

    cluster: Cluster
    authority: Certificate
    foreign: Certificate
    client: Certificate
    proxy_port: int

    def address(self, listener: str) -> str:
        return self.cluster.address(listener)


@contextlib.contextmanager
def start_secured(folder: Path) -> Iterator[Secured]:
    authority = Authority(folder / "tls")
    foreign = Authority(folder / "tls", "foreign")
    server = tls_properties(authority.issue("server"))
    asking = tls_properties(
        authority.issue("asking"), client_auth="required", clients=authority.certificate
    )
    expired = tls_properties(authority.issue("expired", days=-1))
    other = tls_properties(authority.issue("other", hosts=["DNS:other.invalid"]))
    (proxy_port,) = free_ports(1)
    sasl = sasl_properties(MECHANISMS, PASSWORDS)
    listeners = [
        Listener("TLS", "SSL", server),
        Listener("MUTUAL", "SSL", asking),
        Listener("SASL", "SASL_PLAINTEXT", sasl),
        Listener("SASL_TLS", "SASL_SSL", {**sasl, **server}),
        Listener("SCRAM_ONLY", "SASL_PLAINTEXT", sasl_properties(["SCRAM-SHA-512"])),
        Listener("EXPIRED", "SSL", expired),
        Listener("OTHER_NAME", "SSL", other),
        Listener("NOWHERE", advertised=NOWHERE),
        Listener("PROXIED", advertised=f"{HOST}:{proxy_port}"),
    ]
    scram = [
        f"{mechanism}=[name={name},password={password}]"
        for mechanism in MECHANISMS
        if mechanism.startswith("SCRAM")
        for name, password in PASSWORDS.items()
    ]
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:admin;User:CN=client",
        "delegation.token.secret.key": "a-key-of-the-tests",
    }
    home = folder / "cluster"
    with kraft(home, listeners=listeners, scram=scram, properties=properties) as cluster:
        client = authority.issue("client")
        yield Secured(cluster, authority.certificate, foreign.certificate, client, proxy_port)
