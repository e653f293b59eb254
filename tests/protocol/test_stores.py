"""Truststores and key stores: what they hold decides who is trusted, whatever their type is said.

Both ends are contexts of ``TlsSettings``, which shake hands over loopback.
"""

from __future__ import annotations

import contextlib
import pickle
import socket
import ssl
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    NoEncryption,
    load_pem_private_key,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509 import Certificate, load_pem_x509_certificate

from kafka_admin_proto.errors import MissingExtraError, SettingsError
from kafka_admin_proto.protocol.stores import keystore
from kafka_admin_proto.protocol.tls import TlsSettings
from kafka_admin_proto.testing import Authority
from kafka_admin_proto.testing import Certificate as Files
from tests.helpers.requirements import require_program

PASSWORD = "store-secret"
HOST = "127.0.0.1"


class Chain:
    """A root, an issuing authority of it, and what that has issued."""

    def __init__(self, folder: Path) -> None:
        self.root = Authority(folder, "root")
        self.issuing = Authority(folder, "issuing", issuer=self.root)
        self.server = self.issuing.issue("server")
        self.client = self.issuing.issue("client")
        self.other = Authority(folder, "other")
        #: Whom to trust: all of these do for a server of the chain.
        self.anchors = {
            "root": self.root.certificate,
            "issuing": self.issuing.certificate,
            "server": self.server,
        }


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    require_program("openssl")
    return Chain(tmp_path_factory.mktemp("chain"))


def first(files: Files) -> Certificate:
    return load_pem_x509_certificate(files.file.read_bytes())


def pkcs12(
    file: Path, own: Files | None = None, others: Sequence[Files] = (), password: str = PASSWORD
) -> str:
    """A PKCS12 store with a key and certificates; its path."""
    key = None if own is None else load_pem_private_key(own.key.read_bytes(), None)
    encryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    certificate = None if own is None else first(own)
    more = [first(each) for each in others]
    data = serialize_key_and_certificates(b"own", key, certificate, more, encryption)  # type: ignore[arg-type]
    file.write_bytes(data)
    return str(file)


def alone(file: Path, certificate: Files) -> str:
    """A PEM file with one certificate and not those of its issuers; its path."""
    end = "-----END CERTIFICATE-----\n"
    file.write_text(certificate.file.read_text().partition(end)[0] + end)
    return str(file)


