"""Options of one value are given once, in every command; flags do not say opposite things."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.cli.given_once import GivenOnceCommand
from tests.cli.admin.commands import all_commands


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
            result = CliRunner().invoke(kap, [*path.split(), *twice])
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
    result = CliRunner().invoke(kap, words.split())
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize(
    "words", ["decode --no-body -- --body", "decode --no-body --topic --body x"]
)
def test_what_is_no_option_counts_for_none(words: str) -> None:
    """A file and a value may look like one: here the file does not exist."""
    result = CliRunner().invoke(kap, words.split())
    assert "No such file" in result.output


@pytest.mark.parametrize(
    "words", ["ping --timeout 3 --timeout 5 --help", "decode --request --request --help"]
)
def test_help_is_given_behind_a_mistake(words: str) -> None:
    result = CliRunner().invoke(kap, words.split())
    assert (result.exit_code, result.output[:6]) == (0, "Usage:")


def test_output_has_its_short_form_in_every_command() -> None:
    short = {
        f"{path} {option.opts[0]}": option.opts
        for path, command in all_commands()
        for option in command.get_params(click.Context(command))
        if "--output" in option.opts
    }
    assert {"decode --output", "topics list --output"} <= short.keys()
    assert [name for name, opts in short.items() if "-o" not in opts] == []
