"""Turn the rows that tasks derived into rows of tables, with topic names of the whole capture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.tables.schemas import STAGED
from kafka_admin_proto.tables.topic_names import UNNAMED, NamedTopics

#: The metadata record that names a topic.
TOPIC_RECORD = "TopicRecord"
#: The columns that identify a record; topic ids differ between clusters.
_RECORD_KEY = ["source", "log_offset", "topic_id", "partition"]


def with_topic_names(rows: pa.Table, names: NamedTopics) -> pa.Table:
    """Staged rows; a topic id without a name gets the name given up to ``named_at``."""
    topics, ids, ordinals = (rows[each].to_pylist() for each in ("topic", "topic_id", "named_at"))
    for number, (topic, topic_id, ordinal) in enumerate(zip(topics, ids, ordinals, strict=True)):
        if topic is None and topic_id is not None and ordinal is not None:
            name, since = names.get(topic_id, UNNAMED)
            if since <= ordinal:
                topics[number] = name
    index = rows.schema.get_field_index("topic")
    return rows.set_column(index, "topic", pa.array(topics, pa.string()))


def topics_of_log(changes: Iterable[pa.Table]) -> dict[str, str]:
    """Topic id → name, from the topic records of the metadata log among changes."""
    names: dict[str, str] = {}
    for part in changes:
        topics = part.filter(pc.equal(part["source"], TOPIC_RECORD))
        for topic_id, name in zip(
            topics["topic_id"].to_pylist(), topics["topic"].to_pylist(), strict=True
        ):
            if topic_id is not None and name is not None:
                names.setdefault(topic_id, name)
    return names


def merged_changes(changes: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Rows of ``metadata_changes``: each record of the metadata log once, with topic names.

    Several brokers may fetch one record, and log files may have it as well. The row of the earliest
    packet is kept; rows of files, which have no packet ordinal, come last.
    """
    changes = changes.select(STAGED["metadata_changes"].names)
    logged = pc.is_valid(changes["log_offset"])
    controllers = changes.filter(pc.invert(logged))
    records = changes.filter(logged)
    order = [("packet_ordinal", "ascending"), ("capture", "ascending")]
    records = records.sort_by(order)  # nulls come last
    numbered = records.select(_RECORD_KEY).append_column("n", pa.array(np.arange(len(records))))
    first = numbered.group_by(_RECORD_KEY).aggregate([("n", "min")])["n_min"]
    records = records.take(first.combine_chunks())
    records = records.filter(pc.not_equal(records["source"], TOPIC_RECORD))
    return pa.concat_tables([controllers, _named(records, names)])


def _named(records: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Records with the names of their topics, where the record itself has none."""
    if not names:
        return records
    known = pa.array(list(names), pa.string())
    indices: Any = pc.index_in(records["topic_id"], value_set=known)
    found = pa.array(list(names.values()), pa.string()).take(_combined(indices))
    topics = pc.coalesce(_combined(records["topic"]), found)
    return records.set_column(records.schema.get_field_index("topic"), "topic", topics)


def _combined(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def record_keys(changes: pa.Table) -> list[tuple[object, ...]]:
    """A key that identifies each row's record. Rows of requests get keys that equal no other."""
    columns = [changes[name].to_pylist() for name in _RECORD_KEY]
    keys = zip(*columns, strict=True)
    return [key if key[1] is not None else (object(),) for key in keys]
