"""``kap proxy``: a proxy in front of any cluster, with policies and filters."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import click
import msgspec

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.cli.captures.choice import Choice, with_choice
from kafka_admin_proto.cli.captures.filters import Filter
from kafka_admin_proto.cli.captures.frame_table import FrameTable
from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.output import written_to
from kafka_admin_proto.cli.server.process import (
    allow_open_files,
    commands_at,
    logged_to_stderr,
    until_stopped,
)
from kafka_admin_proto.cli.without_effect import refuse
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError, SettingsError
from kafka_admin_proto.gc_tuning import tune_for_server
from kafka_admin_proto.policies.loading import (
    ALTER_CONFIG_CONFIG,
    CREATE_TOPIC_CONFIG,
    Policies,
    named_class,
    reason,
)
from kafka_admin_proto.policies.policies import OWN_FAILURES
from kafka_admin_proto.protocol.addresses import listen_address
from kafka_admin_proto.protocol.connection.sasl_client import Sasl
from kafka_admin_proto.protocol.connection.sasl_server import SaslServer
from kafka_admin_proto.protocol.tls import TlsSettings
from kafka_admin_proto.proxy.filters import Filters
from kafka_admin_proto.proxy.observation import Ends, Observer, Recorder
from kafka_admin_proto.proxy.policies import PolicyFilter
from kafka_admin_proto.proxy.proxy import Proxy
from kafka_admin_proto.proxy.tenants.filter import TenantFilter
from kafka_admin_proto.server.security.users import read_users


@click.command(cls=GivenOnceCommand)
@click.option("--upstream", required=True, metavar="HOST:PORT[,...]",
              help="Brokers of the cluster to begin with.")  # fmt: skip
@click.option("--listen", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT",
              help="The bootstrap address; broker N has the port N+1 above it, or any "
              "for 0.")  # fmt: skip
@click.option("--advertised-host", metavar="HOST",
              help="The host in the addresses that clients get; --listen's if left "
              "out.")  # fmt: skip
@click.option("--listener-config", metavar="FILE",
              help="ssl.* properties for connections of clients.")  # fmt: skip
@click.option("--upstream-config", metavar="FILE",
              help="ssl.* properties for connections to the cluster; beside --users those of a "
              "login too.")  # fmt: skip
@click.option("--users", type=click.Path(dir_okay=False), metavar="FILE",
              help="Users who log in by SASL at the proxy: lines NAME:PASSWORD.")  # fmt: skip
@click.option("--policy", metavar="MODULE:CLASS",
              help="A class that decides which topics may be created (KIP-108).")  # fmt: skip
@click.option("--alter-config-policy", metavar="MODULE:CLASS",
              help="A class that decides which configs may be set.")  # fmt: skip
@click.option("--deny-version", "denied", multiple=True, metavar="API<N",
              help="Have no version of an api below N; may be repeated.")  # fmt: skip
@click.option("--read-only", is_flag=True,
              help="Refuse whatever would change something in the cluster.")  # fmt: skip
@click.option("--tenant", metavar="PREFIX",
              help="Put PREFIX in front of clients' names, and show no others.")  # fmt: skip
@click.option("--filter", "filters", multiple=True, metavar="MODULE:CLASS",
              help="A filter, as docs/proxy.md has it; may be repeated.")  # fmt: skip
@click.option("--fault", "faults", multiple=True, metavar="NAME=VALUE...",
              help="What goes wrong with requests, as in docs/server-faults.md.")  # fmt: skip
@click.option("--control", type=click.Path(path_type=Path), metavar="SOCKET",
              help="Make a socket where kap serve-control adds faults.")  # fmt: skip
@click.option("--log", is_flag=True,
              help="Print what clients send and get, as kap decode does.")  # fmt: skip
@with_choice(" in the log")
@click.option("--record", metavar="FILE.pcap",
              help="Write what clients send and get as a capture, with users' names and "
              "masked credentials.")  # fmt: skip
@click.option("--metrics", "metrics_at", metavar="HOST:PORT",
              help="Serve counts of requests, errors and latencies to Prometheus "
              "there.")  # fmt: skip
def proxy(
    upstream: str,
    listen: str,
    advertised_host: str | None,
    listener_config: str | None,
    upstream_config: str | None,
    users: str | None,
    policy: str | None,
    alter_config_policy: str | None,
    denied: tuple[str, ...],
    read_only: bool,
    tenant: str | None,
    filters: tuple[str, ...],
    faults: tuple[str, ...],
    control: Path | None,
    log: bool,
    choice: Choice,
    record: str | None,
    metrics_at: str | None,
) -> None:
    """Pass clients on to a cluster until SIGINT or SIGTERM.

    The first line of the output is the address for clients. Addresses in the cluster's answers
    become the proxy's, one port for each broker; SASL passes through, or ends at the proxy with
    --users. Policies are asked as Kafka asks them, after the cluster's own checks. All else goes
    to stderr.

    \b
    Examples:
      kap proxy --upstream kafka-1:9092 --policy rules:NoTests
      kap proxy --upstream kafka-1:9092 --deny-version 'Produce<3'
      kap proxy --upstream kafka-1:9092 --tenant team-
      kap proxy --upstream kafka-1:9092 --log --record seen.pcap
      kap proxy --upstream kafka-1:9092 --log --client-id shop --errors-only
      kap proxy --upstream kafka-1:9092 --metrics 127.0.0.1:9400
    """
    if "" not in sys.path:  # classes may be in the current folder
        sys.path.insert(0, "")
    if not log:
        refuse("a proxy without --log", *Choice.__struct_fields__)
    given = {CREATE_TOPIC_CONFIG: policy, ALTER_CONFIG_CONFIG: alter_config_policy}
    configs = {name: each for name, each in given.items() if each is not None}
    try:
        policies = Policies(configs, None, None)
        with contextlib.closing(policies):
            asked = [PolicyFilter(*policies.configure(configs))] if configs else []
            sasl = None if users is None else SaslServer.of_passwords(read_users(users))
            upstream_tls, upstream_sasl = _of_upstream(upstream, upstream_config, users)
            proxy = Proxy(
                upstream,
                [*_tenant(tenant), *_filters(filters), *asked],
                listen=listen,
                advertised_host=advertised_host,
                tls=_tls(listener_config, of_clients=True),
                upstream_tls=upstream_tls,
                sasl=sasl,
                upstream_sasl=upstream_sasl,
                deny_versions=_denied(denied),
                observers=[*([FrameLog(choice.filter())] if log else []), *_metrics(metrics_at)],
                read_only=read_only,
            )
            added = [proxy.faults.add_text(each) for each in faults]
            allow_open_files()
            tune_for_server()
            with logged_to_stderr():
                asyncio.run(_pass_on(proxy, listen, control, record))
        for fault in added:
            print(f"fault {fault.text}: fired {counted(fault.fired, 'times')}", file=sys.stderr)
    except KafkaAdminProtoError as error:
        raise click.UsageError(str(error)) from None


class FrameLog:
    """An observer that prints the rows of ``kap decode`` for the frames that are wanted."""

    def __init__(self, wanted: Filter) -> None:
        self._wanted = wanted
        self._table = FrameTable({"mask": True, "raw": False, "body": True, "records": False})
        self._count = 0

    def __str__(self) -> str:
        return "the log"

    def frame(self, frame: DecodedFrame, ends: Ends, side: int) -> None:
        """Print a row; its number counts those of others, too, as in a capture."""
        self._count += 1
        frame = frame.shown()
        if self._wanted(frame):
            self._table.add(self._count, frame)
            self._table.show()
            sys.stdout.flush()

    def closed(self, ends: Ends) -> None:
        """A connection's end has no row."""


