"""The columns of the pipeline's tables: types from ``tables/schemas.py``, and meanings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tools.site.markdown import code, field_table

if TYPE_CHECKING:
    import pyarrow as pa


class _Table(msgspec.Struct, frozen=True):
    """What a row of a table is, and the meanings of columns that differ from everywhere else."""

    row: str
    columns: dict[str, str]


class _Texts(msgspec.Struct, frozen=True):
    """``pipeline_tables.json``: what columns mean in each table that has them, and the tables."""

    everywhere: dict[str, str]
    tables: dict[str, _Table]


_TEXTS = msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes(), type=_Texts)


def meanings(name: str) -> dict[str, str]:
    """Column → its meaning, for all that have one."""
    return {**_TEXTS.everywhere, **_TEXTS.tables[name].columns}


def table_text(name: str) -> str:
    """The columns of a table."""
    from kafka_admin_proto.tables.schemas import TABLES

    meaning = meanings(name)
    rows = [
        [code(field.name), code(_type(field.type)), meaning[field.name]] for field in TABLES[name]
    ]
    lines = [
        f"A row for {_TEXTS.tables[name].row}.",
        "",
        *field_table(["Column", "Type", "Meaning"], rows),
    ]
    return "\n".join(lines)


def _type(found: pa.DataType) -> str:
    """A type as Spark's SQL names it."""
    import pyarrow as pa

    if pa.types.is_list(found):
        return f"array<{_type(found.value_type)}>"
    if pa.types.is_map(found):
        return f"map<{_type(found.key_type)}, {_type(found.item_type)}>"
    if pa.types.is_struct(found):
        return f"struct<{', '.join(f'{each.name}: {_type(each.type)}' for each in found)}>"
    if pa.types.is_timestamp(found):
        return "timestamp"
    return _NAMES[str(found)]


_NAMES = {
    "bool": "boolean", "date32[day]": "date", "int16": "smallint", "int32": "int",
    "int64": "bigint", "string": "string",
}  # fmt: skip


def unknown() -> Iterator[str]:
    """Columns without a meaning, and meanings of no column."""
    from kafka_admin_proto.tables.schemas import TABLES

    everywhere, tables = _TEXTS.everywhere, _TEXTS.tables
    yield from sorted(set(tables) ^ set(TABLES))
    used = set()
    for name, schema in TABLES.items():
        yield from (f"{name}.{each}" for each in schema.names if each not in meanings(name))
        yield from (f"{name}.{each}" for each in tables[name].columns if each not in schema.names)
        used |= set(schema.names) - set(tables[name].columns)
    yield from sorted(set(everywhere) - used)


INSERTS: dict[str, Callable[[], str]] = {
    f"table-{name}": partial(table_text, name) for name in _TEXTS.tables
}
