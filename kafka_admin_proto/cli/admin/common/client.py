"""The client of a command: its settings from options, file and environment, and its trace."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from kafka_admin_proto.cli.admin.common.settings import DEFAULT_TIMEOUT_S, Settings

if TYPE_CHECKING:
    from kafka_admin_proto.admin.client import AdminClient

USER, PASSWORD = "KAP_SASL_USERNAME", "KAP_SASL_PASSWORD"


def client_arguments(settings: Settings, *, may_ask: bool) -> dict[str, Any]:
    """Arguments of a client. A user or password that the file lacks is in the environment.

    A password that is in neither is asked for on a terminal, where ``may_ask``. Raises
    ConfigurationError, click.UsageError.
    """
    properties: Mapping[str, str] = {}
    if settings.command_config is not None:
        from kafka_admin_proto.admin.settings.librdkafka import in_kafkas_names
        from kafka_admin_proto.admin.settings.properties import read_properties
        from kafka_admin_proto.admin.settings.providers import resolve

        properties = in_kafkas_names(resolve(read_properties(settings.command_config)))
    login = {}
    if _wants_login(properties):
        login = _login(properties, may_ask)
    elif may_ask and (idle := [name for name in (USER, PASSWORD) if name in os.environ]):
        why = (
            "the login is by tokens"
            if _has_tokens(properties)
            else "the command's configuration has the login"
            if _has_login(properties)
            else "the command's configuration has no security.protocol with SASL"
        )
        click.echo(f"no effect: {', '.join(idle)}; {why}", err=True)
    given = settings.timeout
    timeout = given if given is not None and given > 0 else DEFAULT_TIMEOUT_S
    arguments = {
        "bootstrap_servers": settings.bootstrap_server,
        "bootstrap_controllers": settings.bootstrap_controller,
        "command_config": properties,
        "timeout": timeout,
        "client_id": properties.get("client.id", "kap"),
        "dialect": settings.dialect,
        "max_release": settings.max_release,
        **login,
    }
    if settings.trace:
        from kafka_admin_proto.cli.admin.common.trace import print_event

        arguments["trace"] = print_event
    return arguments


def new_client(
    arguments: Mapping[str, Any], operations: Sequence[str]
) -> tuple[AdminClient, list[str]]:
    """A client that has no connection yet, and what is to be said of its settings.

    ``operations`` names its classes of operations, as "topics.descriptions:DescribeTopics": the
    whole client loads a hundred messages, which one command does not wait for. The sentences are
    its warnings, and properties that have no effect. Raises ConfigurationError.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        client = _new_client(arguments, operations)
    notices = []
    for warning in caught:
        if warning.category is UserWarning:
            notices.append(f"warning: {warning.message}")
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if unused := client.config.unused:
        notices.append(f"no effect here: {', '.join(unused)}")
    return client, notices


def _new_client(arguments: Mapping[str, Any], operations: Sequence[str]) -> AdminClient:
    if not operations:
        from kafka_admin_proto.admin.client import AdminClient as Whole

        return Whole(**arguments)
    from kafka_admin_proto.admin.session.base_client import BaseClient

    bases = []
    for each in operations:
        module, _, name = each.partition(":")
        bases.append(getattr(import_module(f"kafka_admin_proto.admin.operations.{module}"), name))
    kind: Any = type("CommandClient", (*bases, BaseClient), {})
    client: AdminClient = kind(**arguments)
    return client


def _wants_login(properties: Mapping[str, str]) -> bool:
    protocol = properties.get("security.protocol", "").strip().upper()
    wants_sasl = protocol.startswith("SASL") or (not protocol and "sasl.mechanism" in properties)
    return wants_sasl and not (_has_login(properties) or _has_tokens(properties))


def _has_login(properties: Mapping[str, str]) -> bool:
    both = all(properties.get(name) for name in ("sasl.username", "sasl.password"))
    return both or bool(properties.get("sasl.jaas.config"))


def _has_tokens(properties: Mapping[str, str]) -> bool:
    """Whether the login is by tokens, which have no user and no password."""
    return properties.get("sasl.mechanism", "").strip() in ("OAUTHBEARER", "AWS_MSK_IAM")


def _login(properties: Mapping[str, str], may_ask: bool) -> dict[str, Any]:
    """User and password: of the file, else of the environment."""
    names = {USER: "sasl.username", PASSWORD: "sasl.password"}
    in_file = {name: properties.get(names[name], "").strip() for name in names}
    if may_ask and (idle := [name for name in names if in_file[name] and name in os.environ]):
        click.echo(f"no effect: {', '.join(idle)}; the command's configuration has it", err=True)
    user = in_file[USER] or os.environ.get(USER)
    if not user:
        raise click.UsageError(
            f"the command's configuration says {properties.get('security.protocol') or 'SASL'} and "
            f"names no user: give sasl.jaas.config in the file, or set {USER} and {PASSWORD}"
        )
    password = in_file[PASSWORD] or os.environ.get(PASSWORD)
    if password is None:
        if not (may_ask and sys.stdin and sys.stdin.isatty()):
            raise click.UsageError(
                f"there is no password for {user}: set {PASSWORD}, or give sasl.jaas.config in the "
                "file"
            )
        password = click.prompt(f"Password of {user}", hide_input=True, err=True)
    return {"sasl_username": user, "sasl_password": password}
