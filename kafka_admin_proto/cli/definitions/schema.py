"""``kap schema``: what messages look like, where they differ, and what is wrong with a text."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.captures.choice import complete_api
from kafka_admin_proto.cli.captures.readable import UnreadableInput, check_readable
from kafka_admin_proto.cli.lazy_group import LazyGroup
from kafka_admin_proto.cli.output import output_option, print_table, printable
from kafka_admin_proto.cli.schemas_option import load_folder, schemas_option
from kafka_admin_proto.errors import SchemaError, UnknownMessageError
from kafka_admin_proto.render.schema_rows import schema_rows
from kafka_admin_proto.schema.catalog import READERS, catalog
from kafka_admin_proto.schema.diff import diff as differences
from kafka_admin_proto.schema.diff import verdict
from kafka_admin_proto.schema.kafka_json.reader import without_comments
from kafka_admin_proto.schema.kafka_json.writer import write_message
from kafka_admin_proto.schema.kip.grammar import parse_grammars
from kafka_admin_proto.schema.kip.writer import write_grammar
from kafka_admin_proto.schema.lint.kafka_json import lint_definition
from kafka_admin_proto.schema.lint.kip import lint_proposal
from kafka_admin_proto.schema.model import MESSAGE_TYPES, MessageSpec
from kafka_admin_proto.schema.slip import Slip

_REFERENCE = re.compile(r"(?:(?P<dialect>[^:@]+):)?(?P<name>\w+)(?:@(?P<version>\d{1,5}))?")


@click.group(cls=LazyGroup, lazy={"stubs": ("definitions.stubs", "stubs")})
def schema() -> None:
    """List, show, compare and check message definitions, and write types of your own ones.

    A message is named as in CreateTopicsRequest, kip-516:VoteRequest, VoteRequest@1.
    """


@schema.command("list")
@click.option("--type", "type_", type=click.Choice(MESSAGE_TYPES), help="Only of this type.")
@click.option(
    "--dialect",
    type=click.Choice(catalog().dialects()),
    default="kafka",
    show_default=True,
    help="kafka is what shipped; the others are drafts.",
)
@output_option
def list_(type_: str | None, dialect: str, output: str) -> None:
    """List all messages: name, type, api key, versions, first flexible version.

    \b
    Example:
      kap schema list --type request
    """
    rows: list[dict[str, Any]] = []
    for name in catalog().names(dialect):
        entry = catalog().entry(name, dialect)
        if type_ in (None, entry.type):
            flexible = entry.flexible_versions.removesuffix("+")
            rows.append(
                {
                    "name": name,
                    "type": entry.type,
                    "api_key": entry.api_key,
                    "versions": entry.valid_versions,
                    "flexible_from": None if flexible == "none" else int(flexible),
                }
            )
    cells = [["" if value is None else str(value) for value in row.values()] for row in rows]
    if output == "json":
        click.echo(json.dumps(rows, indent=2))
    elif output == "tsv":
        for row in cells:
            click.echo("\t".join(row))
    else:
        print_table(["name", "type", "key", "versions", "flexible from"], cells)


@schema.command()
@click.argument("name", shell_complete=complete_api)
@click.option("--version", type=int, help="Only the fields of this version.")
@click.option(
    "--notation",
    type=click.Choice(["table", "json", "kip"]),
    default="table",
    show_default=True,
    help="json is Kafka's own definition format, kip the grammar of its proposals and guide.",
)
@schemas_option
def show(name: str, version: int | None, notation: str, schemas: str | None) -> None:
    """Show the fields of a message, or of an api's request and response.

    \b
    Examples:
      kap schema show CreateTopics
      kap schema show CreateTopics --version 1
      kap schema show VoteRequest --notation json
      kap schema show kip-516:VoteRequest --notation kip
      kap schema show GreetingRequest --schemas our-definitions
    """
    ((specs, asked),) = _all_specs((name,), schemas)
    version = asked if version is None else version
    if version is not None and not any(version in spec.valid_versions for spec in specs):
        versions = ", ".join(f"{spec.name} has {spec.valid_versions}" for spec in specs)
        raise click.UsageError(f"there is no version {version}: {versions}")
    if notation == "json":
        definitions = [json.loads(write_message(spec)) for spec in specs]
        click.echo(json.dumps(definitions[0] if len(specs) == 1 else definitions, indent=2))
    elif notation == "kip":
        grammars = [
            write_grammar(spec, each)
            for spec in specs
            for each in spec.valid_versions
            if version in (None, each)
        ]
        click.echo("\n".join(grammars), nl=False)
    else:
        for spec in specs:
            _print_spec(spec, version)


@schema.command()
@click.argument("left", shell_complete=complete_api)
@click.argument("right", shell_complete=complete_api)
@output_option
@schemas_option
def diff(left: str, right: str, output: str, schemas: str | None) -> None:
    """Compare two messages field by field, and say whether their bytes can differ.

    Without a version the newest is meant. With --schemas names without a dialect are the folder's;
    kafka: in front of one means Kafka's own.

    \b
    Examples:
      kap schema diff kip-516:UpdateMetadataRequest@7 kafka:UpdateMetadataRequest@7
      kap schema diff CreateTopicsRequest@4 CreateTopicsRequest@5
      kap schema diff VoteRequest kafka:VoteRequest --schemas newer-release/message

    \b
    Exit codes: 0 nothing differs, 1 something does, 2 usage.
    """
    sides = []
    references = (left, right)
    for reference, (specs, version) in zip(
        references, _all_specs(references, schemas), strict=True
    ):
        if len(specs) != 1:
            raise click.UsageError(f"{reference} is two messages; add Request or Response")
        (spec,) = specs
        version = spec.valid_versions.highest if version is None else version
        if version not in spec.valid_versions:
            raise click.UsageError(
                f"there is no version {version}: {spec.name} has {spec.valid_versions}"
            )
        sides.append((spec, version))
    different = differences(*sides[0], *sides[1])
    if output == "json":
        rows = [msgspec.to_builtins(difference) for difference in different]
        click.echo(json.dumps({"differences": rows, "verdict": verdict(different)}, indent=2))
    elif output == "tsv":
        for difference in different:
            click.echo("\t".join(msgspec.structs.astuple(difference)))
    else:
        if different:
            titles = [f"{spec.dialect}:{spec.name}@{version}" for spec, version in sides]
            cells = [list(msgspec.structs.astuple(difference)) for difference in different]
            print_table(["field", *titles, "bytes differ"], cells)
        click.echo(verdict(different))
    sys.exit(bool(different))


@schema.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True))
@output_option
def lint(files: tuple[str, ...], output: str) -> None:
    """Report the slips of proposals (any text with grammars), of .kip and .json definitions.

    FILES may be folders: of these the .kip and .json files are read. JSON in a folder that is not a
    message definition is passed over; a file given by name has to hold a definition.

    \b
    Examples:
      kap schema lint kip-516.txt
      kap schema lint our-definitions/
      kap schema show CreateTopics --notation kip | kap schema lint -

    \b
    Exit codes: 0 no slips, 1 some, 2 usage.
    """
    check_readable(files)
    rows: list[dict[str, Any]] = []
    passed_over = []
    for file in [each for name in files for each in _files_in(name)]:
        text = _text_of(file)
        if file not in files and isinstance(text, str) and _is_other_json(text):
            passed_over.append(file)
            continue
        slips = [text] if isinstance(text, Slip) else _slips(text, Path(file).suffix)
        rows += [{"file": file, **msgspec.to_builtins(slip)} for slip in slips]
    if passed_over:
        click.echo(printable(f"no message definitions: {', '.join(passed_over)}"), err=True)
    if output == "json":
        click.echo(json.dumps(rows, indent=2))
    for row in rows:
        cells = [printable(str(value)) for value in row.values()]
        if output == "tsv":
            click.echo("\t".join(cells))
        elif output == "table":
            file, line, column, rule, fault, remedy = cells
            click.echo(f"{file}:{line}:{column}: {fault}; {remedy} [{rule}]")
    sys.exit(bool(rows))


#: Keys of Kafka's definitions: JSON without any of them is something else.
_DEFINITION_KEYS = frozenset({"type", "validVersions", "fields"})
#: Spaces and comments, then a JSON object.
_JSON_OBJECT = re.compile(r"(?:\s|//[^\n]*+|/\*.*?\*/)*+\{", re.DOTALL)


def _text_of(file: str) -> str | Slip:
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Slip(line, 1, "not-text", "these bytes are not UTF-8", "save the file as UTF-8")


def _is_other_json(text: str) -> bool:
    """Whether this is well-formed JSON, and not a message definition."""
    try:
        data = json.loads(without_comments(text))
    except (SchemaError, ValueError, RecursionError):
        return False
    return not isinstance(data, dict) or not data.keys() & _DEFINITION_KEYS


def _slips(text: str, suffix: str) -> list[Slip]:
    if suffix == ".json" or _JSON_OBJECT.match(text):
        return lint_definition(text)
    slips = lint_proposal(text)
    if not slips and suffix not in READERS and not parse_grammars(text)[0]:
        remedy = "name a proposal with grammars, or a definition in JSON"
        return [Slip(1, 1, "no-definition", "there is no message definition in this text", remedy)]
    if slips or suffix not in READERS:
        return slips
    try:
        READERS[suffix](text, file="", dialect="kafka")
    except SchemaError as error:
        fault = f"{error.field}: {error.fault}" if error.field else error.fault
        return [Slip(1, 1, "definition", fault, error.remedy)]
    return []


def _files_in(name: str) -> list[str]:
    """The file, or the definitions in a folder and those below it."""
    if name == "-" or not Path(name).is_dir():
        return [name]
    found = [str(file) for file in sorted(Path(name).rglob("*")) if file.suffix in READERS]
    if not found:
        raise UnreadableInput(name, f"no {' or '.join(READERS)} files in this folder")
    return found


def _all_specs(
    references: tuple[str, ...], schemas: str | None
) -> list[tuple[list[MessageSpec], int | None]]:
    """``_specs`` of each; those that name no dialect are of the folder, where one is given."""
    if schemas is not None and all(":" in each for each in references):
        raise click.UsageError(
            f"--schemas has no effect on {' and '.join(references)}: leave out the dialect of what "
            "is in the folder"
        )
    dialect = "kafka" if schemas is None else load_folder(schemas)
    return [_specs(each, dialect) for each in references]


def _specs(reference: str, dialect: str) -> tuple[list[MessageSpec], int | None]:
    """The messages that a user means, and the version if the reference has one."""
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise click.UsageError(f"{reference!r} names no message: write dialect:Name@version")
    name, dialect = match["name"], match["dialect"] or dialect
    version = None if match["version"] is None else int(match["version"])
    try:
        return [catalog().spec(name, dialect)], version
    except UnknownMessageError as error:
        unknown = error
    try:
        pair = [catalog().spec(f"{name}{kind}", dialect) for kind in ("Request", "Response")]
    except UnknownMessageError:
        raise click.UsageError(str(unknown)) from None
    return pair, version


def _print_spec(spec: MessageSpec, version: int | None) -> None:
    name = spec.name if spec.dialect == "kafka" else f"{spec.dialect}:{spec.name}"
    title = f"{name}{'' if version is None else f' v{version}'}: {spec.type}"
    if spec.api_key is not None:
        title += f", api key {spec.api_key}"
    title += f", versions {spec.valid_versions}, flexible {spec.flexible_versions}"
    if spec.header_versions:
        headers = (f"{header} ({versions})" for versions, header in spec.header_versions)
        title += f", header {', '.join(headers)}"
    if not spec.deprecated_versions.empty:
        title += f", deprecated {spec.deprecated_versions}"
    unstable = catalog().entry(spec.name, spec.dialect).unstable_versions
    if unstable != "none":
        title += f", {unstable} unstable"
    columns = ["field", "type", "versions", "nullable", "tag", "default", "notes"]
    rows = []
    for row in schema_rows(spec, version):
        values = msgspec.structs.asdict(row)
        indented = "  " * row.depth + row.attribute
        rows.append([indented, *(values[column] for column in columns[1:])])
    print_table(columns, rows, title=title)
    click.echo()
