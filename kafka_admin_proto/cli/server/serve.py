"""``kap serve``: a reference cluster that clients can be tried and tested on."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.numbers import Seconds, WholeNumber
from kafka_admin_proto.cli.server.process import (
    allow_open_files,
    commands_at,
    logged_to_stderr,
    until_stopped,
)
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.gc_tuning import tune_for_server
from kafka_admin_proto.policies.loading import ALTER_CONFIG_CONFIG, CREATE_TOPIC_CONFIG
from kafka_admin_proto.protocol.addresses import Address, without_brackets
from kafka_admin_proto.server.arguments.settings import MOST_BROKERS, RULES, Rules
from kafka_admin_proto.server.cluster import Cluster
from kafka_admin_proto.server.releases import RELEASES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from kafka_admin_proto.protocol.connection import RequestReceived
    from kafka_admin_proto.values import Message

#: No number of partitions is longer.
_DIGITS = 10


@click.command(cls=GivenOnceCommand)
@click.option("--brokers", type=WholeNumber(0, MOST_BROKERS), default=1, show_default=True,
              help="How many nodes, each broker and controller; 0: a controller alone, for real "
              "brokers.")  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--advertised-host", help="The host in the addresses that clients get; --host if left out."
)
@click.option("--advertised-listener", "advertised", multiple=True, metavar="NAME://HOST:PORT",
              help="The address of a listener that clients get: one for each node, or the first "
              "node's, from whose port the others count on.")  # fmt: skip
@click.option("--port", type=WholeNumber(0, 65535), default=0, show_default=True,
              help="The first node's port, the others have the next; 0: any.")  # fmt: skip
@click.option("--listener", "listeners", multiple=True, metavar="NAME:PROTOCOL",
              help="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL; may be repeated.")  # fmt: skip
@click.option("--rack", "racks", multiple=True, help="The rack of a node; one for each node.")
@click.option("--users", type=click.Path(dir_okay=False), metavar="FILE",
              help="Users who log in by SASL: lines NAME:PASSWORD.")  # fmt: skip
@click.option("--acls", type=click.Path(dir_okay=False), metavar="FILE",
              help="Who may do what: a JSON list, as kap acls list writes it.")  # fmt: skip
@click.option("--release", type=click.Choice(RELEASES), default=RELEASES[0], show_default=True,
              help="The release of Kafka whose versions, configs and answers it has.")  # fmt: skip
@click.option("--data", type=click.Path(file_okay=False), metavar="DIR",
              help="Keep it in DIR, in Kafka's own format; else in memory.")  # fmt: skip
@click.option("--rules", type=click.Choice(RULES), default="shipped",
              show_default=True, help="As shipped, CreateTopics as KIP-4's text has it, or the "
              "messages of one of its drafts too.")  # fmt: skip
@click.option("--policy", metavar="MODULE:CLASS",
              help="A class that decides which topics may be created (KIP-108); as --config "
              "create.topic.policy.class.name=MODULE:CLASS.")  # fmt: skip
@click.option("--alter-config-policy", metavar="MODULE:CLASS",
              help="A class that decides which configs may be set; as --config "
              "alter.config.policy.class.name=MODULE:CLASS.")  # fmt: skip
@click.option("--config", "configs", multiple=True, metavar="NAME=VALUE",
              help="A config of every broker, as in its properties file.")  # fmt: skip
@click.option("--topic", "topics", multiple=True, metavar="NAME[:PARTITIONS]",
              help="Create a topic at the start; it may be there with --data.")  # fmt: skip
@click.option("--propagation-delay", type=Seconds(min=0), default=0.0, metavar="SECONDS",
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
    advertised: tuple[str, ...],
    port: int,
    listeners: tuple[str, ...],
    racks: tuple[str, ...],
    users: str | None,
    acls: str | None,
    release: str,
    data: str | None,
    rules: Rules,
    policy: str | None,
    alter_config_policy: str | None,
    configs: tuple[str, ...],
    topics: tuple[str, ...],
    versions: tuple[str, ...],
    faults: tuple[str, ...],
    propagation_delay: float,
    control: Path | None,
    log: bool,
) -> None:
    """Serve a cluster until SIGINT or SIGTERM.

    The first line of the output is the bootstrap addresses, separated by commas; every port
    accepts by then. A line for each further listener follows: its name and its addresses. With
    --brokers 0 it is the controller's address, and the two lines behind it are what real brokers
    need: controller.quorum.voters for their properties, and cluster.id for their format. All else
    goes to stderr.

    \b
    Example:
      kap serve --brokers 3 --config auto.create.topics.enable=false
    """
    pairs = _pairs("--config", configs, "NAME=VALUE")
    protocols = _pairs("--listener", listeners, "NAME:PROTOCOL")
    try:
        with logged_to_stderr():
            cluster = Cluster(
                brokers,
                release=release,
                host=host,
                advertised_host=advertised_host,
                advertised_listeners=_advertised(advertised),
                racks=racks,
                port=port,
                listeners=protocols or {"PLAINTEXT": "PLAINTEXT"},
                users=_users(users),
                acls=_acls(acls),
                configs=_with_policies(pairs, policy, alter_config_policy),
                data=data,
                topics=_topics(topics),
                propagation_delay_s=propagation_delay,
                rules=rules,
                api_versions=_pairs("--api-versions", versions, "API=VERSIONS"),
                trace=_log if log else None,
            )
            added = [cluster.faults.add_text(each) for each in faults]
            allow_open_files()
            tune_for_server()
            asyncio.run(_serve(cluster, control))
        for fault in added:
            print(f"fault {fault.text}: fired {counted(fault.fired, 'times')}", file=sys.stderr)
    except OSError as error:
        if error.filename is not None:  # a file below --data, which has nothing to do with a port
            raise click.UsageError(f"{error.filename}: {error.strerror}") from None
        where = Address(without_brackets(host), port) if port else host
        raise click.UsageError(f"cannot serve on {where}: {error.strerror or error}") from None
    except KafkaAdminProtoError as error:
        raise click.UsageError(str(error)) from None


def _pairs(option: str, texts: tuple[str, ...], form: str) -> dict[str, str]:
    """The values of an option that is repeated, by name; ``form`` has the sign between the two."""
    between = "=" if "=" in form else ":"
    values: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition(between)
        if not sign:
            raise click.UsageError(f"{option} takes {form}, not {name!r}")
        if name in values:
            raise click.UsageError(f"{option} names {name} twice; leave one out")
        values[name] = value
    return values


def _advertised(texts: tuple[str, ...]) -> dict[str, list[str]]:
    """The addresses of each listener; one text may have several, as Kafka's config has them."""
    by_listener: dict[str, list[str]] = {}
    for text in (each.strip() for listed in texts for each in listed.split(",")):
        name, sign, address = text.partition("://")
        if not (name and sign and address):
            raise click.UsageError(f"--advertised-listener takes NAME://HOST:PORT, not {text!r}")
        by_listener.setdefault(name.upper(), []).append(address)
    return by_listener


