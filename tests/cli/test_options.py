"""Options of all commands: given once, floats that are numbers, and flags of Kafka's scripts."""

from __future__ import annotations

import json

import click
import pytest

from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.cli.given_once import GivenOnceCommand
from tests.cli.admin.commands import all_commands
from tests.helpers.kap import ended, run_kap


@pytest.mark.parametrize(
    ("path", "command"), [(path, command) for path, command in all_commands()], ids=str
)
def test_a_value_that_would_count_for_nothing_is_refused(path: str, command: click.Command) -> None:
    assert isinstance(command, GivenOnceCommand)
    for option in command.params:
        if not isinstance(option, click.Option) or option.is_flag or option.is_eager:
            continue
        for name in option.opts:
            value = ["1"] * option.nargs
            twice = [name, *value, option.opts[-1], *value]
            result = run_kap(path, *twice)
            said = f"{option.opts[0]} is given twice, and takes one value"
            assert (said in " ".join(result.output.split())) is not option.multiple, twice
            assert result.exit_code != 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ping --timeout 3 --timeout 5 --timeout=7", "--timeout is given 3 times, and takes one"),
        ("ping -b a:1 --bootstrap-server b:1", "--bootstrap-server is given twice"),
        ("decode --request --response x", "--request and --response exclude each other"),
        ("decode --no-body --body x", "--body/--no-body is given twice, and takes one value"),
    ],
)
def test_the_sentence(words: str, said: str) -> None:
    assert said in ended(run_kap(words), 2).output


@pytest.mark.parametrize(
    "words", ["decode --no-body -- --body", "decode --no-body --topic --body x"]
)
def test_what_is_no_option_counts_for_none(words: str) -> None:
    """A file and a value may look like one: here the file does not exist."""
    result = run_kap(words)
    assert "No such file" in result.output


@pytest.mark.parametrize(
    "words", ["ping --timeout 3 --timeout 5 --help", "decode --request --request --help"]
)
def test_help_is_given_behind_a_mistake(words: str) -> None:
    result = run_kap(words)
    assert (result.exit_code, result.output[:6]) == (0, "Usage:")


#: Options for which an endless time has a meaning: no end of waiting, changes that never arrive.
ENDLESS = {"--timeout", "--propagation-delay"}
FLOATS = [
    (path, option)
    for path, command in all_commands()
    for option in command.params
    if isinstance(option.type, click.types.FloatParamType)
]


def test_there_are_such_options() -> None:
    names = {option.opts[0] for _, option in FLOATS}
    assert names == ENDLESS | {"--slower-than"}


@pytest.mark.parametrize(("path", "option"), FLOATS, ids=lambda each: str(each))
def test_a_float_option_takes_numbers(path: str, option: click.Parameter) -> None:
    name = option.opts[0]
    wrong = ["nan", "-NaN"] + ([] if name in ENDLESS else ["inf", "-inf", "1e999"])
    for value in wrong:
        assert f"Invalid value for '{name}'" in ended(run_kap(path, f"{name}={value}"), 2).output


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
            result = run_kap(*words, f"--{name}")
            assert (result.exit_code, hint in result.stderr) == (2, True)
        assert f"kap {group} {name}" in ended(run_kap(f"--{name}"), 2).stderr
        for other in names if group != "schema" else ():  # whose commands are about files
            result = run_kap(group, other, f"--{name}")
            if refused in result.stderr:  # and it is no option there
                itself = f"Leave --{name} out: kap {group} {name} does it\n"
                assert refused + (itself if other == name else hint) in result.stderr
    assert run_kap(group, "--no-such-option").stderr.endswith(
        "No such option '--no-such-option'.\n"
    )


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
    for result in (run_kap(*line.split()), run_kap("shell", "-b", "localhost:1", data=line)):
        assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


def test_scripts_get_the_hint_in_the_object() -> None:
    (error,) = json.loads(run_kap("topics", "--list", "-o", "json").stdout)["errors"]
    assert error["message"] == "No such option '--list'. --list is the command kap topics list"


def test_output_has_its_short_form_in_every_command() -> None:
    short = {
        f"{path} {option.opts[0]}": option.opts
        for path, command in all_commands()
        for option in command.get_params(click.Context(command))
        if "--output" in option.opts
    }
    assert {"decode --output", "topics list --output"} <= short.keys()
    assert [name for name, opts in short.items() if "-o" not in opts] == []
