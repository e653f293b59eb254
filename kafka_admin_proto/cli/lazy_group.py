"""Groups of commands whose modules are loaded when a command is used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from kafka_admin_proto.cli.given_once import GivenOnceCommand


class ScriptableCommand(GivenOnceCommand):
    """A command whose usage errors are one object on standard output where one is asked for.

    ``items`` names the list that the object has, empty; ``default_output`` counts where nothing is
    asked for.
    """

    items: str | None = None
    default_output = "table"

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        given = list(args)
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as refused:
            error = refused
            if isinstance(refused, click.NoSuchOption):
                from kafka_admin_proto.cli.script_flags import flag_hint

                error = _with_hint(refused, flag_hint(refused, given))
            self.write_usage_error(error, given, extra.get("obj") if parent is None else parent.obj)
            raise error from None

    def write_usage_error(self, error: click.UsageError, args: list[str], shell: Any) -> None:
        """The object for scripts; people get the message of click."""
        from kafka_admin_proto.cli.admin.common import failures  # not for a start
        from kafka_admin_proto.cli.admin.common.usage import output_of, write_failure

        output = output_of(args, shell, self.default_output)
        write_failure(output, failures.USAGE, error, self.items)


class LazyGroup(ScriptableCommand, click.Group):
    """``lazy``: name of a command → its module in ``kafka_admin_proto.cli``, its name there."""

    command_class = GivenOnceCommand

    def __init__(
        self, *args: Any, lazy: Mapping[str, tuple[str, str]] | None = None, **extra: Any
    ) -> None:
        super().__init__(*args, **extra)
        self.lazy: dict[str, tuple[str, str]] = dict(lazy or {})

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as refused:
            from kafka_admin_proto.cli.script_flags import command_hint

            error = _with_hint(refused, command_hint(ctx, args[0]))
            self.write_usage_error(error, args, ctx.obj)
            raise error from None

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted([*super().list_commands(context), *self.lazy])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.lazy:
            return super().get_command(context, name)
        module, attribute = self.lazy[name]
        found: click.Command = getattr(
            importlib.import_module(f"kafka_admin_proto.cli.{module}"), attribute
        )
        return found


def _with_hint(error: click.UsageError, hint: str) -> click.UsageError:
    if not hint:
        return error
    # Without click's own near misses among the options of that one command.
    return click.UsageError(f"{error.message} {hint}", error.ctx)
