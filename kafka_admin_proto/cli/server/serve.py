"""``kap serve``: a reference cluster that clients can be tried and tested on."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.gc_tuning import tune_gc_for_server
from kafka_admin_proto.server.cluster import Cluster, Rules
from kafka_admin_proto.server.configs.definitions import RELEASES
from kafka_admin_proto.server.topics.policies import load_policy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from kafka_admin_proto.protocol.connection import RequestReceived
    from kafka_admin_proto.values import Message


@click.command()
@click.option("--brokers", type=click.IntRange(1, 1000), default=1, show_default=True,
              help="How many nodes, each broker and controller.")  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--advertised-host", help="The host in the addresses that clients get; --host if left out."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True,
              help="The first node's port, the others have the next; 0: any.")  # fmt: skip
@click.option("--listener", "listeners", multiple=True, metavar="NAME:PROTOCOL",
              help="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL; may be repeated.")  # fmt: skip
@click.option("--users", type=click.Path(dir_okay=False), metavar="FILE",
              help="Users who log in by SASL: lines NAME:PASSWORD.")  # fmt: skip
@click.option("--acls", type=click.Path(dir_okay=False), metavar="FILE",
              help="Who may do what: a JSON list, as kap acls list writes it.")  # fmt: skip
@click.option("--release", type=click.Choice(RELEASES), default=RELEASES[0], show_default=True,
              help="The release of Kafka whose versions, configs and answers it has.")  # fmt: skip
@click.option("--data", type=click.Path(file_okay=False), metavar="DIR",
              help="Keep it in DIR, in Kafka's own format; else in memory.")  # fmt: skip
@click.option("--rules", type=click.Choice(get_args(Rules)), default="shipped",
              show_default=True, help="As shipped, CreateTopics as KIP-4's text has it, or the "
              "messages of one of its drafts too.")  # fmt: skip
@click.option("--policy", metavar="MODULE:CLASS",
              help="A class that decides which topics may be created (KIP-108).")  # fmt: skip
@click.option("--alter-config-policy", metavar="MODULE:CLASS",
              help="A class that decides which configs may be set.")  # fmt: skip
@click.option("--config", "configs", multiple=True, metavar="NAME=VALUE",
              help="A config of every broker, as in its properties file.")  # fmt: skip
@click.option("--propagation-delay", type=click.FloatRange(min=0), default=0.0, metavar="SECONDS",
              help="How late brokers see a change that another one was asked for.")  # fmt: skip
@click.option("--control", type=click.Path(path_type=Path), metavar="SOCKET",
              help="Make a socket where kap serve-control stops and starts brokers.")  # fmt: skip
@click.option("--api-versions", "versions", multiple=True, metavar="API=VERSIONS",
              help="Have so many versions of an api only (Metadata=0-9), or none.")  # fmt: skip
@click.option("--fault", "faults", multiple=True, metavar="NAME=VALUE...",
              help="What goes wrong with requests, as in docs/server-faults.md.")  # fmt: skip
@click.option("--log", is_flag=True, help="Show each request and its response on stderr.")
def serve(
    brokers: int,
    host: str,
    advertised_host: str | None,
    port: int,
    listeners: tuple[str, ...],
    users: str | None,
    acls: str | None,
    release: str,
    data: str | None,
    rules: Rules,
    policy: str | None,
    alter_config_policy: str | None,
    configs: tuple[str, ...],
    versions: tuple[str, ...],
    faults: tuple[str, ...],
    propagation_delay: float,
    control: Path | None,
    log: bool,
) -> None:
    """Serve a cluster until SIGINT or SIGTERM.

    The first line of the output is the bootstrap addresses, separated by commas; every port
    accepts by then. A line for each further listener follows: its name and its addresses. All
    else goes to stderr.

    \b
    Example:
      kap serve --brokers 3 --config auto.create.topics.enable=false
    """
    pairs = dict(_pair(each, "=", "--config takes NAME=VALUE") for each in configs)
    protocols = [_pair(each, ":", "--listener takes NAME:PROTOCOL") for each in listeners]
    try:
        cluster = Cluster(
            brokers,
            release=release,
            host=host,
            advertised_host=advertised_host,
            port=port,
            listeners=_named(protocols),
            users=_users(users),
            acls=_acls(acls),
            configs=pairs,
            data=data,
            propagation_delay_s=propagation_delay,
            rules=rules,
            create_topic_policy=_policy(policy),
            alter_config_policy=_policy(alter_config_policy),
            api_versions=dict(
                _pair(each, "=", "--api-versions takes API=VERSIONS") for each in versions
            ),
            trace=_log if log else None,
        )
        added = [cluster.faults.add_text(each) for each in faults]
        _allow_open_files()
        tune_gc_for_server()
        asyncio.run(_serve(cluster, control))
        for fault in added:
            print(f"fault {fault.text}: fired {fault.fired} times", file=sys.stderr)
    except OSError as error:
        where = f"{host}:{port}" if port else host
        raise click.UsageError(f"cannot serve on {where}: {error.strerror or error}") from None
    except KafkaAdminProtoError as error:
        raise click.UsageError(str(error)) from None


def _pair(text: str, between: str, expected: str) -> tuple[str, str]:
    name, found, value = text.partition(between)
    if not found:
        raise click.UsageError(f"{expected}, not {name!r}")
    return name, value


def _named(protocols: list[tuple[str, str]]) -> dict[str, str]:
    """Listeners by name; a cluster without any has a plain one."""
    found = dict(protocols)
    if len(found) < len(protocols):
        raise click.UsageError("--listener names a listener twice")
    return found or {"PLAINTEXT": "PLAINTEXT"}


def _users(path: str | None) -> dict[str, str] | None:
    if path is None:
        return None
    from kafka_admin_proto.server.security.users import read_users

    return read_users(path)


def _acls(path: str | None) -> Sequence[Mapping[str, str]]:
    if path is None:
        return ()
    from kafka_admin_proto.server.security.authorizer.files import read_acls

    return read_acls(path)


def _policy(name: str | None) -> Any:
    """A policy of the user's own, also one in the current folder."""
    if name is None:
        return None
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return load_policy(name)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _allow_open_files() -> None:
    """As many connections as the system allows this process, as a JVM does by itself."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):  # the system may refuse an unlimited number
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _serve(cluster: Cluster, control: Path | None) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, ended.set)
    async with cluster, contextlib.AsyncExitStack() as opened:
        if control is not None:
            await opened.enter_async_context(_controlled(cluster, control))
        print(cluster.bootstrap_servers, flush=True)
        for name in cluster.listeners[1:]:
            print(name, cluster.addresses(name), flush=True)
        await ended.wait()


@contextlib.asynccontextmanager
async def _controlled(cluster: Cluster, path: Path) -> AsyncIterator[None]:
    """The cluster, with a socket for commands."""
    from kafka_admin_proto.server.brokers.control import control_socket

    try:
        opened = contextlib.AsyncExitStack()
        await opened.enter_async_context(control_socket(cluster, path))
    except OSError as error:
        text = f"cannot take commands at {path}: {error.strerror or error}"
        raise click.UsageError(text) from None
    async with opened:
        yield


def _log(node: int, event: RequestReceived, response: Message) -> None:
    """One line for a request and one for its response; secrets are masked in their ``repr``."""
    request = event.request
    client = "" if request.header is None else f" client {request.header.client_id!r}"
    print(f"node {node} v{request.api_version}{client}: {request.body!r}", file=sys.stderr)
    print(f"node {node}   {response!r}", file=sys.stderr, flush=True)
