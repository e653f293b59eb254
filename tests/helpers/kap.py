"""``kap`` in the process of the tests."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from click.testing import CliRunner, Result

from kafka_admin_proto.cli.app import kap


def run_kap(
    line: str,
    *words: str,
    data: str | bytes | None = None,
    env: Mapping[str, str | None] | None = None,
) -> Result:
    """The result of a command line, which ``words`` end as they are; ``data`` is standard input.

    An error that is none of the command's own is raised.
    """
    result = CliRunner().invoke(kap, [*shlex.split(line), *words], data, env, prog_name="kap")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def ended(result: Result, code: int = 0) -> Result:
    """The same result, of a command line that has left with this code; 2 is a mistake in usage."""
    assert result.exit_code == code, result.output
    return result
