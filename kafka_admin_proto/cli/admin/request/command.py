"""The command ``kap request``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kafka_admin_proto.admin.session.effects import Effect, effect_of
from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.request.fields import request_json, with_defaults
from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import (
    EncodeError,
    JsonError,
    UnknownMessageError,
    UnsupportedVersionError,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.versions import VersionRange

if TYPE_CHECKING:
    from kafka_admin_proto.admin import AdminClient, Reply
    from kafka_admin_proto.values import Message

#: Any will do: the request is sent by the client's session, not by operations.
_OPERATIONS = ("topics.descriptions:DescribeTopics",)


@click.command("request", cls=ClusterCommand, default_output="json", operations=_OPERATIONS)
@click.argument("api", metavar="API", shell_complete=completion.apis)
@click.option("--version", type=int, help="The newest that both sides have otherwise.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE",
    help="A field, as in topics[0].name=orders; VALUE is JSON, or else text; repeatable.",
)
@click.option(
    "--json",
    "source",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="A file with the request as JSON; - is standard input.",
)
@click.option(
    "--broker",
    type=int,
    shell_complete=completion.brokers,
    help="Whom to ask, by its id. Any broker otherwise.",
)
@click.option("--controller", is_flag=True, help="Ask the active controller.")
@click.option("--show-secrets", is_flag=True, help="Do not mask secrets in the response.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before a request that may destroy.")
def request(
    live: Live,
    api: str,
    version: int | None,
    sets: tuple[str, ...],
    source: str | None,
    broker: int | None,
    controller: bool,
    show_secrets: bool,
    yes: bool,
) -> Answer:
    """Send any request and print its response, both as Kafka's own JSON.

    The request is JSON on standard input or in a file, with --set on top; fields that are not
    named are at their defaults, and arrays that may be null at null: all topics, or replicas that
    the cluster chooses. Metadata creates no topic unless allowAutoTopicCreation is set; before
    version 4 it cannot say so. kap schema show API@VERSION lists the fields. Credentials are not
    for --set: everybody on this machine can read command lines.

    \b
    Examples:
      kap request Metadata --version 12 --set topics=null
      kap request DescribeConfigs --set resources[0].resourceType=2
          --set resources[0].resourceName=orders
      echo '{"topics": [{"name": "a"}]}' | kap request CreateTopics --version 5
    """
    from kafka_admin_proto.protocol.error_codes import error_name
    from kafka_admin_proto.render.field_scan import error_codes

    if broker is not None and controller:
        raise click.UsageError("--broker and --controller exclude each other")
    name, dialect = _message(api, live.settings.dialect, version)
    if source is None and not sets and not live.in_shell and sys.stdin and not sys.stdin.isatty():
        source = "-"
    given = request_json(name, source, sets, dialect=dialect)
    if effect_of(name) is Effect.DESTROYS:
        confirm(f"Send {name}?", yes=yes)

    async def ask(client: AdminClient) -> Reply[Message]:
        from kafka_admin_proto.admin.caller import Target
        from kafka_admin_proto.admin.operations.common.timeouts import wire_timeout_ms
        from kafka_admin_proto.admin.retry import Deadline

        if dialect != "kafka":  # a cluster without the draft takes its TopicMetadata for Metadata
            from kafka_admin_proto.admin.drafts.caller import DraftCaller

            assert isinstance(client, DraftCaller)
            await client.check_cluster(Deadline(client.default_timeout))
        to = Target.CONTROLLER if controller else Target.ANY if broker is None else broker
        chosen = version
        if chosen is None:
            chosen = _newest(name, await client.versions(to), dialect)
        timeout_ms = wire_timeout_ms(client.default_timeout)
        filled = with_defaults(name, chosen, given, timeout_ms=timeout_ms, dialect=dialect)
        body = codec(name, chosen, dialect=dialect).from_json(filled)
        answer = name.removesuffix("Request") + "Response"
        response = codec(answer, chosen, dialect=dialect).value_class
        return await client.call(
            body, response, to=to, repeatable=False, versions=VersionRange(chosen, chosen)
        )

    try:
        reply = live.ask(ask)
    except (JsonError, EncodeError) as error:
        raise click.UsageError(str(error)) from None
    answered = codec(type(reply.body), reply.version)
    response = answered.to_json(reply.body, mask=not show_secrets)
    said = _sentences(response)
    errors = [
        failures.entry(
            error_name(code, dialect=dialect) or str(code),
            sentence,
            {"api": name.removesuffix("Request")},
        )
        for code in error_codes(answered, reply.body)
        for sentence in said.get(code, [None])
    ]
    return Answer(
        document={
            "api": name.removesuffix("Request"),
            "version": reply.version,
            "broker": reply.broker,
            "response": response,
        },
        tables=[Table(rows=[{"field": p, "value": v} for p, v in _leaves(response, "")])],
        errors=errors,
    )


def _sentences(response: Any) -> dict[int, list[str]]:
    """What the broker says beside each error code, each sentence once."""
    sentences_of: dict[int, dict[str, None]] = {}

    def look(value: Any) -> None:
        if isinstance(value, dict):
            code, sentence = value.get("errorCode"), value.get("errorMessage")
            if code and sentence:
                sentences_of.setdefault(code, {})[sentence] = None
        for each in value.values() if isinstance(value, dict) else value:
            if isinstance(each, dict | list):
                look(each)

    look(response)
    return {code: list(sentences) for code, sentences in sentences_of.items()}


def _message(api: str, dialect: str, version: int | None) -> tuple[str, str]:
    """The request of an api by its name in any case, or its key, and its dialect.

    What a draft does not have is Kafka's own. Raises click.UsageError.
    """
    from kafka_admin_proto.protocol.headers import message_of
    from kafka_admin_proto.schema.message_names import find_message

    if "," in api:
        raise click.UsageError("one request at a time")
    if api.isdecimal():
        by_key = message_of(int(api), -1 if version is None else version, "request", dialect)
        if by_key is None:
            raise click.UsageError(f"no api has the key {api}")
        return by_key
    try:
        name, dialect_of = find_message(api, dialect=dialect, version=version)
    except UnknownMessageError as error:
        raise click.UsageError(str(error)) from None
    if catalog().entry(name, dialect_of).type != "request":
        raise click.UsageError(f"{name} is no request")
    return name, dialect_of


def _newest(name: str, apis: Any, dialect: str) -> int:
    """The newest version of a request that both sides have."""
    from kafka_admin_proto.protocol.versions import supported

    ours = supported(name, dialect=dialect)
    theirs = apis.get(codec(name, ours.highest, dialect=dialect).value_class.api_key)
    shared = None if theirs is None else theirs & ours
    if shared is None or shared.empty:
        raise UnsupportedVersionError(f"the broker has {name} in versions {theirs}, we in {ours}")
    return int(shared.highest)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from _leaves(each, f"{path}[{index}]")
    else:
        yield path, value
