"""Verbs that are flags of Kafka's scripts get a hint: the command that does it, in each command."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner, Result

from kafka_admin_proto.cli.app import kap


def run(*words: str, data: str | None = None) -> Result:
    return CliRunner().invoke(kap, words, data, prog_name="kap")


ROOT = click.Context(kap)
#: Each group of commands, and their names.
GROUPS = [
    (name, command.list_commands(ROOT))
    for name in kap.list_commands(ROOT)
    if isinstance(command := kap.get_command(ROOT, name), click.Group)
]


@pytest.mark.parametrize(("group", "names"), GROUPS)
def test_each_command_is_named_for_its_flag(group: str, names: list[str]) -> None:
    for name in names:
        refused = f"No such option '--{name}'. "
        hint = f"--{name} is the command kap {group} {name}\n"
        for words in ((group,), (group, "--topic", "x"), (group, "--entity-type=topics")):
            result = run(*words, f"--{name}")
            assert (result.exit_code, hint in result.stderr) == (2, True)
        at_the_root = run(f"--{name}")
        assert (at_the_root.exit_code, f"kap {group} {name}" in at_the_root.stderr) == (2, True)
        for other in names if group != "schema" else ():  # whose commands are about files
            result = run(group, other, f"--{name}")
            if refused in result.stderr:  # and it is no option there
                itself = f"Leave --{name} out: kap {group} {name} does it\n"
                assert refused + (itself if other == name else hint) in result.stderr
    assert run(group, "--no-such-option").stderr.endswith("No such option '--no-such-option'.\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("acls --add --allow-principal User:a", "--add is the command kap acls create"),
        ("acls --remove", "--remove is the command kap acls delete"),
        ("configs --describe --entity-type topics", "--describe is the command kap configs get"),
        ("configs --alter", "one of the commands kap configs set, kap configs unset"),
        ("groups --reset-offsets --to-earliest", "is the command kap offsets reset"),
        ("groups --delete-offsets", "--delete-offsets is the command kap offsets delete"),
        ("partitions --execute", "--execute is the command kap partitions reassign"),
        ("partitions reassign --verify", "--verify is the command kap partitions verify"),
        ("users --describe", "--describe is the command kap users list"),
        ("logdirs --describe", "Leave --describe out: kap logdirs does it"),
        ("acls delete --force", "--force of Kafka's scripts is --yes here"),
        ("--execute", "--execute is the command kap partitions reassign"),
        ("reassign --execute", "No such command 'reassign'. There is kap partitions reassign"),
        ("topic list", "No such command 'topic'. Did you mean topics?"),
        ("topics lst", "No such command 'lst'. Did you mean list?"),
        ("topics --topic x", "stands behind a command that has it: kap topics alter, "),
        ("--bootstrap-server x topics list", "a command that has it: kap topics list\n"),
        ("-b x topics list", "-b stands behind a command that has it: kap topics list\n"),
    ],
)
def test_other_names(line: str, said: str) -> None:
    for result in (run(*line.split()), run("shell", "-b", "localhost:1", data=line)):
        assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


def test_scripts_get_the_hint_in_the_object() -> None:
    (error,) = json.loads(run("topics", "--list", "-o", "json").stdout)["errors"]
    assert error["message"] == "No such option '--list'. --list is the command kap topics list"
