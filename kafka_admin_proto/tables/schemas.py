"""The tables of the pipeline.

``date`` is the day of ``ts`` in UTC, null without a time. ``capture`` is the file, ``connection``
is as in frame records, and ``ts`` is the time of the request, or of the frame that the row is made
from. ``packet_ordinal`` is that of the same frame's packet: it orders all packets of a capture.
"""

from __future__ import annotations

import pyarrow as pa

from kafka_admin_proto.tables.frame_columns import FRAMES
from kafka_admin_proto.tables.rows.registry import DERIVED

#: Table → columns. The table ``frames`` has a date, and the columns of `FRAMES`.
TABLES: dict[str, pa.Schema] = {
    "frames": pa.schema([pa.field("date", pa.date32()), *FRAMES]),
    **{table.name: table.schema for table in DERIVED},
}
#: Table → the columns of its rows on their way to files, but for those of ``frames``.
STAGED: dict[str, pa.Schema] = {table.name: table.staged_schema() for table in DERIVED}
#: Tables of daily totals: a stream replaces all rows of the days that a batch adds to.
REPLACED_BY_DAY = ("clients",)