def _metrics(at: str | None) -> Iterator[Observer]:
    """The observer that counts, which is served by then; none without an address."""
    if at is None:
        return
    address = listen_address(at, "--metrics")
    from kafka_admin_proto.proxy.metrics import Metrics

    metrics = Metrics()
    port = metrics.serve(address.host, address.port)
    served = msgspec.structs.replace(address, port=port)
    print(f"metrics: http://{served}/metrics", file=sys.stderr)
    yield metrics


def _tenant(prefix: str | None) -> list[TenantFilter]:
    """The first filter: all others are asked about the names of the cluster."""
    return [] if prefix is None else [TenantFilter(prefix)]


def _filters(names: tuple[str, ...]) -> list[object]:
    made = []
    for name in names:
        make = named_class("--filter", name, "filter", "on_request, on_response or both")
        try:
            made.append(make())
        except OWN_FAILURES as error:
            text = f"--filter: the constructor of {name} failed: {reason(error)}"
            raise SettingsError(text) from error
    try:
        Filters(made)
    except TypeError as error:
        raise SettingsError(f"--filter: {error}") from None
    return made


def _denied(texts: tuple[str, ...]) -> dict[str, int]:
    """The first version to have, by api."""
    first_versions: dict[str, int] = {}
    for text in texts:
        api, sign, version = text.partition("<")
        if not sign or not version.isdecimal():
            raise SettingsError(f"--deny-version takes API<N, as Produce<3, not {text!r}")
        first_versions[api] = max(int(version), first_versions.get(api, 0))
    return first_versions


