"""Options that choose among frames: those of an input, or those that pass a proxy."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem

from kafka_admin_proto.cli.captures.filters import Filter, api_keys
from kafka_admin_proto.cli.numbers import FloatNumber
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.message_names import api_names

Command = Callable[..., None]


class Choice(msgspec.Struct, kw_only=True):
    """The values of these options."""

    api: str | None
    client_id: str | None
    connection: str | None
    topic: str | None
    errors_only: bool
    slower_than: float | None

    def filter(self, dialect: str = "kafka") -> Filter:
        """What a frame must have; raises click.UsageError for an api that the dialect lacks."""
        return Filter(
            api_keys=None if self.api is None else api_keys(self.api, dialect),
            client_id=self.client_id,
            connection=self.connection,
            topic=self.topic,
            errors_only=self.errors_only,
            slower_than_us=None if self.slower_than is None else round(self.slower_than * 1000),
        )


class _Milliseconds(FloatNumber):
    """A time that is finite in microseconds as well; "inf" is a float, too."""

    what = "a number of milliseconds"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> float:
        found: float = super().convert(value, parameter, context)
        if not math.isfinite(found * 1000):
            self.fail(f"{value} is no number of milliseconds", parameter, context)
        return found


def complete_api(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Api names for the shell: those with "Request" left off first, then all messages.

    They are of the command's --dialect, or of the one in front of the name: "kip-516:Vote".
    """
    given, comma, last = incomplete.rpartition(",")
    said, colon, last = last.rpartition(":")
    dialect = said or context.params.get("dialect") or "kafka"
    if dialect not in catalog().dialects():
        return []
    apis = api_names(said) if said else api_names(dialect, "kafka")
    names = [*apis, *catalog().names(dialect)]
    before = given + comma + said + colon
    return [CompletionItem(before + n) for n in names if n.casefold().startswith(last.casefold())]


def choice_options(
    where: str = "", *, more_of_api: str = "", more_of_topic: str = ""
) -> tuple[Callable[[Command], Command], ...]:
    """The options; ``where`` they show, as " in the log", and what else two of them are for."""

    def show(what: str) -> str:
        return f"Show{where} {what}"

    return (
        click.option(
            "--api",
            shell_complete=complete_api,
            help=show("these apis alone, by name or key: CreateTopics,Metadata.") + more_of_api,
        ),
        click.option("--client-id", help=show("this client's requests and responses alone.")),
        click.option(
            "--connection",
            help=show("this connection alone; also ip:port or ip of one of its ends."),
        ),
        click.option(
            "--topic",
            help=show("frames that name this topic alone, also by its id.") + more_of_topic,
        ),
        click.option("--errors-only", is_flag=True, help=show("error codes and problems alone.")),
        click.option(
            "--slower-than",
            type=_Milliseconds(0),
            metavar="MS",
            help=show("responses that took as many milliseconds, or more."),
        ),
    )


def with_choice(where: str) -> Callable[[Command], Command]:
    """Give a command these options; it gets them as its argument ``choice``."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(**arguments: Any) -> None:
            taken = {name: arguments.pop(name) for name in Choice.__struct_fields__}
            command(choice=Choice(**taken), **arguments)

        made: Command = run
        for option in reversed(choice_options(where)):
            made = option(made)
        return made

    return decorate
