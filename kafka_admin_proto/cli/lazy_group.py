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
