"""What ``kap shell`` makes of a line, and what Tab makes of its beginning."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pexpect
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from kafka_admin_proto.cli.admin.common.live import ShellState
from kafka_admin_proto.cli.admin.common.settings import Settings
from kafka_admin_proto.cli.shell.completer import CommandCompleter
from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.conftest import Run
from tests.helpers.kap import ended, run_kap
from tests.helpers.requirements import skip_or_fail


@pytest.mark.parametrize("space", ["", " "], ids=["joined", "apart"])
@pytest.mark.parametrize(
    ("sign", "outside"),
    [
        ("|", "kap COMMAND | PROGRAM"),
        (">", "kap COMMAND > FILE"),
        (">>", "kap COMMAND > FILE"),
        ("<", "kap COMMAND < FILE"),
        ("&&", "kap COMMAND && kap COMMAND"),
        ("||", "kap COMMAND && kap COMMAND"),
        (";", "kap COMMAND && kap COMMAND"),
        ("&", "kap COMMAND && kap COMMAND"),
    ],
)
def test_signs_of_the_systems_shell_are_refused(
    sign: str, outside: str, space: str, cluster: SyncCluster
) -> None:
    lines = f"topics delete orders --yes{space}{sign}{space}less\n"
    result = ended(run_kap("shell -b", cluster.bootstrap_servers, data=lines), 2)
    assert result.stderr.startswith(f"kap: {sign} is of the system's shell")
    assert outside in result.stderr
    assert "orders" in cluster.state.topic_names, "no part of the line is run"


@pytest.mark.parametrize(
    "line",
    [
        "topics list --topic 'orders|payments'",
        'topics list --topic "orders|payments"',
        r"topics list --topic orders\|payments",
        "topics list --topic 'o.*' --topic \"p.*\"  # both; or | none",
    ],
)
def test_quoted_signs_are_parts_of_words(line: str, cluster: SyncCluster) -> None:
    options = ["shell", "-b", cluster.bootstrap_servers, "-o", "tsv"]
    result = run_kap(*options, data=f"{line}\n")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [row.split("\t")[0] for row in result.stdout.splitlines()] == ["orders", "payments"]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("help topics", 0, "Usage: kap topics"),
        ("kap topics list --topic orders", 0, "orders"),
        ("topics 'list", 2, "no closing quotation"),
        ("shell", 2, "kap: shell: "),
        ("exit", 0, ""),
    ],
)
def test_lines_that_end(line: str, code: int, said: str, cluster: SyncCluster) -> None:
    """The code is the highest of all lines; what follows the end is not run."""
    lines = f"{line}\n\nexit\ntopics delete orders --yes\n"
    result = run_kap("shell -b", cluster.bootstrap_servers, data=lines)
    assert result.exit_code == code
    assert said in result.output
    assert "orders" in cluster.state.topic_names


@pytest.fixture
def completer(cluster: SyncCluster) -> Iterator[CommandCompleter]:
    state = ShellState(Settings(bootstrap_server=cluster.bootstrap_servers))
    yield CommandCompleter(state)
    state.connection.close()


@pytest.mark.parametrize(
    ("before", "behind", "offered"),
    [
        ("top", "", ["topics "]),
        ("topics describe ord", "", ["orders "]),
        ("topics describe ord", " --lag", ["orders"]),
        ("topics list --ou", "", ["--output "]),
        ("topics create x --config retention.m", "", ["retention.ms="]),
        ("configs set --topic orders retention.m", "", ["retention.ms="]),
        ("configs unset --topic orders retention.m", "", ["retention.ms "]),
        ("kap groups describe b", "", ["billing "]),
    ],
)
def test_a_completed_word_has_its_space(
    before: str, behind: str, offered: list[str], completer: CommandCompleter
) -> None:
    document = Document(before + behind, len(before))
    found = list(completer.get_completions(document, CompleteEvent()))
    assert [each.text for each in found] == offered


PATIENCE = 60


@pytest.fixture
def environment(cluster: SyncCluster, tmp_path: Path) -> dict[str, str]:
    """Variables with which a shell finds ``kap`` and the cluster, and nobody's settings."""
    program = tmp_path / "bin" / "kap"
    program.parent.mkdir()
    script = "from kafka_admin_proto.cli import main; main()"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{script}" "$@"\n')
    program.chmod(0o755)
    # The module knows its name by argv[0], which -c has not: "kap" is its default.
    return {
        "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb",
        "KAP_BOOTSTRAP_SERVER": cluster.bootstrap_servers, "LC_ALL": "C.UTF-8",
    }  # fmt: skip


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        skip_or_fail(f"{name} is not installed (Debian package {name})")
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "options", "setup"),
    [
        ("bash", ["--norc", "--noprofile", "-i"], 'eval "$(kap completion bash)"'),
        ("zsh", ["-f", "-i"], 'autoload -Uz compinit; compinit -u; eval "$(kap completion zsh)"'),
    ],
)
def test_tab_completes_a_topic(
    name: str, options: list[str], setup: str, environment: dict[str, str]
) -> None:
    child = pexpect.spawn(
        shell(name), options, env=environment, encoding="utf-8", timeout=PATIENCE
    )  # fmt: skip
    try:
        child.sendline(f"{setup}; echo rea''dy")
        child.expect("ready")
        child.send("kap topics describe paym\t")
        child.expect("payments")
        child.sendcontrol("u")
        child.send("kap configs set --topic orders retention.m\t")
        child.expect("s=")
        child.send("5\r")  # behind the sign at once
        child.expect("set for 1 of 1")
    finally:
        child.close(force=True)


