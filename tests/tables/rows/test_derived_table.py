"""What is refused of a derived table, and of its rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from kafka_admin_proto.tables.rows.calls import Call
from kafka_admin_proto.tables.rows.derived_table import DerivedTable

SCHEMA = pa.schema([("date", pa.date32()), ("topic", pa.string())])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"apis": ["Vote"]}, "table x has apis without rows"),
        ({"rows": lambda _: []}, "or rows without apis"),
        ({"apis": ["Vota"], "rows": lambda _: []}, "VotaRequest"),
    ],
    ids=["no rows", "no apis", "no such api"],
)
def test_a_table_that_would_stay_empty(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Exception, match=said):
        DerivedTable(name="x", schema=SCHEMA, **given)


def test_a_row_with_a_column_that_the_table_lacks() -> None:
    table = DerivedTable(name="x", schema=SCHEMA, apis=["Vote"], rows=lambda _: [{"tpoic": "a"}])
    with pytest.raises(ValueError, match="table x has no column tpoic"):
        list(table.made(Call({})))
