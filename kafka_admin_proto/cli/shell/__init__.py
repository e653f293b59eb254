"""``kap shell``: the commands of kap at a prompt, over one connection."""

from __future__ import annotations

import sys

from kafka_admin_proto.cli.admin.common.live import ShellState
from kafka_admin_proto.cli.admin.common.settings import Settings, shared_options
from kafka_admin_proto.cli.given_once import GivenOnceCommand

__all__ = ["shell"]


def _shell(**given: object) -> None:
    """Run commands at a prompt: without "kap" in front, over one connection.

    Tab completes commands, options, and names that the cluster has. An --output that is given
    stays for the commands after it. Ctrl-C ends a command, Ctrl-D the shell. The history leaves
    out lines that may hold a credential. Without a terminal the commands come from standard
    input, a line each.

    \b
    Examples:
      kap shell --bootstrap-server localhost:9092
      kap shell --output json < commands.txt
    """
    settings = Settings(**given)  # type: ignore[arg-type]  # the shared options
    settings.check()
    from kafka_admin_proto.cli.shell.session import run_lines, run_prompt

    state = ShellState(settings)
    try:
        if sys.stdin.isatty() and sys.stdout.isatty():
            run_prompt(state)
        else:
            sys.exit(run_lines(state, sys.stdin))
    finally:
        state.connection.close()


shell = GivenOnceCommand(
    "shell",
    callback=_shell,
    help=_shell.__doc__,
    short_help="Run commands at a prompt, over one connection.",
    params=shared_options("table"),
)
