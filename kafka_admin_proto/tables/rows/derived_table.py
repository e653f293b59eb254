"""A table beside ``frames`` as one object: its name, its columns, and how its rows are made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cached_property

import msgspec
import pyarrow as pa

from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.tables.rows.calls import Call, Json

TEXT = pa.string()
TIME = pa.timestamp("us", tz="UTC")
#: Where a row comes from, which nearly all tables have.
ORIGIN = [
    ("date", pa.date32()),
    ("ts", TIME),
    ("capture", TEXT),
    ("connection", TEXT),
    ("packet_ordinal", pa.int64()),
]
#: Who asked for what.
CALL = [
    ("client", TEXT),
    ("server", TEXT),
    ("client_id", TEXT),
    ("client_software", TEXT),
    ("principal", TEXT),
    ("api", TEXT),
    ("api_version", pa.int16()),
    ("forwarded", pa.bool_()),
]


class DerivedTable(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A table whose rows follow from frames.

    ``rows`` makes the rows of a call of one of ``apis``, without the columns of `ORIGIN` and
    `CALL`, which are filled in where ``schema`` has them. It is called when the response is there,
    or missing for good; with ``waits`` False with the request alone, at once. Tables without
    ``apis`` have rows that other modules make.

    A row of a table that ``names_topics`` and has a ``topic_id`` without a ``topic`` gets the name
    that the capture gives to the id up to there. ``staged`` are the columns of rows on their way
    to the table's files, unless they are those of ``schema`` without ``date``.

    Raises ValueError for apis without rows or the other way round, and for an api that no message
    has.
    """

    name: str
    schema: pa.Schema
    apis: Collection[str] = ()
    rows: Callable[[Call], Iterable[Json]] | None = None
    waits: bool = True
    names_topics: bool = False
    staged: pa.Schema | None = None

    def __post_init__(self) -> None:
        if bool(self.apis) != (self.rows is not None):
            raise ValueError(f"table {self.name} has apis without rows, or rows without apis")
        self.api_keys()

    def api_keys(self) -> frozenset[int]:
        """The api keys of ``apis``."""
        keys = [catalog().entry(f"{api}Request").api_key for api in self.apis]
        return frozenset(key for key in keys if key is not None)

    def staged_schema(self) -> pa.Schema:
        """The columns of staged rows.

        In a table that ``names_topics``, ``named_at`` is the packet ordinal up to which a name
        counts; it is null in request logs, whose lines have no known order.
        """
        if self.staged is not None:
            return self.staged
        named_at = [pa.field("named_at", pa.int64())] if self.names_topics else []
        return pa.schema([*undated(self.schema), *named_at])

    def made(self, call: Call) -> Iterable[Json]:
        """The rows of a call. Raises ValueError for a row with a column that the table lacks."""
        assert self.rows is not None
        for row in self.rows(call):
            if not row.keys() <= self._names:
                unknown = ", ".join(sorted(row.keys() - self._names))
                raise ValueError(f"table {self.name} has no column {unknown}")
            yield row

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.schema.names)


def undated(schema: pa.Schema) -> pa.Schema:
    """The columns of a table without ``date``, which follows from ``ts``."""
    return schema.remove(schema.get_field_index("date"))
