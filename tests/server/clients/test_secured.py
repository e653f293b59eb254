"""A real cluster with StandardAuthorizer and users who log in, and ours: drawn steps, Java's tools.

``KAFKA_ADMIN_PROTO_SECURED_STEPS`` is how many steps are drawn; CI takes 60.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.server.clients.normalised import normalised
from tests.server.clients.pair import Pair, Side
from tests.server.differential.real_cluster import run_secured
from tests.server.differential.requests.security import PASSWORDS
from tests.server.differential.sides import Sides
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("live secured clients")]

_STEPS = int(os.environ.get("KAFKA_ADMIN_PROTO_SECURED_STEPS", "60"))
_SCRIPT = Path(__file__).parent / "secured_commands.txt"
_NOBODY = "-"


def test_drawn_steps(secured_sides: Sides) -> None:
    run_secured(secured_sides, _STEPS)
    assert secured_sides.steps >= _STEPS / 2


@pytest.mark.explore
def test_javas_tools(secured_sides: Sides, tmp_path: Path) -> None:
    sides = secured_sides
    sides.reset()
    for name, password in PASSWORDS.items():
        (tmp_path / name).write_text(_login(name, password))
    first, second = (Side(sides.address(side), sides.address(side)) for side in (0, 1))
    pair = Pair(NEWEST, first, second)
    tools = KafkaTools(fetch_runtime(NEWEST))
    wrong = []
    try:
        lines = [each for each in _SCRIPT.read_text().splitlines() if not each.startswith("#")]
        for line in lines:
            who, *words = shlex.split(line.removeprefix("! "))

            def asked(side: Side, who: str = who, words: list[str] = words) -> str:
                number = (pair.real, pair.ours).index(side)
                where = sides.address(number, "" if who == _NOBODY else who)
                login = [] if who == _NOBODY else ["--command-config", str(tmp_path / who)]
                outcome = tools.outcome(*words, "--bootstrap-server", where, *login)
                text = f"{outcome.status}\n{outcome.stdout}\n--\n{outcome.stderr}"
                shown = normalised(text.replace(where, side.bootstrap), side, tmp_path)
                return "\n".join(sorted(shown.splitlines()))  # ACLs stand as they hash

            ask = pair.change if line.startswith("! ") else pair.question
            real, ours = ask(asked)
            wrong += [] if real == ours else [(line, real, ours)]
    finally:
        tools.close()
    assert wrong == []
    assert len(lines) > 60


def _login(name: str, password: str) -> str:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return (
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f'sasl.jaas.config={module} required username="{name}" password="{password}";\n'
    )
