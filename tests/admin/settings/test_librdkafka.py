"""librdkafka's names of settings: the same client as by Kafka's, or a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import ConfigurationError, client_config
from kafka_admin_proto.admin.settings.librdkafka import in_kafkas_names

JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"


def test_what_confluents_console_gives() -> None:
    found = client_config(
        command_config={
            "bootstrap.servers": "pkc-1.example:9092",
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "PLAIN",
            "sasl.username": " key",
            "sasl.password": "hush ",
            "session.timeout.ms": "45000",
        }
    )
    login = f'{JAAS} username="key" password="hush";'
    same = client_config(
        "pkc-1.example:9092",
        command_config={
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": login,
        },
    )
    names = ("addresses", "security_protocol", "sasl_mechanism", "sasl_username", "sasl_password")
    assert [getattr(found, name) for name in names] == [getattr(same, name) for name in names]
    assert found.unused == ("session.timeout.ms",)


def test_each_name_is_one_of_kafkas(tmp_path: Path) -> None:
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    certificate.write_text("the certificate")
    key.write_text("the key")
    given = {
        "metadata.broker.list": "a:1",
        "sasl.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": "hush",
        "ssl.ca.location": "ca.pem",
        "ssl.certificate.location": f" {certificate}",
        "ssl.key.location": str(key),
        "ssl.key.password": "hush",
        "enable.ssl.certificate.verification": "True ",
        "ssl.endpoint.identification.algorithm": "none",
    }
    assert in_kafkas_names(given) == {
        "bootstrap.servers": "a:1",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.client.credentials.client.id": "me",
        "sasl.oauthbearer.client.credentials.client.secret": "hush",
        "ssl.truststore.location": "ca.pem",
        "ssl.keystore.certificate.chain": "the certificate",
        "ssl.keystore.key": "the key",
        "ssl.key.password": "hush",
        "ssl.endpoint.identification.algorithm": "",
    }
    assert in_kafkas_names(in_kafkas_names(given)) == in_kafkas_names(given)
    texts = {"ssl.ca.pem": "a", "ssl.certificate.pem": "b", "ssl.key.pem": "c"}
    assert in_kafkas_names(texts) == {
        "ssl.truststore.certificates": "a",
        "ssl.keystore.certificate.chain": "b",
        "ssl.keystore.key": "c",
    }


def test_authorities_as_librdkafka_finds_them(tmp_path: Path) -> None:
    assert in_kafkas_names({"ssl.ca.location": " probe", "client.id": "a"}) == {"client.id": "a"}
    with pytest.raises(ConfigurationError, match=r"ssl.ca.location=.* is a directory; name a file"):
        in_kafkas_names({"ssl.ca.location": str(tmp_path)})
    pem = "-----BEGIN CERTIFICATE-----\n" + "A" * 5000  # longer than a path may be
    for text in ("", "/no/such", "a\0b", pem):  # what reads the file refuses them
        assert in_kafkas_names({"ssl.ca.location": text}) == {"ssl.truststore.location": text}


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        (
            {"enable.ssl.certificate.verification": "false"},
            "enable.ssl.certificate.verification is librdkafka's, and true alone works: .* into "
            "ssl.truststore.location",
        ),
        ({"sasl.oauthbearer.method": "default"}, "set sasl.oauthbearer.token.endpoint.url"),
        ({"sasl.oauthbearer.config": "principal=hush"}, "set unsecuredLoginStringClaim_sub in"),
        ({"sasl.oauthbearer.extensions": "a=hush"}, "has no effect here; set extension_NAME"),
        ({"ssl.ca.certificate.stores": "Root"}, "set ssl.truststore.location"),
        (
            {"sasl.mechanisms": "PLAIN", "sasl.mechanism": "PLAIN"},
            "sasl.mechanisms is librdkafka's name of sasl.mechanism, which is set as well",
        ),
        (
            {"ssl.key.location": "/nowhere", "ssl.certificate.pem": "hush"},
            "ssl.key.location: cannot read /nowhere: No such file",
        ),
        (
            {"ssl.key.location": "-----BEGIN PRIVATE " + "KEY-----\nhush"},
            "ssl.key.location has PEM in the place of a file's name; set ssl.keystore.key",
        ),
        (
            {"sasl.username": "a", "sasl.mechanism": "PLAIN", "sasl.jaas.config": f"{JAAS};"},
            "sasl.username: sasl.jaas.config has the login as well",
        ),
        ({"sasl.username": "a", "sasl.password": "hush"}, "sasl.mechanism is missing"),
        ({"sasl.kerberos.keytab": "hush"}, "sasl.kerberos.keytab: this client has no such"),
    ],
)
def test_names_that_are_refused(properties: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        client_config("a:1", command_config=properties)
    assert "hush" not in str(caught.value)


def test_a_client_certificate_in_two_files(tmp_path: Path) -> None:
    """They come together as by Kafka's names, which say what is missing."""
    (tmp_path / "c.pem").write_text("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n")
    properties: dict[str, Any] = {"ssl.certificate.location": str(tmp_path / "c.pem")}
    with pytest.raises(ConfigurationError, match="a certificate and no private key for it"):
        client_config("a:1", command_config=properties)
