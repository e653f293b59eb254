"""``kap serve-control``: brokers of a running ``kap serve`` stopped, started and fenced."""

from __future__ import annotations

from pathlib import Path

import click

from kafka_admin_proto.server.brokers.control import COMMANDS, send

_WIDTH = max(map(len, COMMANDS))
_LINES = "\n".join(f"  {each:{_WIDTH}}  {what}" for each, what in COMMANDS.items())


@click.command(
    help=f"""Give a command to the cluster whose kap serve has --control SOCKET.

    \b
{_LINES}

    \b
    Example:
      kap serve-control /tmp/cluster.sock stop 2
    """,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("socket", type=click.Path(path_type=Path))
@click.argument("command", nargs=-1, required=True)
def serve_control(socket: Path, command: tuple[str, ...]) -> None:
    """Print the answer; an error is one on stderr, with exit code 1."""
    try:
        answer = send(socket, " ".join(command))
    except OSError as error:
        raise click.UsageError(
            f"no cluster answers at {socket}: {error.strerror or error}; start it with "
            f"kap serve --control {socket}"
        ) from None
    if answer.startswith("error: "):
        raise click.ClickException(answer.removeprefix("error: "))
    click.echo(answer)
