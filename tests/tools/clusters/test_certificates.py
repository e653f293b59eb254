"""Certificates of an authority for tests, in handshakes without a socket."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from tools.clusters import HOST, Authority, Certificate


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def authority(folder: Path) -> Authority:
    return Authority(folder)


def handshake(shown: Certificate, trusted: Certificate) -> None:
    """A client that trusts one certificate, and a server that shows another, shake hands."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(shown.file, shown.key)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context(cafile=trusted.file).wrap_bio(
        to_client, to_server, server_hostname=HOST
    )
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
    stranger = Authority(folder, "stranger")
    refused = [
        (stranger.issue("unknown"), "unable to get local issuer"),
        (authority.issue("expired", days=-1), "certificate has expired"),
        (authority.issue("other", hosts=["DNS:other.invalid"]), "IP address mismatch"),
    ]
    for shown, said in refused:
        with pytest.raises(ssl.SSLCertVerificationError, match=said):
            handshake(shown, authority.certificate)
