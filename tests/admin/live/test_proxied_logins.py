"""Clients that log in to a real broker through a proxy, with TLS on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_admin_proto.protocol.connection import SaslScram, SaslServer
from kafka_admin_proto.protocol.tls import TlsSettings
from kafka_admin_proto.proxy import SyncProxy
from kafka_admin_proto.testing import Authority
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.admin.live.helpers.secured import PASSWORDS, Secured
from tests.admin.live.test_login import login, write, wrong_password

_FLUSH_S = 30
#: Users of the proxy, which the cluster does not know.
_OWN_USERS = {"carol": "carol-secret"}


@contextmanager
def _proxy(secured: Secured, folder: Path, *, ends_sasl: bool) -> Iterator[tuple[SyncProxy, Path]]:
    """A proxy in front of SASL_TLS, and the certificate that its clients have to trust."""
    own = Authority(folder / "tls", "proxy")
    keys = TlsSettings.from_properties({"ssl.keystore.location": str(own.issue("door").bundle)})
    trust = TlsSettings.from_properties({"ssl.truststore.location": str(secured.authority.file)})
    with SyncProxy(
        secured.address("SASL_TLS"),
        tls=keys.server_context("none"),
        upstream_tls=trust.client_context(),
        sasl=SaslServer.of_passwords(_OWN_USERS) if ends_sasl else None,
        upstream_sasl=SaslScram("SCRAM-SHA-512", "bob", PASSWORDS["bob"]) if ends_sasl else None,
    ) as proxy:
        yield proxy, own.certificate.file


@pytest.mark.parametrize(
    ("mechanism", "ends_sasl"),
    [
        ("SCRAM-SHA-256", False),
        ("PLAIN", True),
        pytest.param("PLAIN", False, marks=pytest.mark.explore),
        pytest.param("SCRAM-SHA-512", False, marks=pytest.mark.explore),
        pytest.param("SCRAM-SHA-256", True, marks=pytest.mark.explore),
        pytest.param("SCRAM-SHA-512", True, marks=pytest.mark.explore),
    ],
)
def test_logins_with_tls_on_both_sides(
    secured: Secured,
    kafka_tools: KafkaTools,
    unique: Callable[[str], str],
    tmp_path: Path,
    mechanism: str,
    ends_sasl: bool,
) -> None:
    """Kafka's own tool creates a topic, librdkafka writes to it; a wrong password is refused."""
    kafka = pytest.importorskip("confluent_kafka")
    name = unique("proxied-login")
    ((user, password),) = _OWN_USERS.items() if ends_sasl else [("bob", PASSWORDS["bob"])]
    with _proxy(secured, tmp_path, ends_sasl=ends_sasl) as (proxy, trusted):
        properties = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(trusted)}
        at = ("--bootstrap-server", proxy.bootstrap_servers, "--command-config")
        own = write(tmp_path, "SASL_SSL", {**login(mechanism, user, password), **properties})
        kafka_tools.run("AclCommand", "--bootstrap-server", secured.address("PLAINTEXT"),
                        "--add", "--allow-principal", "User:bob", "--operation", "All",
                        "--topic", name)  # fmt: skip
        kafka_tools.run("TopicCommand", *at, str(own), "--create", "--topic", name)
        reports: list[object] = []
        producer = kafka.Producer(
            {
                "bootstrap.servers": proxy.bootstrap_servers, "security.protocol": "SASL_SSL",
                "sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password,
                "ssl.ca.location": str(trusted),
            }
        )  # fmt: skip
        producer.produce(name, b"one", on_delivery=lambda *report: reports.append(report[0]))
        assert producer.flush(_FLUSH_S) == 0
        assert reports == [None]
        wrong = write(tmp_path, "SASL_SSL", {**wrong_password(mechanism, secured), **properties})
        refused = kafka_tools.outcome("TopicCommand", *at, str(wrong), "--list")
        assert "AuthenticationException" in refused.stdout + refused.stderr
