"""The examples of docs/server-security.md run as they stand, and show no password."""

from __future__ import annotations

import base64
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import confluent_kafka
import confluent_kafka.admin
import pytest

from kafka_admin_proto.messages import CreateTopicsRequest
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from tests.server.security.secured import Certificates, peer, scram

PAGE = Path(__file__).parents[2] / "docs" / "server-security.md"
_FOUND = re.findall(r"```(sh|python)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
#: The first of each language.
BLOCKS = dict(reversed(_FOUND))
#: The last one starts a cluster with ACLs.
ACLS = _FOUND[-1][1]
PASSWORD = "hush-hush-42"
_SECONDS = 30


def brokers(settings: dict[str, Any]) -> int:
    """How many brokers librdkafka is told of."""
    client: Any = confluent_kafka.admin.AdminClient({**settings, "log_level": 0})
    return len(client.list_topics(timeout=_SECONDS).brokers)


def test_the_example_in_python() -> None:
    names: dict[str, Any] = {"brokers": brokers}
    exec(compile(BLOCKS["python"] + "    found = brokers(client)\n", str(PAGE), "exec"), names)
    assert names["found"] == 1


@pytest.mark.exhaustive
def test_the_example_in_a_shell(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path / "tls")
    (tmp_path / "users.txt").write_text(f"alice:{PASSWORD}\n")
    (tmp_path / "server.pem").write_text(certificates.server.bundle.read_text())
    words = shlex.split(BLOCKS["sh"].replace("\\\n", ""))
    assert words[0] == "kap"
    command = [sys.executable, "-m", "kafka_admin_proto", *words[1:], "--log"]
    logged = tmp_path / "log"  # no pipe, which would be full before it is read
    with logged.open("w") as stderr:
        served = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=stderr, text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
    try:
        assert served.stdout is not None
        plain, named = served.stdout.readline().strip(), served.stdout.readline().split()
        assert named[0] == "SECURE"
        for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"):
            settings = {
                "bootstrap.servers": named[1],
                "security.protocol": "SASL_SSL",
                "ssl.ca.location": str(certificates.authority.file),
                "sasl.mechanism": mechanism,
                "sasl.username": "alice",
                "sasl.password": PASSWORD,
            }
            assert brokers(settings) == 1
            with pytest.raises(confluent_kafka.KafkaException):
                confluent_kafka.admin.AdminClient(
                    {**settings, "sasl.password": f"{PASSWORD}x", "log_level": 0}
                ).list_topics(timeout=0.5)
        with peer(plain) as client:
            assert client.handshake("PLAIN").error_code == 34
            assert client.authenticate(f"\0alice\0{PASSWORD}".encode()).error_code == 34
    finally:
        served.send_signal(signal.SIGTERM)
        out, _ = served.communicate(timeout=_SECONDS)
    log = logged.read_text()
    assert served.returncode == 0, log
    assert "MetadataRequest" in log
    secret = PASSWORD.encode()
    for each in (
        PASSWORD,
        secret.hex(),
        *(base64.b64encode(secret[n:])[1:-4].decode() for n in range(3)),
    ):
        assert each not in out + log


def test_the_example_with_acls(tmp_path: Path) -> None:
    """The admin may create a topic, and another user may not."""
    (tmp_path / "users.txt").write_text(f"admin:{PASSWORD}\nalice:{PASSWORD}\n")
    words = shlex.split(ACLS.replace("\\\n", ""))
    assert words[:2] == ["kap", "serve"]
    assert "ANONYMOUS" not in ACLS
    command = [sys.executable, "-m", "kafka_admin_proto", *words[1:]]
    topics = CreateTopicsRequest(topics=[CreatableTopic("orders", 1, 1)])
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            address = served.stdout.readline().strip()
            for user, code in (("alice", 29), ("admin", 0)):
                with peer(address) as client:
                    assert scram(client, "SCRAM-SHA-256", user, PASSWORD).error_code == 0
                    assert client.ask(topics, 7).topics[0].error_code == code
        finally:
            served.send_signal(signal.SIGTERM)