def test_fish_completes_a_topic(environment: dict[str, str]) -> None:
    script = 'kap completion fish | source; complete -C "kap topics describe --topic paym"'
    done = subprocess.run(
        [shell("fish"), "--no-config", "-c", script],
        env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert "payments" in done.stdout, done.stderr


_ALTER_TOPIC = ("AlterTopicRequest", "AlterTopicResponse")


def complete(run: Run, words: str, **env: str) -> list[str]:
    """What bash is offered behind these words."""
    count = len(words.split()) - (0 if words.endswith(" ") else 1)
    result = run("", env={"_KAP_COMPLETE": "bash_complete", "COMP_WORDS": words,
                          "COMP_CWORD": str(count), **env})  # fmt: skip
    assert result.stderr == ""
    return [line.partition(",")[2] for line in result.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("kap topics describe ", ["__consumer_offsets", "orders", "payments"]),
        ("kap topics list --topic or", ["orders"]),
        ("kap topics create x --config retention.m", ["retention.ms="]),
        ("kap topics alter x --delete-config retention.m", ["retention.ms"]),
        ("kap configs get --broker ", ["1", "2", "3"]),
        ("kap configs set --topic orders retention.m", ["retention.ms="]),
        ("kap configs set --topic orders --append cleanup", ["cleanup.policy="]),
        ("kap configs set --broker 1 log.cleaner.t", ["log.cleaner.threads="]),
        ("kap configs set --broker-defaults log.cleaner.t", ["log.cleaner.threads="]),
        ("kap configs unset --topic orders retention.m", ["retention.ms"]),
        ("kap configs unset --topic orders log.cleaner.t", []),
        (
            "kap configs unset --entity-type brokers --entity-name 1 log.cleaner.t",
            ["log.cleaner.threads"],
        ),
        ("kap configs get --group billing --key consumer.s", ["consumer.session.timeout.ms"]),
        ("kap groups describe ", ["billing"]),
        ("kap topics list --output j", ["json", "jsonl"]),
        ("kap request CreateTop", ["CreateTopics"]),
        ("kap request --dialect kip-4b CreateTop", ["CreateTopic", "CreateTopics"]),
        ("kap request --dialect kip-4a altert", ["AlterTopic"]),
        ("kap request --dialect kip-4a Metad", ["Metadata"]),
        ("kap decode --dialect kip-4a --api altert", ["AlterTopic", *_ALTER_TOPIC]),
        ("kap schema show kip-4a:Alter", [f"kip-4a:{n}" for n in ("AlterTopic", *_ALTER_TOPIC)]),
        ("kap error --dialect kip-4b decrease", ["DecreasePartitionsNotAllowed"]),
    ],
)
def test_values_come_from_the_cluster(words: str, offered: list[str], run: Run) -> None:
    assert complete(run, words) == offered


def test_without_a_cluster_it_is_silent_and_quick(run: Run, cluster: SyncCluster) -> None:
    assert complete(run, "kap topics describe ", KAP_BOOTSTRAP_SERVER="localhost:1") == []
    assert complete(run, "kap topics describe ", KAP_BOOTSTRAP_SERVER="") == []
    cluster.faults.add(api="Metadata", drop="request")
    start = time.monotonic()
    assert complete(run, "kap topics describe ") == []
    assert time.monotonic() - start < 10


def test_tab_asks_for_no_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The prompt has the terminal, and completion runs in a thread beside it."""
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n")
    asked: list[str] = []

    def prompt(text: str, **_: object) -> str:
        asked.append(text)
        return "x"

    monkeypatch.setenv("KAP_SASL_USERNAME", "alice")
    monkeypatch.delenv("KAP_SASL_PASSWORD", raising=False)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("click.prompt", prompt)
    state = ShellState(Settings(bootstrap_server="localhost:1", command_config=str(config)))

    async def names(client: object) -> list[str]:
        return ["orders"]

    thread = threading.Thread(target=state.names, args=("topics", names))
    thread.start()
    thread.join(60)
    assert not asked
    assert state.connection.ask(names) == ["orders"]
    assert asked == ["Password of alice"]
    state.connection.close()