def refusal(client: ssl.SSLContext, server: ssl.SSLContext) -> str:
    """What a handshake over loopback ends with, "" where both sides are content."""
    said: list[str] = []

    def serve(listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            plain, _ = listening.accept()
            with plain:
                try:
                    with server.wrap_socket(plain, server_side=True) as accepted:
                        accepted.sendall(b"x")
                except ssl.SSLError as error:
                    said.append(str(error))

    with socket.create_server((HOST, 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        try:
            with (
                socket.create_connection(listening.getsockname(), timeout=30) as plain,
                client.wrap_socket(plain, server_hostname=HOST) as found,
            ):
                assert found.recv(1) == b"x"
        except ssl.SSLError as error:
            said.insert(0, str(error))
        finally:
            thread.join(30)
    return "; ".join(said)


def client_context(**properties: str) -> ssl.SSLContext:
    return TlsSettings.from_properties(
        {f"ssl.{name.replace('_', '.')}": value for name, value in properties.items()}
    ).client_context()


def server_context(chain: Chain, auth: str = "none", **properties: str) -> ssl.SSLContext:
    given = {"keystore_location": str(chain.server.bundle), **properties}
    return TlsSettings.from_properties(
        {f"ssl.{name.replace('_', '.')}": value for name, value in given.items()}
    ).server_context(auth)


@pytest.mark.parametrize("anchor", ["root", "issuing", "server"])
@pytest.mark.parametrize("kind", ["PEM", "PKCS12", "JKS", ""])
def test_any_certificate_of_a_truststore_ends_a_chain(
    chain: Chain, tmp_path: Path, anchor: str, kind: str
) -> None:
    """As in Java, be the store PEM or PKCS12, the latter under Kafka's default type too."""
    trusted = chain.anchors[anchor]
    if kind == "PEM":
        store = {"truststore_location": alone(tmp_path / "trust", trusted)}
    else:
        location = pkcs12(tmp_path / "trust", others=[chain.other.certificate, trusted])
        store = {"truststore_location": location, "truststore_password": PASSWORD}
    if kind:
        store["truststore_type"] = kind
    assert refusal(client_context(**store), server_context(chain)) == ""


def test_a_client_of_another_authority_is_not_trusted(chain: Chain, tmp_path: Path) -> None:
    location = alone(tmp_path / "trust", chain.client)
    said = refusal(client_context(truststore_location=location), server_context(chain))
    assert "unable to get local issuer certificate" in said or "unable to get issuer" in said


@pytest.mark.parametrize(
    ("anchor", "works"), [("issuing", True), ("client", True), ("other", False)]
)
def test_certificates_of_clients(chain: Chain, tmp_path: Path, anchor: str, works: bool) -> None:
    """A listener trusts as a client does; the client shows a key out of PKCS12."""
    trusted = {
        "issuing": chain.issuing.certificate, "client": chain.client,
        "other": chain.other.certificate,
    }[anchor]  # fmt: skip
    location = alone(tmp_path / "trust", trusted)
    server = server_context(chain, "required", truststore_location=location)
    shown = pkcs12(tmp_path / "client.p12", chain.client, [chain.issuing.certificate])
    client = client_context(
        truststore_location=str(chain.root.certificate.file),
        keystore_location=shown,
        keystore_password=PASSWORD,
        key_password=PASSWORD,
    )
    assert (refusal(client, server) == "") == works


def test_a_listener_shows_its_chain_out_of_pkcs12(chain: Chain, tmp_path: Path) -> None:
    """The certificates of its issuers go with it, others of the store do not."""
    others = [chain.other.certificate, chain.issuing.certificate]
    location = pkcs12(tmp_path / "server.p12", chain.server, others)
    properties = {"ssl.keystore.location": location, "ssl.keystore.password": PASSWORD}
    settings = TlsSettings.from_properties(properties)
    assert settings.certificate == chain.server.file.read_text()
    assert settings.key is not None
    assert "ENCRYPTED" in settings.key  # a file of it is written for OpenSSL
    trust = client_context(truststore_location=str(chain.root.certificate.file))
    assert refusal(trust, settings.server_context("none")) == ""


def test_a_truststore_with_a_private_key_trusts_what_java_does(
    chain: Chain, tmp_path: Path
) -> None:
    """Its own certificate and trusted ones; an issuer of the key only if it is there once more."""
    issuing, other = chain.issuing.certificate, chain.other.certificate

    def trusted(others: Sequence[Files]) -> str | None:
        location = pkcs12(tmp_path / "trust.p12", chain.server, others)
        properties = {"ssl.truststore.location": location, "ssl.truststore.password": PASSWORD}
        return TlsSettings.from_properties(properties).authorities

    def pem(*files: Files) -> str:
        return "".join(Path(alone(tmp_path / "one", each)).read_text() for each in files)

    assert trusted([issuing, other]) == pem(chain.server, other)
    assert trusted([issuing, issuing, other]) == pem(chain.server, issuing, other)


def test_a_store_without_a_password(chain: Chain, tmp_path: Path) -> None:
    location = pkcs12(tmp_path / "trust.p12", others=[chain.root.certificate], password="")
    assert refusal(client_context(truststore_location=location), server_context(chain)) == ""


@pytest.mark.parametrize("password", ["pässword€", "x" * 2000], ids=["not ASCII", "long"])
def test_a_password_that_is_not_ascii_or_long(chain: Chain, tmp_path: Path, password: str) -> None:
    location = pkcs12(tmp_path / "client.p12", chain.client, password=password)
    properties = {"ssl.keystore.location": location, "ssl.keystore.password": password}
    TlsSettings.from_properties(properties).client_context()
    found = keystore(properties)
    assert found is not None
    assert "PRIVATE" not in repr(found)
    assert str(found.key_password) not in repr(found)


@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_stores_that_cannot_be_read(chain: Chain, tmp_path: Path, store: str) -> None:
    location, password = f"ssl.{store}.location", f"ssl.{store}.password"
    kind = f"ssl.{store}.type"
    good = pkcs12(tmp_path / "good.p12", chain.client)
    certificates = pkcs12(tmp_path / "certificates.p12", others=[chain.root.certificate])
    (tmp_path / "a jks").write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    (tmp_path / "der").write_bytes(b"\x30\x03\x02\x01\x05")
    (tmp_path / "text").write_text("certificates")
    cases = [
        ({location: good, password: "hush"}, f"good.p12 cannot be opened: {password} is not its"),
        ({location: str(tmp_path / "der"), password: "hush"}, "der cannot be read as a PKCS12"),
        ({location: str(tmp_path / "text")}, "text has neither PEM nor PKCS12 in it"),
        (
            {location: "-----BEGIN PRIVATE " + "KEY-----\nhush"},
            f"{location} has PEM in the place of",
        ),
        ({location: "a\0b"}, f"{location}: cannot read a.b: embedded null"),
        ({location: good, kind: "BKS", password: "hush"}, f"{kind}=BKS is not known; there are"),
        (
            {location: str(chain.client.bundle), password: "hush"},
            f"{password} has no effect: the {store} is PEM",
        ),
        ({location: good, kind: "PEM"}, f"good.p12 has no PEM in it; set {kind}=PKCS12"),
        (
            {location: str(tmp_path / "a jks"), kind: "PKCS12"},
            f"jks is a JKS store, which Python .*: keytool -importkeystore -srckeystore '.*/a jks' "
            f"-destkeystore {store}.p12 -deststoretype PKCS12; then set {location}",
        ),
        (
            {location: good},
            f"cannot be opened: {password} is missing"
            if store == "truststore"
            else f"good.p12 is a PKCS12 store; set {password}",
        ),
    ]
    if store == "keystore":
        no_key = f"{certificates.rpartition('/')[2]} has no private key with a certificate"
        cases.append(({location: certificates, password: PASSWORD}, no_key))
        differs = {location: good, password: PASSWORD, "ssl.key.password": "hush"}
        cases.append((differs, "ssl.key.password differs from ssl.keystore.password"))
    for properties, said in cases:
        with pytest.raises(SettingsError, match=said) as caught:
            TlsSettings.from_properties(properties)
        assert "hush" not in str(caught.value)


def test_pkcs12_without_its_library(
    chain: Chain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = pkcs12(tmp_path / "trust.p12", others=[chain.root.certificate])
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization.pkcs12", None)
    with pytest.raises(MissingExtraError, match=r"needs the library cryptography.*\[security\]"):
        TlsSettings.from_properties({"ssl.truststore.location": location})


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
