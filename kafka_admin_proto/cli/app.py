"""The command group, and what belongs to no group of its own."""

from __future__ import annotations

import importlib
from typing import Any

import click
from click.shell_completion import get_completion_class

import kafka_admin_proto
from kafka_admin_proto.cli import closed_pipe

#: Command → its module and name there; imported when it is asked for.
_COMMANDS = {
    "decode": ("decode", "decode"),
    "error": ("error", "error"),
    "explain": ("explain", "explain_command"),
    "metadata": ("metadata", "metadata"),
    "pipeline": ("pipeline", "pipeline"),
    "report": ("report", "report"),
    "schema": ("schema", "schema"),
}


class _Commands(click.Group):
    """A group whose commands cost nothing until they are used."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted([*super().list_commands(context), *_COMMANDS])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return super().get_command(context, name)
        module, attribute = _COMMANDS[name]
        found: click.Command = getattr(
            importlib.import_module(f"kafka_admin_proto.cli.{module}"), attribute
        )
        return found

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        with closed_pipe.noticed():  # --help and --version write here
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with closed_pipe.noticed():
            return super().invoke(ctx)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(kafka_admin_proto.__version__, prog_name="kap")
def kap() -> None:
    """Kafka's wire protocol, read and shown.

    \b
    Exit codes: 0 fine, 1 something did not decode, 2 usage.
    """


@kap.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell, for the name the program was called by.

    \b
    Example:
      kap completion bash >> ~/.bashrc
    """
    found = get_completion_class(shell)
    assert found is not None
    # Not `.source()` of the base class: bash's own asks for a bash that may not be installed.
    name = context.find_root().info_name or "kap"
    variable = f"_{name}_COMPLETE".replace("-", "_").upper()
    complete = found(kap, {}, name, variable)
    click.echo(complete.source_template % complete.source_vars())
