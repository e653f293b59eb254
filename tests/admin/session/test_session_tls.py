"""TLS on loopback: who is trusted, and what each kind of refusal says."""

from __future__ import annotations

import asyncio
import errno
import ssl
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_admin_proto.admin import (
    ConfigurationError,
    ConnectionFailedError,
    ConnectionLostError,
    TlsError,
    client_config,
)
from kafka_admin_proto.admin.network.errors import handshake_failed, unreachable
from kafka_admin_proto.admin.session.session import Session
from kafka_admin_proto.messages import ListGroupsRequest, ListGroupsResponse
from kafka_admin_proto.protocol.addresses import Address
from kafka_admin_proto.testing import Authority, Certificate
from tests.admin.leaks import run_without_leaks
from tests.admin.scripted_broker import SILENCE, ScriptedBroker, ScriptedCluster
from tests.helpers.requirements import require_program

PASSWORD = "key-secret"


class Files:
    """An authority, a broker's certificate, and a client's."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.stranger = Authority(folder, "stranger").certificate
        self.server = self.authority.issue("server")
        self.client = self.authority.issue("client")
        self.encrypted = folder / "encrypted.key"
        command = ["openssl", "pkcs8", "-topk8", "-v2", "aes256", "-in", str(self.client.key)]
        command += ["-passout", f"pass:{PASSWORD}", "-out", str(self.encrypted)]
        subprocess.run(command, check=True, timeout=60)

    @property
    def trust(self) -> dict[str, str]:
        return {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority.certificate.file),
        }


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    require_program("openssl")
    return Files(tmp_path_factory.mktemp("tls"))


def listener(certificate: Certificate, clients: Certificate | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.file, certificate.key)
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients.file)
    return context


def outcome(context: ssl.SSLContext | None, properties: Mapping[str, str], host: str = "") -> str:
    """The text of the error that a client gets, or "" when it gets its answer."""

    async def run() -> str:
        cluster = ScriptedCluster([1])
        cluster.nodes[1].ssl = context
        async with cluster:
            address = cluster.bootstrap.replace("127.0.0.1", host or "127.0.0.1")
            config = client_config(address, command_config=properties, connect_timeout=3)
            async with Session(config) as client:
                try:
                    assert list(await client.brokers()) == [1]
                except ConnectionFailedError as error:
                    return f"{type(error).__name__}: {error}"
        return ""

    return run_without_leaks(run())


def test_a_trusted_broker_is_asked(files: Files) -> None:
    context = listener(files.server)
    assert outcome(context, files.trust) == ""
    assert outcome(context, files.trust, "localhost") == ""
    pem = files.authority.certificate.file.read_text()
    commented = files.authority.certificate.file.with_name("commented.pem")
    commented.write_text(f"# Autorité\n{pem}", "utf-8")
    assert outcome(context, {**files.trust, "ssl.truststore.location": str(commented)}) == ""
    inline = {"security.protocol": "SSL", "ssl.truststore.certificates": pem.replace("\n", " ")}
    assert outcome(context, inline) == ""


def test_an_issuing_authority_or_the_broker_itself_is_trusted(files: Files, tmp_path: Path) -> None:
    """Java ends a chain at any certificate of the truststore, not at roots alone."""
    issuing = Authority(tmp_path, "issuing", issuer=files.authority)
    server = issuing.issue("server")
    for trusted in (files.authority.certificate, issuing.certificate, server):
        (tmp_path / "trust.pem").write_text(f"{ssl.DER_cert_to_PEM_cert(der(trusted))}")
        trust = {**files.trust, "ssl.truststore.location": str(tmp_path / "trust.pem")}
        assert outcome(listener(server), trust) == ""


def der(certificate: Certificate) -> bytes:
    """The first certificate of a file."""
    end = "-----END CERTIFICATE-----"
    text = certificate.file.read_text()
    return ssl.PEM_cert_to_DER_cert(text[: text.index(end) + len(end)])


def test_strangers_are_not_trusted(files: Files) -> None:
    trust = {**files.trust, "ssl.truststore.location": str(files.stranger.file)}
    said = outcome(listener(files.server), trust)
    assert said.startswith("TlsError: TLS with 127.0.0.1:")
    assert "is not trusted" in said
    assert "ssl.truststore.location" in said


def test_a_certificate_that_has_expired(files: Files) -> None:
    expired = files.authority.issue("expired", days=-1)
    assert "certificate has expired" in outcome(listener(expired), files.trust)


def test_a_certificate_for_another_host(files: Files) -> None:
    other = listener(files.authority.issue("other", hosts=["DNS:other.invalid"]))
    said = outcome(other, files.trust, "localhost")
    assert "certificate is not for localhost" in said
    assert "certificate is not for 127.0.0.1" in outcome(other, files.trust)
    assert outcome(other, {**files.trust, "ssl.endpoint.identification.algorithm": ""}) == ""


async def test_a_certificate_that_is_not_for_an_advertised_address(files: Files) -> None:
    cluster = ScriptedCluster([1, 2])
    cluster.nodes[1].ssl = listener(files.server)
    cluster.nodes[2].ssl = listener(files.authority.issue("there", hosts=["DNS:kafka-2.invalid"]))
    async with cluster:
        config = client_config(cluster.nodes[1].address, command_config=files.trust)
        async with Session(config) as client:
            with pytest.raises(TlsError) as caught:
                await client.call(ListGroupsRequest(), ListGroupsResponse, to=2)
    assert f"broker 2 advertises {cluster.nodes[2].address}: TLS with" in str(caught.value)
    said = str(caught.value)
    assert "the broker's certificate is not for 127.0.0.1" in said
    assert said.endswith("reaches and that its certificate is for")


def test_plain_text_where_tls_is_spoken_and_the_reverse(files: Files) -> None:
    start = time.monotonic()
    said = outcome(listener(files.server), {})
    assert "TLS" in said
    assert "SASL_SSL" in said
    said = outcome(None, files.trust)
    assert said.startswith("TlsError")
    assert "PLAINTEXT" in said
    assert time.monotonic() - start < 5


def test_brokers_that_ask_for_a_certificate(files: Files) -> None:
    context = listener(files.server, clients=files.authority.certificate)
    assert "ssl.keystore.location" in outcome(context, files.trust)
    bundle = {**files.trust, "ssl.keystore.type": "PEM"}
    assert outcome(context, {**bundle, "ssl.keystore.location": str(files.client.bundle)}) == ""
    texts = {
        **files.trust,
        "ssl.keystore.key": files.encrypted.read_text().replace("\n", "\\n"),
        "ssl.keystore.certificate.chain": files.client.file.read_text(),
    }
    assert outcome(context, {**texts, "ssl.key.password": PASSWORD}) == ""
    with pytest.raises(ConfigurationError, match=r"is encrypted; set ssl\.key\.password"):
        client_config("a:1", command_config=texts)
    with pytest.raises(ConfigurationError, match="cannot be used") as caught:
        client_config("a:1", command_config={**texts, "ssl.key.password": "wrong-secret"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "data", [b"\x17\x03\x03\x00\x20" + bytes(32), bytes(40)], ids=["record", "none"]
)
async def test_tls_that_breaks_after_the_handshake_is_a_lost_connection(
    files: Files, data: bytes
) -> None:
    def breaks(request: object, broker: ScriptedBroker) -> object:
        broker.write_raw(data)
        return SILENCE

    def answers(request: object, broker: ScriptedBroker) -> object:
        return ListGroupsResponse()

    cluster = ScriptedCluster([1])
    cluster.nodes[1].ssl = listener(files.server)
    cluster.on(ListGroupsRequest, answers, breaks, breaks, answers)
    async with cluster:
        config = client_config(cluster.bootstrap, command_config=files.trust)
        async with Session(config) as client:
            await client.call(ListGroupsRequest(), ListGroupsResponse)
            with pytest.raises(ConnectionLostError, match=r"TLS with .* broke") as caught:
                await client.call(ListGroupsRequest(), ListGroupsResponse, repeatable=False)
            assert caught.value.may_have_acted
            reply = await client.call(ListGroupsRequest(), ListGroupsResponse)
            assert reply.maybe_repeated


async def test_a_handshake_without_an_end_is_given_up(files: Files) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    config = client_config(f"127.0.0.1:{port}", command_config=files.trust, connect_timeout=0.3)
    async with Session(config) as client:
        with pytest.raises(ConnectionFailedError, match="TLS handshake was not answered"):
            await client.brokers()
        task = asyncio.create_task(client.brokers())
        await asyncio.sleep(0.1)
        task.cancel()
    server.close()
    await server.wait_closed()
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0.05)


ADDRESS = Address("broker", 9093)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("RECORD_LAYER_FAILURE", "the answer is not TLS"),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "asks for a certificate of the client, or shares"),
        ("SSLV3_ALERT_BAD_CERTIFICATE", "refuses the one that it got"),
        ("TLSV1_ALERT_PROTOCOL_VERSION", "the broker refused (tlsv1 alert protocol version)"),
        ("NO_PROTOCOLS_AVAILABLE", "no protocols available"),
    ],
)
def test_what_openssl_says_has_its_remedy(reason: str, said: str) -> None:
    error = ssl.SSLError(1, "failed")
    error.reason = reason
    assert said in str(handshake_failed(ADDRESS, error))


@pytest.mark.parametrize(
    ("code", "said"),
    [(9, "is not valid yet"), (10, "has expired"), (62, "is not for broker"),
     (18, "is not trusted (why)"), (26, "is not accepted (why)")],
)  # fmt: skip
def test_what_is_wrong_with_a_certificate(code: int, said: str) -> None:
    error = ssl.SSLCertVerificationError(1, "failed")
    error.verify_code, error.verify_message = code, "why"
    assert said in str(handshake_failed(ADDRESS, error))


def test_a_network_without_a_way() -> None:
    error = unreachable(ADDRESS, OSError(errno.EHOSTUNREACH, "No route to host"))
    assert str(error).endswith("no route to host; check the network in between")
