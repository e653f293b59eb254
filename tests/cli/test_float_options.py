"""Options that take floats refuse what is no number, by their own names."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from kafka_admin_proto.cli.app import kap
from tests.cli.admin.commands import all_commands

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
        result = CliRunner().invoke(kap, [*path.split(), f"{name}={value}"])
        assert (result.exit_code, f"Invalid value for '{name}'" in result.output) == (2, True)
