"""Groups that are counted batch by batch are those of all rows at once."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest

from kafka_admin_proto.tables.queries import grouping
from kafka_admin_proto.tables.queries.grouping import TIME, count_groups, records

_ROWS = [
    {"client": client, "api": api, "ts": ts}
    for ts, (client, api) in enumerate(product(("a", None, "b"), ("Fetch", None, "Fetch")))
] + [{"client": "a", "api": "Fetch", "ts": None}]
_SCHEMA = pa.schema([("client", pa.string()), ("api", pa.string()), ("ts", TIME)])


@pytest.mark.parametrize("limit", [0, 3, 65_536])
@pytest.mark.parametrize("size", [1, 4, 100])
def test_groups_of_batches(monkeypatch: pytest.MonkeyPatch, limit: int, size: int) -> None:
    monkeypatch.setattr(grouping, "_COMPACT_ROWS", limit)
    parts = [
        pa.Table.from_pylist(_ROWS[start : start + size], _SCHEMA)
        for start in range(0, len(_ROWS), size)
    ]
    counted = {
        (row["client"], row["api"]): (row["count"], row["first_ts"], row["last_ts"])
        for row in records(count_groups(parts, ["client", "api"]))
    }
    assert counted == {
        ("a", "Fetch"): (3, 0, 2), ("a", None): (1, 1, 1), (None, "Fetch"): (2, 3, 5),
        (None, None): (1, 4, 4), ("b", "Fetch"): (2, 6, 8), ("b", None): (1, 7, 7),
    }  # fmt: skip


def test_no_rows_have_no_groups() -> None:
    counted = count_groups([], ["client"])
    assert (counted.num_rows, counted.column_names) == (
        0,
        ["client", "count", "first_ts", "last_ts"],
    )
