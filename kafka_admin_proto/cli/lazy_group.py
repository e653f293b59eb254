"""Groups of commands whose modules are loaded when a command is used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """``lazy``: name of a command → its module in ``kafka_admin_proto.cli``, its name there."""

    def __init__(
        self, *args: Any, lazy: Mapping[str, tuple[str, str]] | None = None, **extra: Any
    ) -> None:
        super().__init__(*args, **extra)
        self.lazy = dict(lazy or {})

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
        except click.UsageError as error:
            _write_failure(error, given, extra.get("obj") if parent is None else parent.obj)
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            _write_failure(error, args, ctx.obj)
            raise

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


def _write_failure(error: click.UsageError, args: list[str], shell: Any) -> None:
    """A command that there is not is one object too, where one is asked for."""
    from kafka_admin_proto.cli.admin.common import failures
    from kafka_admin_proto.cli.admin.common.usage import output_of, write_failure

    write_failure(output_of(args, shell), failures.USAGE, error)
