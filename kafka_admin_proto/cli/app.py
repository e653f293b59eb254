"""The command group, and what belongs to no group of its own."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

import kafka_admin_proto
from kafka_admin_proto.cli.decode import decode
from kafka_admin_proto.cli.error import error
from kafka_admin_proto.cli.explain import explain_command
from kafka_admin_proto.cli.metadata import metadata
from kafka_admin_proto.cli.schema import schema


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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


kap.add_command(decode)
kap.add_command(error)
kap.add_command(explain_command)
kap.add_command(metadata)
kap.add_command(schema)
