"""The option ``--schemas``: a folder of definitions that a command reads by."""

from __future__ import annotations

import click

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.loaded_schemas import load_schemas

schemas_option = click.option(
    "--schemas",
    type=click.Path(exists=True, file_okay=False),
    help="A folder of definitions to read by, as of a newer release.",
)


def load_folder(folder: str) -> str:
    """Load the definitions in a folder; returns their dialect. UsageError for one with a fault."""
    try:
        return load_schemas(folder, dialect=f"definitions in {folder}")
    except SchemaError as error:
        raise click.UsageError(str(error)) from None
