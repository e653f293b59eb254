"""Names for the shell's completion, asked of the cluster: quickly, and silent where that fails."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from kafka_admin_proto.admin import AdminClient
    from kafka_admin_proto.admin.operations.configs.resources import ResourceType
    from kafka_admin_proto.cli.admin.common.live import ShellState

_Ask = Callable[["AdminClient"], Awaitable[Iterable[str]]]


def configs(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of the configs of the resource that is named so far, of topics where none is.

    The sign of equality is behind them where a value follows.
    """
    from kafka_admin_proto.cli.admin.common.parameters import KeyValue

    end = "=" if isinstance(parameter.type, KeyValue) else ""
    kind, name = _resource(context.params)
    found = _complete(
        context, f"configs {kind} {name}", incomplete, lambda each: _config_names(each, kind, name)
    )
    return [CompletionItem(item.value + end) for item in found]


def _resource(given: Mapping[str, Any]) -> tuple[ResourceType, str | None]:
    """The first resource among the options of a command; None stands for any one of its type."""
    from kafka_admin_proto.cli.admin.common.parameters import ENTITY_TYPES

    for kind in ENTITY_TYPES.values():
        if kind != "topic" and (names := given.get(kind)):
            return kind, names[0]
    kind = ENTITY_TYPES.get(given.get("entity_type") or "", "topic")
    return ("broker" if given.get("broker_defaults") else kind), given.get("entity_name")


def apis(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of requests in the dialect, known without a cluster."""
    from kafka_admin_proto.cli.admin.common.settings import split_settings
    from kafka_admin_proto.schema.message_names import api_names

    shell: ShellState | None = context.obj
    settings, _ = split_settings(context, None if shell is None else shell.settings)
    return [
        CompletionItem(name)
        for name in api_names(settings.dialect, "kafka")
        if name.casefold().startswith(incomplete.casefold())
    ]


async def _topic_names(client: AdminClient) -> Iterable[str]:
    return [topic.name for topic in await client.list_topics()]


async def _group_ids(client: AdminClient) -> Iterable[str]:
    return [group.group_id for group in (await client.list_groups()).groups]


async def _broker_ids(client: AdminClient) -> Iterable[str]:
    return [str(broker) for broker in await client.brokers()]


async def _config_names(client: AdminClient, kind: ResourceType, name: str | None) -> Iterable[str]:
    """Those of a resource. All topics have the same, and so have all brokers."""
    from kafka_admin_proto.admin.operations.configs.resources import ConfigResource

    if name is None:
        there = {"topic": _topic_names, "broker": _broker_ids}.get(kind)
        name = next(iter(await there(client) if there else ()), None)
    if name is None:
        return []
    (found,) = await client.describe_configs([ConfigResource(type=kind, name=name)])
    return [config.name for config in found.configs]


def _complete(
    context: click.Context, kind: str, incomplete: str, ask: _Ask
) -> list[CompletionItem]:
    found = _names(context, kind, ask)
    return [CompletionItem(name) for name in sorted(found) if name.startswith(incomplete)]


def _names(context: click.Context, kind: str, ask: _Ask) -> Iterable[str]:
    from kafka_admin_proto.cli.admin.common.live import ClusterConnection, within
    from kafka_admin_proto.cli.admin.common.settings import Settings, split_settings

    shell: ShellState | None = context.obj
    if shell is not None:
        return shell.names(kind, ask)
    with contextlib.suppress(Exception):  # completion at a prompt shows no errors
        settings, _ = split_settings(context)
        quiet = Settings(
            bootstrap_server=settings.bootstrap_server,
            bootstrap_controller=settings.bootstrap_controller,
            command_config=settings.command_config,
        )
        connection = ClusterConnection(quiet, may_ask=False)
        try:
            return connection.ask(lambda client: within(ask(client)))
        finally:
            connection.close()
    return []


def _completer(
    kind: str, ask: _Ask
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    return lambda context, _, incomplete: _complete(context, kind, incomplete, ask)


topics = _completer("topics", _topic_names)
groups = _completer("groups", _group_ids)
brokers = _completer("brokers", _broker_ids)