def _topics(texts: tuple[str, ...]) -> dict[str, int]:
    """The partitions of each topic, -1 for the brokers' default."""
    pairs = _pairs("--topic", tuple(each if ":" in each else f"{each}:-1" for each in texts), ":")
    for name, count in pairs.items():
        digits = count.removeprefix("-")
        if not digits.isdecimal() or len(digits) > _DIGITS:
            raise click.UsageError(f"--topic takes NAME[:PARTITIONS], not {name}:{count}")
    return {name: int(count) for name, count in pairs.items()}


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


def _with_policies(
    configs: dict[str, str], policy: str | None, alter_config_policy: str | None
) -> dict[str, str]:
    """The configs with those of the policies, whose classes may be in the current folder."""
    for option, config, name in (
        ("--policy", CREATE_TOPIC_CONFIG, policy),
        ("--alter-config-policy", ALTER_CONFIG_CONFIG, alter_config_policy),
    ):
        if name is not None:
            if config in configs:
                raise click.UsageError(
                    f"{option} and --config {config} both name a policy; leave one out"
                )
            configs[config] = name
        if config in configs and "" not in sys.path:
            sys.path.insert(0, "")
    return configs


async def _serve(cluster: Cluster, control: Path | None) -> None:
    ended = until_stopped()
    async with cluster, contextlib.AsyncExitStack() as opened:
        if control is not None:
            await opened.enter_async_context(_controlled(cluster, control))
        print(cluster.bootstrap_servers, flush=True)
        if cluster.quorum_voters is not None:
            print("controller.quorum.voters", cluster.quorum_voters, flush=True)
            print("cluster.id", cluster.state.cluster_id, flush=True)
        for name in cluster.listeners[1:]:
            print(name, cluster.addresses(name), flush=True)
        await ended.wait()


@contextlib.asynccontextmanager
async def _controlled(cluster: Cluster, path: Path) -> AsyncIterator[None]:
    from kafka_admin_proto.faults import commands
    from kafka_admin_proto.server.brokers import control

    faults = commands.commands_of(lambda: cluster.faults)
    async with commands_at(path, {**control.commands_of(cluster), **faults}):
        yield


def _log(node: int, event: RequestReceived, response: Message) -> None:
    """One line for a request and one for its response; secrets are masked in their ``repr``."""
    request = event.request
    client = "" if request.header is None else f" client {request.header.client_id!r}"
    print(f"node {node} v{request.api_version}{client}: {request.body!r}", file=sys.stderr)
    print(f"node {node}   {response!r}", file=sys.stderr, flush=True)