def _of_upstream(
    upstream: str, path: str | None, users: str | None
) -> tuple[ssl.SSLContext | None, Sasl | None]:
    """TLS and the login towards the cluster, which is the clients' own unless it ends here."""
    if path is None or users is None:
        return _tls(path, of_clients=False), None
    from kafka_admin_proto.admin.settings.config import client_config
    from kafka_admin_proto.admin.settings.librdkafka import in_kafkas_names
    from kafka_admin_proto.admin.settings.properties import read_properties
    from kafka_admin_proto.admin.settings.providers import resolve

    properties = in_kafkas_names(resolve(read_properties(path)))
    others = [
        name
        for name in properties
        if name != "security.protocol" and not name.startswith(("sasl.", "ssl."))
    ]
    if others:
        raise SettingsError(
            f"{path}: {', '.join(others)} would have no effect: the proxy takes security.protocol, "
            "sasl.* and ssl.* properties"
        )
    config = client_config(upstream, command_config=properties)
    return config.ssl_context, config.credentials()


def _tls(path: str | None, *, of_clients: bool) -> ssl.SSLContext | None:
    """The context that a file of properties describes; None without a file."""
    if path is None:
        return None
    from kafka_admin_proto.admin.settings.librdkafka import in_kafkas_names
    from kafka_admin_proto.admin.settings.properties import read_properties
    from kafka_admin_proto.admin.settings.providers import resolve
    from kafka_admin_proto.admin.settings.security import TLS_PROPERTIES

    properties = in_kafkas_names(resolve(read_properties(path)))
    client_auth = properties.pop("ssl.client.auth", "none") if of_clients else "none"
    if others := [name for name in properties if name not in TLS_PROPERTIES]:
        raise SettingsError(
            f"{path}: {', '.join(others)} would have no effect: the proxy takes ssl.* properties, "
            "and clients log in to the cluster through it"
        )
    if of_clients:
        _refuse_of_clients(path, properties, client_auth)
    settings = TlsSettings.from_properties(properties)
    return settings.server_context(client_auth) if of_clients else settings.client_context()


def _refuse_of_clients(path: str, properties: Mapping[str, str], client_auth: str) -> None:
    """Refuse what is about certificates of clients where clients are not asked for one."""
    algorithm = "ssl.endpoint.identification.algorithm"
    if algorithm in properties:
        raise SettingsError(
            f"{path}: {algorithm} would have no effect: clients' names are not checked"
        )
    trust = [name for name in properties if name.startswith("ssl.truststore.")]
    if trust and client_auth == "none":
        raise SettingsError(
            f"{path}: {', '.join(trust)} would have no effect: clients are asked for no "
            "certificate; set ssl.client.auth=required, or leave it out"
        )


async def _pass_on(proxy: Proxy, listen: str, control: Path | None, record: str | None) -> None:
    ended = until_stopped()
    async with contextlib.AsyncExitStack() as opened:
        # Closed last: connections that the end of the proxy ends are in the capture too.
        capture = opened.enter_context(contextlib.ExitStack())
        try:
            await opened.enter_async_context(proxy)
        except OSError as error:
            text = f"cannot listen on {listen}: {error.strerror or error}"
            raise click.UsageError(text) from None
        if control is not None:
            from kafka_admin_proto.faults.commands import commands_of

            commands = commands_of(lambda: proxy.faults)
            await opened.enter_async_context(commands_at(control, commands))
        if record is not None:  # its file is emptied here, when all other options are checked
            with written_to("--record"):
                file = open(record, "wb")  # noqa: SIM115
                capture.callback(_close, file)
                proxy.observe(Recorder(file))
        print(proxy.bootstrap_servers, flush=True)
        await ended.wait()


def _close(file: IO[bytes]) -> None:
    """Close a capture: a write of it that failed has been reported before."""
    with contextlib.suppress(OSError):
        file.close()
