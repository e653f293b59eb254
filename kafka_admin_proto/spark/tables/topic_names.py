"""Topic ids → names in frames, as `capture.connection.topic_names` has it for captures in order.

    names = told(frames)
    with_topic_names(frames, names)

An id's name is the one that the capture tells first; a frame has the names told up to its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from kafka_admin_proto.capture.connection.topic_names import MAX_NAME_CHARS, MAX_TOPICS
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, topic_id_to_text

#: Topic id, as text → its name, and the place where the capture tells it.
Told = Mapping[str, tuple[str, int]]
#: Known without being told.
KNOWN: Told = {topic_id_to_text(METADATA_TOPIC_ID): (METADATA_TOPIC, -1)}
#: Api → the array of topics in its response.
TELLING = {
    "Metadata": "topics",
    "CreateTopics": "topics",
    "DescribeTopicPartitions": "topics",
    "DeleteTopics": "responses",
}
_ZERO_ID = "A" * 22
_TOLD = "topic_id string, name string, place long"


class _Topic(msgspec.Struct):
    name: str | None = None
    topic_id: str = msgspec.field(default=_ZERO_ID, name="topicId")


class _Telling(msgspec.Struct):
    topics: list[_Topic] = []
    responses: list[_Topic] = []


_telling = msgspec.json.Decoder(_Telling)


#: What is read of frames to gather names.
COLUMNS = ("api", "direction", "line", "place", "body")


def told(frames: DataFrame, before: Told = KNOWN) -> Told:
    """The names that frames tell, beside those that were told ``before``; runs a job."""
    telling = frames.where(F.col("api").isin(*TELLING)).select(*COLUMNS)
    found = telling.mapInArrow(_told_by_task, _TOLD).toLocalIterator()
    return first([before, *({row.topic_id: (row.name, row.place)} for row in found)])


def _told_by_task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    names = first_told(batches)
    yield pa.RecordBatch.from_arrays(
        [
            pa.array(list(names), pa.string()),
            pa.array([name for name, _ in names.values()], pa.string()),
            pa.array([place for _, place in names.values()], pa.int64()),
        ],
        names=["topic_id", "name", "place"],
    )


def first_told(batches: Iterable[pa.RecordBatch]) -> Told:
    """The names that frames in the columns ``COLUMNS`` tell: responses of captures."""
    names: dict[str, tuple[str, int]] = {}
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in COLUMNS)
        for api, direction, line, place, body in zip(*columns, strict=True):
            if direction != "response" or line is not None or body is None:
                continue
            for topic in getattr(_telling.decode(body), TELLING[api]):
                if topic.name and len(topic.name) <= MAX_NAME_CHARS and topic.topic_id != _ZERO_ID:
                    _learn(names, topic.topic_id, topic.name, place)
    return names


def first(tellings: Iterable[Told]) -> Told:
    """All that was told, of each id what was told first."""
    names: dict[str, tuple[str, int]] = {}
    for each in tellings:
        for topic_id, (name, place) in each.items():
            _learn(names, topic_id, name, place)
    return _limited(names)


def _learn(names: dict[str, tuple[str, int]], topic_id: str, name: str, place: int) -> None:
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


def with_topic_names(frames: DataFrame, names: Told) -> DataFrame:
    """The frames with ``topic_names``: of the ids in their bodies those that are told by then.

    Null where there is none, and in what request logs say, where nobody knows the order.
    """
    shared = frames.sparkSession.sparkContext.broadcast(dict(names))

    def resolve(topic_ids: pa.Array, lines: pa.Array, places: pa.Array) -> pa.Array:
        return resolved(topic_ids, lines, places, shared.value)

    make: Any = arrow_udf
    udf = make(resolve, frames.schema["topic_names"].dataType)
    return frames.withColumn("topic_names", udf("topic_ids", "line", "place"))


def resolved(topic_ids: pa.Array, lines: pa.Array, places: pa.Array, names: Told) -> pa.Array:
    """The column ``topic_names`` of frames that have those columns."""
    rows: list[list[tuple[str, str]] | None] = []
    columns = (topic_ids.to_pylist(), lines.to_pylist(), places.to_pylist())
    for ids, line, place in zip(*columns, strict=True):
        found = {}
        if ids and line is None:
            for each in ids:
                name, since = names.get(each, _NOBODY)
                if since <= place:
                    found[each] = name
        rows.append(list(found.items()) or None)
    return pa.array(rows, pa.map_(pa.string(), pa.string()))


_NOBODY = ("", 1 << 63)
