"""Java's client in sessions that end (KIP-368): it authenticates again on the same connection."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tests.helpers.java_tool import JavaTool
from tests.helpers.requirements import require_oracle
from tests.server.security.secured import PASSWORDS, Certificates, secured_cluster
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch
from tools.oracles.libraries import SLF4J

TOOL = Path(__file__).parents[2] / "java" / "SessionTool.java"
_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_TIMES = 2
#: A client authenticates again when 85 to 95 % of it are over, and a broker refuses one that does
#: so within a second.
_SESSION_MS = 1500


@pytest.mark.exhaustive
def test_it_authenticates_again(certificates: Certificates) -> None:
    require_oracle()
    with contextlib.closing(JavaTool(TOOL, fetch(NEWEST, ["kafka-clients", *SLF4J]))) as tool:
        configs = {"listener.name.sasl.connections.max.reauth.ms": str(_SESSION_MS)}
        with secured_cluster(certificates, configs=configs) as cluster:
            login = f"bob {PASSWORDS['bob']} {_TIMES}"
            address = cluster.addresses("SASL")
            lines = [f"{address} {name} {module} {login}" for name, module in _MODULES.items()]
            assert tool.ask(lines) == ["0"] * len(lines)
