"""Certificates for tests: in handshakes without a socket, and on a cluster."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminError, SyncAdminClient
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.testing import Authority, Certificate, Certificates, certificates
from tests.helpers.requirements import require_program

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_program("openssl")
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def authority(folder: Path) -> Authority:
    return Authority(folder)


@pytest.fixture(scope="module")
def made(folder: Path) -> Certificates:
    return certificates(folder / "made" / "here")


def handshake(shown: Certificate, trusted: Certificate) -> None:
    """A client that trusts one certificate, and a server that shows another, shake hands."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(shown.file, shown.key)
    shake_hands(ssl.create_default_context(cafile=trusted.file), serving)


def shake_hands(context: ssl.SSLContext, serving: ssl.SSLContext) -> None:
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(to_client, to_server, server_hostname=HOST)
    server = serving.wrap_bio(to_server, to_client, server_side=True)
    waiting = [client, server]
    while waiting:
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                continue


def test_a_certificate_of_a_trusted_authority(authority: Authority) -> None:
    shown = authority.issue("server")
    handshake(shown, authority.certificate)
    assert shown.bundle.read_text() == shown.key.read_text() + shown.file.read_text()


def test_certificates_that_are_refused(authority: Authority, folder: Path) -> None:
    other = Authority(folder, "other")
    refused = [
        (other.issue("unknown"), "unable to get local issuer"),
        (authority.issue("expired", days=-1), "certificate has expired"),
        (authority.issue("other", hosts=["DNS:other.invalid"]), "IP address mismatch"),
    ]
    for shown, said in refused:
        with pytest.raises(ssl.SSLCertVerificationError, match=said):
            handshake(shown, authority.certificate)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("wrong", {"hosts": ["localhost"]}, "'localhost' has no type; write DNS:localhost or IP:"),
        ("wrong", {"hosts": ["::1"]}, "'::1' has no type; write DNS:localhost or IP:127.0.0.1"),
        ("wrong", {"hosts": ["IP:localhost"]}, "openssl x509 failed: .*localhost"),
        ("wrong", {"subject": "wrong"}, "openssl req failed: .*subject"),
        ("authority", {}, "a certificate's name is that of new files, not 'authority'"),
        ("", {}, "not ''"),
        ("a/b", {}, "not 'a/b'"),
    ],
)
def test_what_cannot_be_issued(
    authority: Authority, name: str, arguments: dict[str, Any], said: str
) -> None:
    before = authority.certificate.file.read_bytes(), authority.certificate.key.read_bytes()
    with pytest.raises(ValueError, match=said):
        authority.issue(name, **arguments)
    assert before == (
        authority.certificate.file.read_bytes(),
        authority.certificate.key.read_bytes(),
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"hosts": [5]}, r"issue: hosts\[0\]: expected str, got int"),
        ({"days": "2"}, "issue: days: expected int, got str"),
        ({"days": True}, "issue: days: expected int, got bool"),
        ({"subject": 5}, "issue: subject: expected str, got int"),
    ],
)
def test_arguments_of_another_type(
    authority: Authority, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        authority.issue("wrong", **arguments)


def test_a_listener_has_a_name_and_mutual_is_true_or_false(made: Certificates) -> None:
    wrong: Any = "no"
    calls: list[Callable[[], object]] = [
        lambda: made.configs("TLS", mutual=wrong),
        lambda: made.server_context(mutual=wrong),
        lambda: made.client_context(mutual=wrong),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="mutual: expected bool, got str"):
            call()
    listener: Any = 5
    with pytest.raises(TypeError, match="configs: listener: expected str, got int"):
        made.configs(listener)


def test_nobody_else_reads_the_keys(authority: Authority) -> None:
    issued = authority.issue("private")
    assert [each.stat().st_mode & 0o077 for each in (issued.key, issued.bundle)] == [0, 0]


@pytest.mark.parametrize(
    ("client", "server", "works"),
    [(False, False, True), (True, False, True), (True, True, True), (False, True, False)],
)
def test_contexts(made: Certificates, client: bool, server: bool, works: bool) -> None:
    """A mutual server takes a mutual client alone; the cluster's listener is as the server."""
    contexts = made.client_context(mutual=client), made.server_context(mutual=server)
    if works:
        shake_hands(*contexts)
    else:
        with pytest.raises(ssl.SSLError, match="peer did not return a certificate"):
            shake_hands(*contexts)
    configs = made.configs("TLS", mutual=server)
    with SyncCluster(listeners={"TLS": "SSL"}, configs=configs) as cluster:
        try:
            with SyncAdminClient(
                cluster.bootstrap_servers,
                security_protocol="SSL",
                ssl_context=contexts[0],
                timeout=5,
            ) as admin:
                admin.list_topics()
        except AdminError:
            assert not works
        else:
            assert works


def test_the_command_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="openssl is not on the PATH; install the package"):
        certificates(tmp_path)
