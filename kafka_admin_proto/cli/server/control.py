"""``kap serve-control``: brokers of a running ``kap serve`` stopped, started and fenced."""

from __future__ import annotations

from pathlib import Path

import click

from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.control_socket import send, usage_fault
from kafka_admin_proto.faults.commands import COMMANDS as OF_FAULTS
from kafka_admin_proto.server.brokers.control import COMMANDS as OF_BROKERS

COMMANDS = {**OF_BROKERS, **OF_FAULTS}
_WIDTH = max(map(len, COMMANDS))
_LINES = "\n".join(f"  {each:{_WIDTH}}  {what}" for each, what in COMMANDS.items())


@click.command(
    cls=GivenOnceCommand,
    help=f"""Give a command to the kap serve or kap proxy that has --control SOCKET.

    \b
{_LINES}

    \b
    Example:
      kap serve-control /tmp/cluster.sock stop 2

    A proxy has the commands of faults only.

    A command that finds all so already says it, as in "ok: broker 2 was ended already".

    \b
    Exit codes: 0 done, or so already; 1 refused by the cluster; 2 usage, or no
    cluster answers at SOCKET.
    """,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("socket", type=click.Path(path_type=Path))
@click.argument("command", nargs=-1, required=True)
def serve_control(socket: Path, command: tuple[str, ...]) -> None:
    """Print the answer; an error is one on stderr."""
    if fault := usage_fault(COMMANDS, " ".join(command).split()):
        raise click.UsageError(fault)
    try:
        answer = send(socket, " ".join(command))
    except TimeoutError:
        raise click.ClickException(
            f"the process at {socket} says nothing: it may be stopped, or busy, and may still do it"
        ) from None
    except OSError as error:
        raise click.UsageError(
            f"no cluster answers at {socket}: {error.strerror or error}; start it with "
            f"kap serve --control {socket}"
        ) from None
    if answer.startswith("error: "):
        raise click.ClickException(answer.removeprefix("error: "))
    click.echo(answer)
