"""Groups of rows, counted batch by batch: memory holds the groups and one batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Row = dict[str, Any]
#: Types of columns of answers.
TEXT, TIME, COUNT, FLAG = pa.string(), pa.timestamp("us", tz="UTC"), pa.int64(), pa.bool_()
TEXTS = pa.list_(TEXT)
SPAN = [("first_ts", TIME), ("last_ts", TIME)]
#: Groups of single batches that are put together when there are so many more.
_COMPACT_ROWS = 65_536
#: RE2's syntax; a dot is any character.
_ENDPOINT = r"(?s)^\[?(.*?)\]?:\d+$"
_MERGED = {"count_all": "sum", "ts_min": "min", "ts_max": "max"}


def count_groups(parts: Iterable[pa.Table], keys: Sequence[str]) -> pa.Table:
    """The distinct ``keys`` among rows, with ``count``, ``first_ts`` and ``last_ts``.

    ``parts`` have the keys and ``ts``. Nulls are a key like any other.
    """
    counted: list[pa.Table] = []
    waiting, limit = 0, _COMPACT_ROWS
    for part in parts:
        made = part.group_by(keys).aggregate([([], "count_all"), ("ts", "min"), ("ts", "max")])
        counted.append(made.select([*keys, *_MERGED]))
        waiting += made.num_rows
        if waiting > limit:
            counted = [_merged(counted, keys)]
            waiting = counted[0].num_rows
            limit = _COMPACT_ROWS + waiting
    if not counted:
        return pa.table({name: [] for name in (*keys, "count", "first_ts", "last_ts")})
    return _merged(counted, keys).rename_columns([*keys, "count", "first_ts", "last_ts"])


def _merged(counted: Sequence[pa.Table], keys: Sequence[str]) -> pa.Table:
    together = pa.concat_tables(counted)
    if len(counted) == 1:
        return together
    found = together.group_by(keys).aggregate(list(_MERGED.items()))
    names = [*keys, *(f"{name}_{function}" for name, function in _MERGED.items())]
    return found.select(names).rename_columns([*keys, *_MERGED])


def records(rows: pa.Table) -> list[Row]:
    """Rows as dicts, times as microseconds since 1970."""
    for index, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            rows = rows.set_column(index, field.name, rows.column(index).cast(pa.int64()))
    found: list[Row] = rows.to_pylist()
    return found


def with_address(part: pa.Table) -> pa.Table:
    """Rows with ``address``: ``client`` without its port, an IPv6 address without the brackets."""
    client = part["client"].combine_chunks().dictionary_encode()
    addresses = pc.replace_substring_regex(client.dictionary, _ENDPOINT, r"\1")
    return part.append_column("address", addresses.take(client.indices))


def with_api_name(part: pa.Table) -> pa.Table:
    """Rows whose ``api`` is never null: an unknown api's is its key."""
    key = pc.binary_join_element_wise("api key ", part["api_key"].cast(pa.string()), "")
    name = pc.coalesce(part["api"], key, pa.scalar("unknown"))
    return part.set_column(part.schema.get_field_index("api"), "api", name)


def nulls_first(*values: Any) -> tuple[Any, ...]:
    """A key to sort by, where None comes before anything else."""
    return tuple((value is not None, value) if value is not None else (False,) for value in values)


def most_frequent(counted: pa.Table, keys: Sequence[str], count: str) -> pa.Table:
    """Groups in the order of their ``count``, then of their keys."""
    rows = records(counted)
    rows.sort(key=lambda row: (-row["count"], *nulls_first(*(row[name] for name in keys))))
    types = {"forwarded": FLAG}
    return table_of(
        (row | {count: row["count"]} for row in rows),
        [*((name, types.get(name, TEXT)) for name in keys), (count, COUNT), *SPAN],
    )


def table_of(rows: Iterable[Row], columns: Sequence[tuple[str, pa.DataType]]) -> pa.Table:
    """An answer with these columns; other keys of the rows are left out."""
    return pa.Table.from_pylist(list(rows), pa.schema(columns))


def add_span(row: Row, first: int | None, last: int | None) -> None:
    for name, value, choose in (("first_ts", first, min), ("last_ts", last, max)):
        if value is not None:
            row[name] = value if row[name] is None else choose(row[name], value)
