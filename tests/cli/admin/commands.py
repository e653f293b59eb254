"""All commands of ``kap``, as click has them: a property over them holds for a new one too."""

from __future__ import annotations

from collections.abc import Iterator

import click

from kafka_admin_proto.cli.admin.common.command import ClusterCommand
from kafka_admin_proto.cli.app import kap


def all_commands(
    group: click.Group = kap, context: click.Context | None = None
) -> Iterator[tuple[str, click.Command]]:
    """Each command that is no group, as it is typed behind ``kap``: "topics create"."""
    context = click.Context(group, info_name="kap") if context is None else context
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            below = click.Context(command, info_name=name, parent=context)
            yield from ((f"{name} {path}", each) for path, each in all_commands(command, below))
        else:
            yield name, command


def cluster_commands() -> dict[str, ClusterCommand]:
    """Those that ask a cluster, once each: a group of one command is also the command."""
    return {path: each for path, each in all_commands() if isinstance(each, ClusterCommand)}
