"""Log segments and snapshots as rows for people and scripts, one for each record."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.records.batches.control import read_control_key
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.batches.records_json import record_json
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.records.segments.known_topics import KNOWN_TOPICS
from kafka_admin_proto.records.segments.segments import (
    DEFAULT_BATCH_LIMIT,
    Gap,
    Source,
    read_segment,
    topic_of,
)

ROW_KEYS = (
    "position", "size", "offset", "epoch", "timestamp", "type", "version", "key", "fields",
    "headers", "batch", "problem", "note",
)  # fmt: skip
#: The fields of a batch in ``batch``.
_FACTS = (
    "base_offset", "last_offset", "magic", "compression", "timestamp_type", "is_control",
    "is_transactional", "producer_id", "producer_epoch", "base_sequence",
)  # fmt: skip
#: Batches at the start of a log by which the metadata log is recognised.
_LOOKED_AT = 3


def segment_rows(
    source: Source, topic: str | None = None, *, mask: bool = True, limit: int = DEFAULT_BATCH_LIMIT
) -> Iterator[dict[str, Any]]:
    """Each record of a log segment or snapshot; each row has the same names.

    ``position`` and ``size`` are those of the batch in the file, ``batch`` its facts; ``offset``,
    ``epoch`` (the leader's) and ``timestamp`` (milliseconds since 1970) those of the record.
    ``type`` is the message's name in Kafka's own topics, or the control record's (LEADER_CHANGE),
    ``version`` the message's and ``fields`` its data in the shape of Kafka's JsonConverters; of
    other topics ``fields`` is the value, ``{"text": …}`` or ``{"base64": …}``. So is ``key``.

    Bytes without records have a row with only a ``problem`` or, if nothing is missing, a ``note``.
    Without ``topic``, the topic is that of the metadata log if the file has control records that
    only Kafka's quorum writes, otherwise one of Kafka's own topics by the name of the folder. With
    ``mask``, secrets are masked. Raises OSError if the file cannot be read.
    """
    segment = read_segment(source, limit=limit)
    first = list(islice(segment, _LOOKED_AT))
    given = topic is not None
    if topic is None and isinstance(source, (str, os.PathLike)):
        # The folder's name is not decisive: copies of a log may be in folders of any name.
        topic = next((name for name in (topic_of(source),) if name in KNOWN_TOPICS), None)
    if not given and any(map(_is_of_a_quorum, first)):
        topic = METADATA_TOPIC
    for batch in chain(first, segment):
        if isinstance(batch, Gap):
            column = "problem" if batch.is_problem else "note"
            yield row_of(position=batch.position, size=batch.size, **{column: batch.text})
            continue
        if not given and _is_of_a_quorum(batch):
            topic = METADATA_TOPIC
        facts = {name: getattr(batch, name) for name in _FACTS}
        about = {"position": batch.offset_in_data, "size": batch.size, "batch": facts}
        about["epoch"] = batch.partition_leader_epoch
        for record in batch.records:
            yield row_of(**about, **record_row(record, batch, topic, mask=mask))
        if batch.error is not None:
            yield row_of(**about, problem=str(batch.error))
        elif not batch.records:
            yield row_of(**about, offset=batch.base_offset, note="a batch without records")


def _is_of_a_quorum(batch: Batch | Gap) -> bool:
    """Whether a batch has control records that only the log of a quorum has."""
    if isinstance(batch, Gap) or not batch.is_control:
        return False
    for record in batch.records:
        try:
            if read_control_key(record.key).name not in ("", "ABORT", "COMMIT"):
                return True
        except DecodeError:
            pass
    return False


def row_of(**values: Any) -> dict[str, Any]:
    """A row with these values, and None for all other names."""
    return {name: values.get(name) for name in ROW_KEYS}


def record_row(
    record: Record, batch: Batch, topic: str | None, *, mask: bool = True
) -> dict[str, Any]:
    """The part of a row of ``segment_rows`` that is about the record itself."""
    shown = record_json(record, topic=topic, is_control=batch.is_control, mask=mask)
    key, value = shown["key"], shown["value"]
    named = next((part for part in (value, key) if part and "message" in part), None)
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "type": shown.get("control", named and named["message"]),
        "version": named and named["version"],
        "key": key.get("data", key) if key else None,
        "fields": value.get("data", value) if value else None,
        "headers": shown["headers"],
        "problem": shown["problem"],
    }
