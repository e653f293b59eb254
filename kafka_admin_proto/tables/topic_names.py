"""Topic names of the topic ids in frames, by the rules of `capture.connection.topic_names`.

The first name that the capture gives to an id counts, and only for frames from that packet on.
Tasks collect the names that their frames give; when all tasks are done, frames get their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.capture.connection.topic_names import MAX_TOPICS
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, topic_id_to_text

#: Topic id, as text → its name, and the ordinal of the packet that gave it.
NamedTopics = Mapping[str, tuple[str, int]]
#: Topic ids that Kafka itself defines; no packet has to name them.
KNOWN_TOPICS: NamedTopics = {topic_id_to_text(METADATA_TOPIC_ID): (METADATA_TOPIC, -1)}
#: Stands for the name of an id that no packet names.
UNNAMED = ("", 1 << 63)


def earliest(parts: Iterable[NamedTopics]) -> NamedTopics:
    """The names of all parts; an id with several names gets that of the earliest packet."""
    names: dict[str, tuple[str, int]] = {}
    for each in parts:
        for topic_id, (name, ordinal) in each.items():
            add_name(names, topic_id, name, ordinal)
    return _limited(names)


def add_name(names: dict[str, tuple[str, int]], topic_id: str, name: str, ordinal: int) -> None:
    known = names.get(topic_id)
    if known is None or ordinal < known[1]:
        names[topic_id] = name, ordinal
        if len(names) > 2 * MAX_TOPICS:
            kept = _limited(names)
            names.clear()
            names.update(kept)


def _limited(names: dict[str, tuple[str, int]]) -> dict[str, tuple[str, int]]:
    if len(names) <= MAX_TOPICS:
        return names
    by_ordinal = sorted(names.items(), key=lambda each: each[1][1])
    return dict(by_ordinal[:MAX_TOPICS])


class FrameNames(NamedTuple):
    """The column ``topic_names`` of some frames.

    ``used`` are the ids and names in it, ``pending`` the numbers of the rows with ids that nothing
    named up to their place.
    """

    column: pa.Array
    used: set[tuple[str, str]]
    pending: list[int]


def names_in_frames(frames: pa.RecordBatch, names: NamedTopics) -> FrameNames:
    """The names of the topic ids in the bodies of frames, of those that were named by then.

    Null where there is none, and in lines of request logs, whose order is not known.
    """
    rows: list[list[tuple[str, str]] | None] = [None] * frames.num_rows
    used: set[tuple[str, str]] = set()
    pending: list[int] = []
    has_ids = pc.greater(pc.list_value_length(frames["topic_ids"]), 0)
    numbers = pc.indices_nonzero(pc.and_(has_ids, pc.is_null(frames["line"])))
    columns = (frames[name].take(numbers) for name in ("topic_ids", "packet_ordinal"))
    for number, ids, ordinal in zip(
        numbers.to_pylist(), *(column.to_pylist() for column in columns), strict=True
    ):
        found: dict[str, str] = {}
        for each in ids:
            name, since = names.get(each, UNNAMED)
            if since <= ordinal:
                found[each] = name
        if len(found) < len(ids):
            pending.append(number)
        if found:
            used.update(found.items())
            rows[number] = list(found.items())
    return FrameNames(pa.array(rows, pa.map_(pa.string(), pa.string())), used, pending)
