"""A broker of its own for each test, and ``kap`` run against it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest
from click.testing import CliRunner, Result

from kafka_admin_proto.cli.app import kap
from tests.cli.admin.scripted_broker import ScriptedBroker, Topic


class Run(Protocol):
    """Runs a command line against the scripted broker."""

    def __call__(
        self, arguments: str, data: str | None = None, env: Mapping[str, str] | None = None
    ) -> Result: ...


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as found:
        found.topics["orders"] = Topic(
            [[1, 2], [2, 3], [3, 1]], {"retention.ms": "1000"}, isr={1: [2]}, leaders={2: 1}
        )
        found.topics["payments"] = Topic([[1]])
        found.topics["__consumer_offsets"] = Topic([[1, 2, 3]], internal=True)
        found.groups["billing"] = {("orders", 0): 40, ("orders", 1): 100}
        found.users["alice"] = {2: 4096}
        found.broker_configs["log.retention.hours"] = "24"
        found.acls.append((2, "orders", 3, "User:bob", "*", 3, 3))
        yield found


@pytest.fixture
def run(broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(Path(__file__).parents[3])

    def run_kap(
        arguments: str, data: str | None = None, env: Mapping[str, str] | None = None
    ) -> Result:
        settings: dict[str, Any] = {"KAP_BOOTSTRAP_SERVER": broker.address, "KAP_TIMEOUT": "5"}
        result = CliRunner().invoke(
            kap,
            shlex.split(arguments),
            input=data,
            env={**settings, **(env or {})},
            prog_name="kap",
        )
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run_kap
