"""Questions and ``kap shell`` on a real terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pexpect
import pytest

from kafka_admin_proto.server import SyncCluster

KAP = ["-c", "from kafka_admin_proto.cli import main; main()"]
#: Seconds; the machine may be busy.
PATIENCE = 60

Spawn = Callable[..., "pexpect.spawn[str]"]


@pytest.fixture
def spawn(cluster: SyncCluster, tmp_path: Path) -> Iterator[Spawn]:
    """Starts ``kap`` on a terminal of 80 columns, and ends it with the test."""
    started: list[pexpect.spawn[str]] = []

    def start(*arguments: str, env: Mapping[str, str] | None = None) -> pexpect.spawn[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("KAP_")}
        environment = {
            **kept, "KAP_BOOTSTRAP_SERVER": cluster.bootstrap_servers, "TERM": "xterm",
            "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1", "XDG_STATE_HOME": str(tmp_path),
            **(env or {}),
        }  # fmt: skip
        child = pexpect.spawn(
            sys.executable, [*KAP, *arguments], env=environment, encoding="utf-8",
            timeout=PATIENCE, dimensions=(40, 80),
        )  # fmt: skip
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


def ended(child: pexpect.spawn[str]) -> int | None:
    """The exit code, once the process has ended."""
    child.expect(pexpect.EOF)
    child.close()
    status: int | None = child.exitstatus
    return status


@pytest.mark.parametrize(("said", "code", "left"), [("n", 1, True), ("y", 0, False)])
def test_deleting_asks(
    said: str, code: int, left: bool, spawn: Spawn, cluster: SyncCluster
) -> None:
    child = spawn("topics", "delete", "orders", "--output", "json")
    child.expect("Delete topic orders and all its records")
    child.sendline(said)
    child.expect('"errors": \\[')
    assert ended(child) == code
    assert ("orders" in cluster.state.topic_names) is left


def test_a_password_is_asked_for_and_not_echoed(spawn: Spawn, cluster: SyncCluster) -> None:
    child = spawn("users", "set", "carol")
    child.expect("New password of carol:")
    child.sendline("pa55word")
    child.expect("Repeat")
    child.sendline("pa55word")
    child.expect("password set: carol")
    assert "pa55word" not in (child.before or "")
    assert ended(child) == 0
    assert cluster.state.cluster.scram_users["carol", 2].iterations == 4096


@pytest.mark.exhaustive
def test_the_shell(spawn: Spawn, cluster: SyncCluster, tmp_path: Path) -> None:
    child = spawn("shell")
    child.expect("help lists the commands")
    child.expect("kap>")
    child.send("topics describe ord\t")  # completed from the cluster
    child.expect("ers")
    child.send("\r")
    child.expect("topic orders, id ")
    child.expect("kap>")
    child.send("configs set --topic orders sasl.jaas.config=hunter2\r")
    child.expect("may be a credential")
    child.expect("kap>")
    child.send("topics list --output tsv\r")
    child.expect("payments\t1")
    child.expect("kap \\(tsv\\)>")  # remembered
    child.send("topics list\r")
    child.expect("payments\t1")
    child.expect("kap \\(tsv\\)>")
    cluster.faults.add(api="ListGroups", drop="request")
    child.send("groups list\r")
    cluster.wait_for(lambda: len(cluster.requests.of("ListGroups")) == 3, PATIENCE)
    child.sendcontrol("c")  # ends the command, not the shell
    child.expect("stopped by Ctrl-C")
    child.expect("kap \\(tsv\\)>")
    child.send("nonsense 'open\r")
    child.expect("no closing quotation")
    child.expect("kap \\(tsv\\)>")
    child.send("cluster describe\r")
    child.expect("1\t127.0.0.1")
    child.expect("kap \\(tsv\\)>")
    child.sendcontrol("d")
    assert ended(child) == 0
    connections = len(cluster.requests.of("ApiVersions"))
    assert connections <= 5, "one to each broker is kept between commands, until Ctrl-C"
    history = tmp_path / "kap" / "history"
    assert "topics list" in history.read_text()
    assert "hunter2" not in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


def test_tables_fit_80_columns(spawn: Spawn) -> None:
    child = spawn("topics", "describe", "--lag")
    child.expect(pexpect.EOF)
    shown = child.before or ""
    assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|9[0-7])m", shown)  # NO_COLOR
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert any("orders" in line for line in lines)
    assert max(map(len, lines)) <= 80
