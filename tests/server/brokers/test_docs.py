"""What docs/server-brokers.md shows runs, and its words are commands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from kafka_admin_proto.cli.server.control import COMMANDS
from kafka_admin_proto.server import SyncCluster

_PAGE = (Path(__file__).parents[3] / "docs" / "server-brokers.md").read_text("utf-8")


def test_the_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", _PAGE, re.DOTALL)
    (line,) = re.findall(r"cluster\.broker_states +# (.*)", code)
    seen: list[dict[int, str]] = []
    exec(f"{code}    seen.append(cluster.broker_states)", {"seen": seen})
    assert seen == [eval(line)]


def test_a_killed_controller_is_fenced_after_the_two_waits_together() -> None:
    assert "after that time and `broker.session.timeout.ms` together (11 s by default)" in _PAGE
    with SyncCluster(3) as cluster:
        active = cluster.state.controller
        cluster.kill_broker(active)
        fenced = []
        for seconds in (1.9, 9, 0.2):
            cluster.clock.advance(seconds)
            fenced.append(cluster.state.cluster.brokers[active].fenced)
        assert fenced == [False, False, True]


def test_the_words_are_commands() -> None:
    rows = re.findall(r"^\| (`[a-z].*?) \| (.*?) \|", _PAGE, re.MULTILINE)
    words = [shlex.split(text)[0] for row in rows for text in re.findall(r"`(.*?)`", row[0])]
    assert {*words} == {each.split()[0] for each in COMMANDS}
    calls = [call for row in rows for call in re.findall(r"`(\w+)", row[1])]
    assert all(hasattr(SyncCluster, each) for each in calls)
