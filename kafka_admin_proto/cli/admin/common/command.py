"""A command for a cluster: takes the shared options, runs, writes one answer, ends with its code.

@topics.command("list", cls=ClusterCommand, items="topics")
@click.option("--topic", multiple=True)
def list_topics(live: Live, topic: tuple[str, ...]) -> Answer: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, write, yaml
from kafka_admin_proto.cli.admin.common.confirm import DeclinedError
from kafka_admin_proto.cli.admin.common.settings import (
    SharedOption,
    is_said,
    shared_options,
    split_settings,
)
from kafka_admin_proto.cli.admin.common.usage import write_failure
from kafka_admin_proto.cli.lazy_group import LazyGroup, ScriptableCommand
from kafka_admin_proto.errors import KafkaAdminProtoError

if TYPE_CHECKING:
    from kafka_admin_proto.cli.admin.common.live import ShellState


class ClusterCommand(ScriptableCommand):
    """``items`` names the list in the document that the answer is about: JSON lines are its items.

    A failure of the whole command has that list too, empty. ``default_output`` is how it is
    written where nothing is asked for. ``operations`` are the classes of operations that it uses,
    as "topics.descriptions:DescribeTopics": it then starts faster than with all of them.
    ``waits``: it waits until every broker has a change, which --timeout 0 leaves out.
    """

    def __init__(
        self,
        name: str | None,
        *,
        items: str | None = None,
        default_output: str = "table",
        operations: Sequence[str] = (),
        waits: bool = False,
        params: list[click.Parameter],
        **extra: Any,
    ) -> None:
        super().__init__(name, params=[*params, *shared_options(default_output)], **extra)
        self.items = items
        self.default_output = default_output
        self.operations = operations
        self.waits = waits

    def invoke(self, ctx: click.Context) -> Any:
        from kafka_admin_proto.cli.admin.common.live import Live

        shell: ShellState | None = ctx.obj
        settings, parameters = split_settings(ctx, None if shell is None else shell.settings)
        if shell is not None:  # the output that was asked for stays for later commands
            kept = msgspec.structs.replace(shell.settings, output=settings.output)
            shell.settings = kept
            shell.forget_names()
        live = Live(settings, shell, self.default_output, self.operations)
        assert self.callback is not None
        if live.output == "yaml":
            yaml()  # before anything is done: without the library there is no answer
        try:
            if settings.timeout == 0 and not self.waits and is_said(ctx, "timeout"):
                raise click.UsageError(
                    "--timeout 0 is for commands that wait until every broker has a change, which "
                    f"kap {self.name} does not: give it more time, or leave it out",
                    ctx,
                )
            with live:
                answer = ctx.invoke(self.callback, live, **parameters)
        except DeclinedError as error:
            write_failure(live.output, failures.DECLINED, error, self.items)
            raise
        except click.UsageError as error:
            write_failure(live.output, failures.USAGE, error, self.items)
            raise
        except (KeyboardInterrupt, click.Abort):
            interrupted = click.ClickException("interrupted")
            write_failure(live.output, failures.INTERRUPTED, interrupted, self.items)
            raise
        except (KafkaAdminProtoError, ValueError) as error:
            if failures.is_usage(error):
                usage = click.UsageError(str(error), ctx)
                write_failure(live.output, type(error).__name__, usage, self.items)
                raise usage from error
            document: Row = {} if self.items is None else {self.items: []}
            answer = Answer(document=document, tables=(), errors=[failures.of_exception(error)])
        write(answer, live.output, self.items)
        if answer.exit_code:
            ctx.exit(answer.exit_code)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options first, then those that all such commands have."""
        own: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                (shared if isinstance(parameter, SharedOption) else own).append(record)
        for title, records in (("Options", own), ("Options of all commands for a cluster", shared)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


#: What an option is applied to.
Function = Callable[..., Answer]
Option = Callable[[Function], Function]


def lazy_group(name: str, help: str, elsewhere: Mapping[str, str] | None = None) -> LazyGroup:
    """A group of commands; ``elsewhere``: name of a command → the module here that has it."""
    lazy = {each: (f"admin.{module}", each) for each, module in (elsewhere or {}).items()}
    return LazyGroup(name, help=help, lazy=lazy)
