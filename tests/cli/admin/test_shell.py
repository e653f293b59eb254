"""What ``kap shell`` makes of a line, and what Tab makes of its beginning."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from kafka_admin_proto.cli.admin.common.live import ShellState
from kafka_admin_proto.cli.admin.common.settings import Settings
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.cli.shell.completer import CommandCompleter
from kafka_admin_proto.server import SyncCluster


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
    result = CliRunner().invoke(kap, ["shell", "-b", cluster.bootstrap_servers], input=lines)
    assert result.exit_code == 2
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
    result = CliRunner().invoke(kap, options, input=f"{line}\n")
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
    result = CliRunner().invoke(kap, ["shell", "-b", cluster.bootstrap_servers], input=lines)
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
