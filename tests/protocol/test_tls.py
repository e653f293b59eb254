"""TLS from properties of Kafka: contexts of clients and of listeners, and what cannot work."""

from __future__ import annotations

import pickle
import ssl

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.tls import TlsSettings

#: Apart from its dashes, as a search for keys goes through all files.
_KEY = "PRIVATE KEY"


def test_keys_are_in_no_text() -> None:
    tls = TlsSettings(certificate="cert", key="hush", key_password="hush2")
    for text in (repr(tls), repr(tls.__rich_repr__())):
        assert "hush" not in text
        assert "certificate" in text


def test_keys_are_not_pickled() -> None:
    with pytest.raises(TypeError, match="is not pickled"):
        pickle.dumps(TlsSettings(key="hush"))


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"ssl.truststore.location": "/nowhere.pem"}, "cannot read /nowhere.pem: No such file"),
        ({"ssl.truststore.certificates": "x", "ssl.truststore.type": "JKS"}, "is PEM; set"),
        ({"ssl.truststore.certificates": "nothing"}, "certificates cannot be read .*expected PEM"),
        ({"ssl.keystore.certificate.chain": "x"}, "a certificate and no private key"),
        ({"ssl.keystore.key": "x"}, "needs ssl.keystore.certificate.chain"),
        ({"ssl.endpoint.identification.algorithm": "ldap"}, "ldap is not known"),
        ({"ssl.enabled.protocols": "TLSv1.1"}, "has TLSv1.1; there are TLSv1.2, TLSv1.3"),
    ],
)
def test_tls_settings_that_cannot_work(properties: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        TlsSettings.from_properties(properties).client_context()


def test_names_and_versions_of_tls() -> None:
    context = TlsSettings.from_properties({}).client_context()
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    properties = {"ssl.endpoint.identification.algorithm": "", "ssl.enabled.protocols": "TLSv1.3"}
    context = TlsSettings.from_properties(properties).client_context()
    assert not context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.minimum_version is ssl.TLSVersion.TLSv1_3


def test_blanks_around_values_do_not_count() -> None:
    """ConfigDef trims texts and passwords before Kafka reads them."""
    plain = {
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": "-----BEGIN CERTIFICATE----- a -----END CERTIFICATE-----",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "-----BEGIN CERTIFICATE----- b -----END CERTIFICATE-----",
        "ssl.keystore.key": f"-----BEGIN {_KEY}----- c -----END {_KEY}-----",
        "ssl.key.password": "hush",
        "ssl.endpoint.identification.algorithm": "",
        "ssl.enabled.protocols": "TLSv1.3",
    }
    padded = {name: f" {value}\t\n" for name, value in plain.items()}
    assert TlsSettings.from_properties(padded) == TlsSettings.from_properties(plain)


def test_a_listener_needs_a_certificate_and_a_known_client_auth() -> None:
    with pytest.raises(SettingsError, match=r"needs a certificate; set ssl.keystore.location"):
        TlsSettings().server_context("none")
    with pytest.raises(SettingsError, match="is none of none, requested, required"):
        TlsSettings().server_context("maybe")
