"""Names for the shell's completion, asked of the cluster: quickly, and silent where that fails."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from kafka_admin_proto.admin import AdminClient
    from kafka_admin_proto.cli.admin.common.live import ShellState

#: Seconds that somebody who presses Tab waits at most.
TIMEOUT_S = 1.5

_Ask = Callable[["AdminClient"], Awaitable[Iterable[str]]]


def topics(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of topics."""
    return _complete(context, "topics", incomplete, _topic_names)


def groups(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Ids of groups."""
    return _complete(context, "groups", incomplete, _group_ids)


def brokers(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Ids of brokers."""
    return _complete(context, "brokers", incomplete, _broker_ids)


def topic_configs(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of topics' configs, with the sign of equality where a value follows."""
    end = "" if parameter.name and "delete" in parameter.name else "="
    found = _complete(context, "topic_configs", incomplete, _topic_config_names)
    return [CompletionItem(item.value + end) for item in found]


def apis(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of requests, known without a cluster."""
    from kafka_admin_proto.schema.catalog import catalog

    names = [n.removesuffix("Request") for n in catalog().names() if n.endswith("Request")]
    return [
        CompletionItem(name) for name in names if name.casefold().startswith(incomplete.casefold())
    ]


async def _topic_names(client: AdminClient) -> Iterable[str]:
    return [topic.name for topic in await client.list_topics()]


async def _group_ids(client: AdminClient) -> Iterable[str]:
    return [group.group_id for group in (await client.list_groups()).groups]


async def _broker_ids(client: AdminClient) -> Iterable[str]:
    return [str(broker) for broker in await client.brokers()]


async def _topic_config_names(client: AdminClient) -> Iterable[str]:
    """Those of any topic: all topics have the same."""
    from kafka_admin_proto.admin.operations.configs.resources import ConfigResource

    for topic in await client.list_topics():
        resource = ConfigResource(type="topic", name=topic.name)
        (found,) = await client.describe_configs([resource])
        return [config.name for config in found.configs]
    return []


def _complete(
    context: click.Context, kind: str, incomplete: str, ask: _Ask
) -> list[CompletionItem]:
    found = _names(context, kind, ask)
    return [CompletionItem(name) for name in sorted(found) if name.startswith(incomplete)]


def _names(context: click.Context, kind: str, ask: _Ask) -> Iterable[str]:
    from kafka_admin_proto.cli.admin.common.live import ClusterConnection
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


async def within(names: Awaitable[Any]) -> Any:
    """The names, or TimeoutError when they take too long."""
    import asyncio

    return await asyncio.wait_for(names, TIMEOUT_S)
