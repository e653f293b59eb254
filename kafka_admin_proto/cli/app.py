"""The command group, and what belongs to no group of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

import kafka_admin_proto
from kafka_admin_proto.cli import closed_pipe
from kafka_admin_proto.cli.interrupted import INTERRUPTED
from kafka_admin_proto.cli.lazy_group import LazyGroup

#: Command → its module and name there; imported when it is asked for.
_COMMANDS = {
    "decode": ("captures.decode", "decode"),
    "error": ("definitions.error", "error"),
    "explain": ("captures.explain", "explain_command"),
    "metadata": ("logs.metadata", "metadata"),
    "pipeline": ("pipeline.pipeline", "pipeline"),
    "proxy": ("server.proxy", "proxy"),
    "report": ("pipeline.report", "report"),
    "schema": ("definitions.schema", "schema"),
    "serve": ("server.serve", "serve"),
    "serve-control": ("server.control", "serve_control"),
    "simulate": ("simulation.simulate", "simulate"),
}
_CLUSTER_COMMANDS = {
    "acls": ("admin.acls", "acls"),
    "cluster": ("admin.cluster", "cluster"),
    "configs": ("admin.configs", "configs"),
    "consume": ("admin.records.consume", "consume"),
    "groups": ("admin.groups", "groups"),
    "leaders": ("admin.leaders", "leaders"),
    "logdirs": ("admin.cluster", "logdirs"),
    "offsets": ("admin.records.offsets", "offsets"),
    "partitions": ("admin.partitions", "partitions"),
    "ping": ("admin.cluster", "ping"),
    "produce": ("admin.records.produce", "produce"),
    "producers": ("admin.transactions", "producers"),
    "quorum": ("admin.cluster", "quorum"),
    "request": ("admin.request.command", "request"),
    "shell": ("shell", "shell"),
    "tokens": ("admin.tokens", "tokens"),
    "topics": ("admin.topics", "topics"),
    "transactions": ("admin.transactions", "transactions"),
    "users": ("admin.users", "users"),
}

#: Lines of click's scripts for bash and zsh → the same without a space behind NAME=, where a value
#: follows; fish leaves it out by itself.
_JOINED = {
    "    return 0\n": "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n    return 0\n",
    "compadd -U -V unsorted -a completions": "if [[ $completions[1] == *= ]]; then\n"
    "            compadd -U -V unsorted -S '' -a completions\n        else\n"
    "            compadd -U -V unsorted -a completions\n        fi",
}


@contextmanager
def _reported() -> Iterator[None]:
    """Notice a closed pipe and Ctrl-C, and make errors printable: they may name files and topics.

    A prompt makes `click.Abort` of Ctrl-C, and of the end of the input, which is no interrupt.
    """
    with closed_pipe.noticed():
        try:
            yield
        except (KeyboardInterrupt, click.Abort) as error:
            if not any(isinstance(e, KeyboardInterrupt) for e in (error, error.__context__)):
                raise
            click.echo("stopped by Ctrl-C", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        except click.ClickException as error:
            from kafka_admin_proto.render.text import printable

            vars(error)["message"] = "\n".join(map(printable, error.message.split("\n")))
            raise


class _Commands(LazyGroup):
    """All commands; those for a cluster are listed apart."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in (
            ("Commands for bytes and files", [*_COMMANDS, "completion"]),
            ("Commands for a cluster", list(_CLUSTER_COMMANDS)),
        ):
            commands = [(name, self.get_command(context, name)) for name in sorted(names)]
            rows = [(name, each.get_short_help_str(60)) for name, each in commands if each]
            with formatter.section(title):
                formatter.write_dl(rows)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        with _reported():  # --help and --version write here
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _reported():
            return super().invoke(ctx)


@click.group(
    cls=_Commands,
    lazy={**_COMMANDS, **_CLUSTER_COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(kafka_admin_proto.__version__, prog_name="kap")
def kap() -> None:
    """Kafka's wire protocol, read and shown, and clusters administered over it.

    \b
    Exit codes: 0 fine, 1 something did not decode, or the cluster answered with
    an error or not at all, 2 usage, 130 Ctrl-C.
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
    from click.shell_completion import get_completion_class  # seldom wanted

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    # Not `.source()` of the base class: bash's own asks for a bash that may not be installed.
    name = context.find_root().info_name or "kap"
    variable = f"_{name}_COMPLETE".replace("-", "_").upper()
    complete = completion_class(kap, {}, name, variable)
    script = complete.source_template % complete.source_vars()
    for line, joined in _JOINED.items():
        script = script.replace(line, joined)
    click.echo(script)
