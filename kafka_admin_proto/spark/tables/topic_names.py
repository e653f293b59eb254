"""Topic ids → names in frames, as `capture.connection.topic_names` has it for a capture in order.

An id's name is the one that the capture tells first; a frame has the names told up to its place.
Tasks gather what their frames tell, and frames get their names when all of it is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa

from kafka_admin_proto.capture.connection.topic_names import MAX_TOPICS
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, topic_id_to_text

#: Topic id, as text → its name, and the place where the capture names it.
NamedTopics = Mapping[str, tuple[str, int]]
#: Named without a frame that does so.
KNOWN_TOPICS: NamedTopics = {topic_id_to_text(METADATA_TOPIC_ID): (METADATA_TOPIC, -1)}
#: In the place of a name that nothing tells.
UNNAMED = ("", 1 << 63)


def earliest(parts: Iterable[NamedTopics]) -> NamedTopics:
    """All names, of each id the one that is told first."""
    names: dict[str, tuple[str, int]] = {}
    for each in parts:
        for topic_id, (name, place) in each.items():
            _add(names, topic_id, name, place)
    return _limited(names)


def _add(names: dict[str, tuple[str, int]], topic_id: str, name: str, place: int) -> None:
    known = names.get(topic_id)
    if known is None or place < known[1]:
        names[topic_id] = name, place
        if len(names) > 2 * MAX_TOPICS:
            kept = _limited(names)
            names.clear()
            names.update(kept)


def _limited(names: dict[str, tuple[str, int]]) -> dict[str, tuple[str, int]]:
    """As many as are remembered, those told first."""
    if len(names) <= MAX_TOPICS:
        return names
    by_place = sorted(names.items(), key=lambda each: each[1][1])
    return dict(by_place[:MAX_TOPICS])


def names_in_frames(
    topic_ids: pa.Array, lines: pa.Array, places: pa.Array, names: NamedTopics
) -> pa.Array:
    """The column ``topic_names`` of frames: of the ids in their bodies those named by then.

    Null where there is none, and in lines of request logs, whose order is not known.
    """
    rows: list[list[tuple[str, str]] | None] = []
    columns = (topic_ids.to_pylist(), lines.to_pylist(), places.to_pylist())
    for ids, line, place in zip(*columns, strict=True):
        found = {}
        if ids and line is None:
            for each in ids:
                name, since = names.get(each, UNNAMED)
                if since <= place:
                    found[each] = name
        rows.append(list(found.items()) or None)
    return pa.array(rows, pa.map_(pa.string(), pa.string()))
