"""``kap request``: any request of the protocol, from JSON, and its response as JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Table
from kafka_admin_proto.cli.admin.common.command import ClusterCommand
from kafka_admin_proto.cli.admin.common.confirm import confirm
from kafka_admin_proto.cli.admin.common.live import Live

#: Beginnings of the names of requests that destroy what nobody can bring back.
_DESTRUCTIVE = re.compile(r"Delete|OffsetDelete|StopReplica|UnregisterBroker|RemoveRaftVoter")
#: A step of a path: a name, or an index as in topics[0] or topics.0.
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
#: No list of a request that --set makes is longer.
_LONGEST = 10_000


#: Whichever: the request goes through the session below.
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
@click.option("--yes", "-y", is_flag=True, help="Do not ask before a request that deletes.")
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
    named are at their defaults. kap schema show API@VERSION lists the fields.

    \b
    Examples:
      kap request Metadata --version 12 --set topics=null
      kap request DescribeConfigs --set resources[0].resourceType=2
          --set resources[0].resourceName=orders
      echo '{"topics": [{"name": "a"}]}' | kap request CreateTopics --version 5
    """
    from kafka_admin_proto.codec import codec
    from kafka_admin_proto.errors import EncodeError, JsonError
    from kafka_admin_proto.protocol.error_codes import error_name
    from kafka_admin_proto.render.field_scan import error_codes
    from kafka_admin_proto.schema.versions import VersionRange

    if broker is not None and controller:
        raise click.UsageError("--broker and --controller exclude each other")
    name = _message_name(api)
    given = _fields(source, sets)
    if _DESTRUCTIVE.match(name):
        confirm(f"Send {name}?", yes=yes)

    async def ask(client: Any) -> Any:
        from kafka_admin_proto.admin.caller import Target

        to = Target.CONTROLLER if controller else Target.ANY if broker is None else broker
        chosen = version
        if chosen is None:
            chosen = _newest(name, await client.versions(to))
        body = codec(name, chosen).from_json(_whole(name, chosen, given))
        response = codec(name.removesuffix("Request") + "Response", chosen).value_class
        return await client.call(
            body, response, to=to, repeatable=False, versions=VersionRange(chosen, chosen)
        )

    try:
        reply = live.ask(ask)
    except (JsonError, EncodeError) as error:
        raise click.UsageError(str(error)) from None
    answered = codec(type(reply.body), reply.version)
    errors = [
        failures.entry(error_name(code) or str(code), None, {"api": name.removesuffix("Request")})
        for code in error_codes(answered, reply.body)
    ]
    response = answered.to_json(reply.body, mask=not show_secrets)
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


def _message_name(api: str) -> str:
    """The request of an api by its name in any case, or its key. Raises click.UsageError."""
    from kafka_admin_proto.cli.filters import api_keys
    from kafka_admin_proto.protocol.payloads import api_name

    if "," in api:
        raise click.UsageError("one request at a time")
    (key,) = api_keys(api, "kafka")
    name = api_name(key)
    if name is None:
        raise click.UsageError(f"no api has the key {key}")
    return f"{name}Request"


def _newest(name: str, apis: Any) -> int:
    """The newest version of a request that both sides have."""
    from kafka_admin_proto.codec import codec
    from kafka_admin_proto.errors import UnsupportedVersionError
    from kafka_admin_proto.protocol.versions import supported

    ours = supported(name)
    theirs = apis.get(codec(name, ours.highest).value_class.api_key)
    shared = None if theirs is None else theirs & ours
    if shared is None or shared.empty:
        raise UnsupportedVersionError(f"the broker has {name} in versions {theirs}, we in {ours}")
    return int(shared.highest)


def _whole(name: str, version: int, given: Any) -> Any:
    """The request with each field that was not given at its default, in structs inside too."""
    from kafka_admin_proto.codec import codec
    from kafka_admin_proto.schema.catalog import catalog
    from kafka_admin_proto.schema.names import python_name

    found = codec(name, version)
    spec = catalog().spec(name)
    structs = spec.structs()

    def example(struct: str, fields: Any) -> Any:
        """A struct with one item in each list of structs that this version has."""
        inside = {
            python_name(field.name): [
                example(field.type.element, structs[field.type.element].fields)
            ]
            for field in fields
            if field.type.is_struct and field.type.is_array and version in field.versions
        }
        kind = found.value_class
        return (kind if struct == name else getattr(kind, struct))(**inside)

    filled = found.to_json(example(name, spec.fields))
    return _filled(given, filled, found.to_json(found.value_class()))


def _filled(given: Any, example: Any, default: Any) -> Any:
    """``given`` with what it lacks of ``default``; items of lists are like those of ``example``."""
    if isinstance(given, list) and isinstance(example, list) and example:
        (item,) = example
        if not isinstance(item, dict):
            return given
        bare = {
            key: [] if isinstance(each, list) and each and isinstance(each[0], dict) else each
            for key, each in item.items()
        }
        return [_filled(each, item, bare) for each in given]
    if isinstance(given, dict) and isinstance(example, dict) and isinstance(default, dict):
        parts = {key: _filled(each, example.get(key), default.get(key))
                 for key, each in given.items()}  # fmt: skip
        return {**default, **parts}
    return given


def _fields(source: str | None, sets: tuple[str, ...]) -> Any:
    """The request's JSON: what was read, with --set on top. Raises click.UsageError."""
    given: Any = {}
    if source is None and not sets and sys.stdin and not sys.stdin.isatty():
        source = "-"
    if source is not None:
        try:
            with click.open_file(source, "rb") as file:
                text = file.read()
        except OSError as error:
            raise click.UsageError(f"--json {source}: {error.strerror}") from None
        try:
            given = msgspec.json.decode(text) if text.strip() else {}
        except msgspec.DecodeError as error:
            raise click.UsageError(f"the request is not JSON: {error}") from None
    for each in sets:
        path, sign, value = each.partition("=")
        steps = [int(index) if index else name for name, index in _STEP.findall(path)]
        steps = [int(step) if isinstance(step, str) and step.isdecimal() else step
                 for step in steps]  # fmt: skip
        if not sign or not steps:
            raise click.UsageError(f"--set {each}: expected PATH=VALUE, as in topics[0].name=a")
        try:
            parsed = msgspec.json.decode(value.encode())
        except (msgspec.DecodeError, UnicodeEncodeError):
            parsed = value
        given = _with(given, steps, parsed, path)
    return given


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each value that has no parts, with its path."""
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from _leaves(each, f"{path}[{index}]")
    else:
        yield path, value


def _with(value: Any, steps: list[Any], new: Any, path: str) -> Any:
    """The value with ``new`` at the place that the steps lead to."""
    if not steps:
        return new
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        if value in (None, {}):
            value = []
        if not isinstance(value, list) or step > min(len(value), _LONGEST):
            raise click.UsageError(f"--set {path}: there is no item before {step}")
        return [*value[:step], _with(value[step] if step < len(value) else None, rest, new, path),
                *value[step + 1 :]]  # fmt: skip
    value = {} if value is None else value
    if not isinstance(value, dict):
        raise click.UsageError(f"--set {path}: {step} is not within a struct")
    return {**value, step: _with(value.get(step), rest, new, path)}
