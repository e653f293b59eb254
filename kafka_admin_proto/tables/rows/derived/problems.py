"""The table ``problems``: its rows are made with those of ``frames``."""

from __future__ import annotations

import pyarrow as pa

from kafka_admin_proto.tables.rows.derived_table import CALL, ORIGIN, TEXT, DerivedTable

#: Every gap, and every frame that was not decoded completely, with its bytes (``raw``, masked).
_SCHEMA = pa.schema(
    [
        *ORIGIN,
        *CALL,
        ("direction", TEXT),
        ("stream_offset", pa.int64()),
        ("size", pa.int32()),
        ("problem", TEXT),
        ("raw", TEXT),
    ]
)
TABLE = DerivedTable(name="problems", schema=_SCHEMA)
