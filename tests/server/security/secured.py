"""A cluster with a listener for each way in, and clients of it that we did not have to write."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from kafka_admin_proto.protocol import FrameReader, frame, read_response, write_request
from kafka_admin_proto.protocol.connection import SaslScram
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.testing import Authority, Certificate
from kafka_admin_proto.testing import Certificates as MadeCertificates
from kafka_admin_proto.values import Message

#: Security protocols by listener, as a real cluster of the tests has them too.
LISTENERS = {
    "PLAINTEXT": "PLAINTEXT",
    "TLS": "SSL",
    "MUTUAL": "SSL",
    "WANTING": "SSL",
    "SASL": "SASL_PLAINTEXT",
    "SASL_TLS": "SASL_SSL",
    "SCRAM_ONLY": "SASL_PLAINTEXT",
    "SESSIONS": "SASL_PLAINTEXT",
    "EXPIRED": "SSL",
    "TOKENS": "SASL_PLAINTEXT",
}
#: Of PLAIN and of both SCRAM mechanisms.
PASSWORDS = {"admin": "admin-secret", "bob": "bob-secret"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_SECONDS = 30


class Certificates(MadeCertificates):
    """With an authority that nobody trusts, and certificates whose time is over."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.foreign = Authority(folder, "foreign").certificate
        self.expired = self.issue("expired", days=-1)
        self.old_client = self.issue("old-client", days=-1)

    def properties(self) -> dict[str, dict[str, str]]:
        """What listeners are configured with, by Kafka's names, SASL's users left out."""
        shown = _shown(self.server)
        trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(self.authority.file)}
        return {
            "TLS": shown,
            "MUTUAL": {**shown, **trust, "ssl.client.auth": "required"},
            "WANTING": {**shown, **trust, "ssl.client.auth": "requested"},
            "SASL_TLS": shown,
            "EXPIRED": _shown(self.expired),
            "SESSIONS": {"connections.max.reauth.ms": "60000"},
        }


def _shown(certificate: Certificate) -> dict[str, str]:
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(certificate.bundle)}


def listener_configs(properties: dict[str, dict[str, str]]) -> dict[str, str]:
    """Configs of listeners by their full names."""
    return {
        f"listener.name.{listener.lower()}.{name}": value
        for listener, values in properties.items()
        for name, value in values.items()
    }


def secured_cluster(certificates: Certificates, **settings: Any) -> SyncCluster:
    """Ours, with all of the listeners and users."""
    configs = listener_configs(
        {
            **certificates.properties(),
            "SCRAM_ONLY": {"sasl.enabled.mechanisms": "SCRAM-SHA-512"},
            "TOKENS": {"sasl.enabled.mechanisms": "OAUTHBEARER"},
        }
    )
    configs |= settings.pop("configs", {})
    return SyncCluster(listeners=LISTENERS, users=PASSWORDS, configs=configs, **settings)


class Peer:
    """A client that sends given bytes and reads the answers."""

    def __init__(self, address: str) -> None:
        host, _, port = address.split(",")[0].rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=_SECONDS)
        self._reader = FrameReader()
        self._frames: list[bytes] = []
        self._id = 0

    def send(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # as ``frame`` will say
            self._socket.sendall(data)

    def frame(self) -> bytes | None:
        """The next frame; None when the server has closed the connection."""
        while not self._frames:
            try:
                data = self._socket.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self._frames += self._reader.feed(data)
        return self._frames.pop(0)

    def ask(self, request: Message, version: int) -> Any:
        """The answer to a request, None when the connection was closed instead."""
        assert request.api_key is not None
        self._id += 1
        self.send(frame(write_request(request, version, self._id)))
        payload = self.frame()
        if payload is None:
            return None
        return read_response(payload, request.api_key, version).body

    def handshake(self, mechanism: str, version: int = 1) -> Any:
        return self.ask(SaslHandshakeRequest(mechanism=mechanism), version)

    def authenticate(self, token: bytes, version: int = 2) -> Any:
        return self.ask(SaslAuthenticateRequest(auth_bytes=token), version)

    def versions(self) -> Any:
        return self.ask(ApiVersionsRequest("tests", "1"), 3)

    def close(self) -> None:
        self._socket.close()


@contextlib.contextmanager
def peer(address: str) -> Iterator[Peer]:
    """A client, closed behind the block."""
    with contextlib.closing(Peer(address)) as found:
        yield found


def scram(client: Peer, mechanism: str, user: str, password: str, *, by_token: bool = False) -> Any:
    """The last answer of an exchange."""
    assert client.handshake(mechanism).error_code == 0
    exchange = SaslScram(mechanism, user, password, by_token=by_token).exchange(100_000)
    first = client.authenticate(exchange.first())
    if first.error_code:
        return first
    compute = exchange.next(first.auth_bytes)
    assert compute is not None
    return client.authenticate(compute())
