"""``kap schema``: what messages look like."""

from __future__ import annotations

import json
from typing import Any

import click
import msgspec

from kafka_admin_proto.cli.decode import complete_api
from kafka_admin_proto.cli.output import print_table
from kafka_admin_proto.errors import UnknownMessageError
from kafka_admin_proto.render.schema_rows import schema_rows
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kafka_json import write_message
from kafka_admin_proto.schema.model import MESSAGE_TYPES, MessageSpec


@click.group()
def schema() -> None:
    """List and show message definitions."""


@schema.command("list")
@click.option("--type", "type_", type=click.Choice(MESSAGE_TYPES), help="Only of this type.")
@click.option(
    "--output",
    type=click.Choice(["table", "json", "tsv"]),
    default="table",
    show_default=True,
)
def list_(type_: str | None, output: str) -> None:
    """List all messages: name, type, api key, versions, first flexible version.

    \b
    Example:
      kap schema list --type request
    """
    rows: list[dict[str, Any]] = []
    for name in catalog().names():
        entry = catalog().entry(name)
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
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="json is Kafka's own definition format.",
)
def show(name: str, version: int | None, output: str) -> None:
    """Show the fields of a message, or of an api's request and response.

    \b
    Examples:
      kap schema show CreateTopics
      kap schema show CreateTopics --version 1
      kap schema show VoteRequest --output json
    """
    specs = _specs(name)
    if version is not None and not any(version in spec.valid_versions for spec in specs):
        versions = ", ".join(f"{spec.name} has {spec.valid_versions}" for spec in specs)
        raise click.UsageError(f"there is no version {version}: {versions}")
    if output == "json":
        definitions = [json.loads(write_message(spec)) for spec in specs]
        click.echo(json.dumps(definitions[0] if len(specs) == 1 else definitions, indent=2))
        return
    for spec in specs:
        _print_spec(spec, version)


def _specs(name: str) -> list[MessageSpec]:
    try:
        return [catalog().spec(name)]
    except UnknownMessageError as error:
        unknown = error
    try:
        return [catalog().spec(f"{name}Request"), catalog().spec(f"{name}Response")]
    except UnknownMessageError:
        raise click.UsageError(str(unknown)) from None


def _print_spec(spec: MessageSpec, version: int | None) -> None:
    title = f"{spec.name}{'' if version is None else f' v{version}'}: {spec.type}"
    if spec.api_key is not None:
        title += f", api key {spec.api_key}"
    title += f", versions {spec.valid_versions}, flexible {spec.flexible_versions}"
    columns = ["field", "type", "versions", "nullable", "tag", "default", "notes"]
    rows = []
    for row in schema_rows(spec, version):
        values = msgspec.structs.asdict(row)
        indented = "  " * row.depth + row.attribute
        rows.append([indented, *(values[column] for column in columns[1:])])
    print_table(columns, rows, title=title, wrap=("type", "notes"))
    click.echo()
