"""``kap schema stubs``: what type checkers know of the classes that ``load_schemas`` makes."""

from __future__ import annotations

from collections.abc import Iterator

import click

from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.output import written_to
from kafka_admin_proto.cli.schemas_option import load_folder, schemas_option
from kafka_admin_proto.loaded_schemas import annotation, has_unknown_tags
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name

#: Definitions may have messages, structs and fields of these names: none begins with "_".
_HEAD = '''\
"""Made by kap schema stubs: for type checkers alone, import it under TYPE_CHECKING."""

import builtins as _builtins
from uuid import UUID as _UUID

from kafka_admin_proto.values import Message as _Message, StructValue as _StructValue
'''


@click.command(cls=GivenOnceCommand)
@schemas_option
@click.option(
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True),
    default="-",
    help="The file to write, as in mine.pyi; - is standard output, and the default.",
)
def stubs(schemas: str | None, out: str) -> None:
    """Write type stubs of the classes that load_schemas makes of a folder of definitions.

    \b
    Example:
      kap schema stubs --schemas our-definitions --out ours.pyi
    """
    if schemas is None:
        raise click.UsageError("name a folder with --schemas: Kafka's own messages have types")
    dialect = load_folder(schemas)
    specs = [catalog().spec(name, dialect) for name in catalog().names(dialect)]
    text = "".join([_HEAD, *(f"\n{line}" for spec in specs for line in _message(spec)), "\n"])
    with written_to("--out"), click.open_file(out, "w", encoding="utf-8") as file:
        file.write(text)


def _message(spec: MessageSpec) -> Iterator[str]:
    """The class of a message, with those of its structs inside, as they are at run time."""
    yield ""
    yield f"class {spec.name}(_Message):"
    for struct in spec.structs().values():
        yield f"    class {struct.name}(_StructValue):"
        yield from (f"        {line}" for line in _fields(spec, struct))
    yield from (f"    {line}" for line in _fields(spec, spec.struct))


def _fields(spec: MessageSpec, struct: StructSpec) -> Iterator[str]:
    attributes = {python_name(field.name) for field in struct.fields}

    def named(name: str) -> str:
        """The name of a type where a field, which hides it, may have the same."""
        if name == "UUID":
            return "_UUID"
        return f"_builtins.{name}" if name in attributes else name

    for field in struct.fields:
        text = annotation(field, inside=spec.name, named=named)
        yield f"{python_name(field.name)}: {text} = ..."
    if has_unknown_tags(spec):
        pair = f"{named('tuple')}[{named('int')}, {named('bytes')}]"
        yield f"unknown_tagged_fields: {named('tuple')}[{pair}, ...] = ..."
    elif not struct.fields:
        yield "..."
