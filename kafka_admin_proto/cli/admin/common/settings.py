"""Options that every command for a cluster has, and their values."""

from __future__ import annotations

from typing import Any

import click
import msgspec
from click.core import ParameterSource

from kafka_admin_proto.cli.admin.common.answer import OUTPUTS
from kafka_admin_proto.cli.numbers import Seconds

#: Seconds for the whole command where nothing was said.
DEFAULT_TIMEOUT_S = 30.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The values of the shared options; None where nothing was said. ``timeout`` is in seconds."""

    bootstrap_server: str | None = None
    bootstrap_controller: str | None = None
    command_config: str | None = None
    timeout: float | None = None
    output: str | None = None
    trace: bool = False
    dialect: str = "kafka"
    max_release: str | None = None

    @property
    def client(self) -> tuple[object, ...]:
        """What a client is made of: commands that agree in it share one."""
        where = self.bootstrap_server, self.bootstrap_controller, self.command_config
        return *where, self.timeout, self.trace, self.dialect, self.max_release

    def check(self) -> None:
        """Raise click.UsageError where no cluster is named, or two are."""
        if self.bootstrap_server and self.bootstrap_controller:
            raise click.UsageError(
                "--bootstrap-server and --bootstrap-controller exclude each other: name brokers "
                "or controllers"
            )
        if not (self.bootstrap_server or self.bootstrap_controller or self.command_config):
            raise click.UsageError(
                "no cluster is named: give --bootstrap-server HOST:PORT or set KAP_BOOTSTRAP_SERVER"
            )


def split_settings(
    ctx: click.Context, shell: Settings | None = None
) -> tuple[Settings, dict[str, Any]]:
    """The shared options of a command that was parsed, and its own parameters.

    In a shell, what the command line does not say is as the shell has it: the environment was
    asked when the shell began.
    """
    own = dict(ctx.params)
    given = {name: own.pop(name) for name in Settings.__struct_fields__}
    said = {name: value for name, value in given.items() if is_said(ctx, name)}
    names_cluster = "bootstrap_server" in said or "bootstrap_controller" in said
    if shell is None:
        if names_cluster:  # the environment does not name another one beside it
            for name in ("bootstrap_server", "bootstrap_controller"):
                given[name] = said.get(name)
        return Settings(**given), own
    if names_cluster:
        shell = msgspec.structs.replace(shell, bootstrap_server=None, bootstrap_controller=None)
    return msgspec.structs.replace(shell, **said), own


def is_said(ctx: click.Context, name: str) -> bool:
    """Whether the command line itself has the option."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


class SharedOption(click.Option):
    """One of the options below; help lists them apart from the command's own."""


def shared_options(default_output: str) -> list[click.Parameter]:
    """New options for a command. Each takes its value from the environment where not given."""
    return [
        SharedOption(
            ["--bootstrap-server", "-b"],
            metavar="HOST:PORT,…",
            envvar="KAP_BOOTSTRAP_SERVER",
            help="Brokers to begin with (KAP_BOOTSTRAP_SERVER).",
        ),
        SharedOption(
            ["--bootstrap-controller"],
            metavar="HOST:PORT,…",
            envvar="KAP_BOOTSTRAP_CONTROLLER",
            help="Controllers of a KRaft cluster to begin with instead (KAP_BOOTSTRAP_CONTROLLER).",
        ),
        SharedOption(
            ["--command-config"],
            metavar="FILE",
            type=click.Path(dir_okay=False),
            envvar="KAP_COMMAND_CONFIG",
            help="Properties of a client: security.protocol, sasl.*, ssl.* (KAP_COMMAND_CONFIG).",
        ),
        SharedOption(
            ["--timeout"],
            type=Seconds(min=0),
            metavar="SECONDS",
            envvar="KAP_TIMEOUT",
            help="For the whole command, 30 by default. A change is waited for until every "
            "broker has it; with 0 it is only set going, and all answers have 30 s (KAP_TIMEOUT).",
        ),
        SharedOption(
            ["--output", "-o"],
            type=click.Choice(OUTPUTS),
            envvar="KAP_OUTPUT",
            help=f"How to write the answer; {default_output} by default (KAP_OUTPUT).",
        ),
        SharedOption(
            ["--trace"],
            is_flag=True,
            envvar="KAP_TRACE",
            help="Show each request and response on standard error, secrets masked (KAP_TRACE).",
        ),
        SharedOption(
            ["--dialect"],
            type=click.Choice(["kafka", "kip-4a", "kip-4b"]),
            default="kafka",
            envvar="KAP_DIALECT",
            help="Send a draft's messages where it has them (KAP_DIALECT).",
        ),
        SharedOption(
            ["--max-release"],
            metavar="RELEASE",
            envvar="KAP_MAX_RELEASE",
            help="Send no newer versions of requests than that release of Kafka has, as 3.9 "
            "(KAP_MAX_RELEASE).",
        ),
    ]
