"""Make rows of the table ``metadata_changes`` from controllers' requests and metadata records.

With ZooKeeper, a controller sends UpdateMetadata, LeaderAndIsr and StopReplica. A KRaft quorum
writes records to the metadata log, which brokers fetch. Records of aborted transactions have rows
like all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.records.batches.batches import read_records
from kafka_admin_proto.records.batches.model import Batch
from kafka_admin_proto.records.metadata.records import (
    FRAME_VERSION,
    METADATA_TOPIC,
    metadata_record_name,
    read_metadata_value,
)
from kafka_admin_proto.records.segments.segments import Gap, Source, read_segment
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.tables.rows.calls import Json, items, number, numbers, text, topic_id
from kafka_admin_proto.tables.rows.derived_table import ORIGIN, TEXT, DerivedTable
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from kafka_admin_proto.values import Message

CONTROLLER_APIS = ("UpdateMetadata", "LeaderAndIsr", "StopReplica")
#: The records about partitions, and those that name their topics.
_WANTED = frozenset(
    {"TopicRecord", "RemoveTopicRecord", "PartitionRecord", "PartitionChangeRecord"}
)
_NO_LEADER_CHANGE = -2
#: The last millisecond whose microseconds fit 63 bits; a damaged record may have a later one.
_LATEST = ((1 << 63) - 1) // 1000
_SNAPSHOT = re.compile(r"(\d{20})-\d{10}\.checkpoint")


def controller_rows(api: str, body: Any) -> Iterator[Json]:
    """The partitions in the body of a request of ``CONTROLLER_APIS``."""
    if not isinstance(body, dict):
        return
    make = _stopped if api == "StopReplica" else _led
    about = {
        "source": api,
        "controller_id": number(body.get("controllerId")),
        "controller_epoch": number(body.get("controllerEpoch")),
    }
    for row in make(body):
        yield about | row


def _led(body: Json) -> Iterator[Json]:
    for state in items(body, "ungroupedPartitionStates"):
        yield {"topic": text(state.get("topicName")), **_state(state)}
    for topic in items(body, "topicStates"):
        about = {"topic": text(topic.get("topicName")), "topic_id": topic_id(topic.get("topicId"))}
        for state in items(topic, "partitionStates"):
            yield about | _state(state)


def _state(state: Json) -> Json:
    return {
        "partition": number(state.get("partitionIndex", state.get("partitionId"))),
        "leader": number(state.get("leader")),
        "leader_epoch": number(state.get("leaderEpoch")),
        "isr": numbers(state.get("isr")),
        "replicas": numbers(state.get("replicas")),
        "deleted": False,
    }


def _stopped(body: Json) -> Iterator[Json]:
    deleted = body.get("deletePartitions") is True
    for each in items(body, "ungroupedPartitions"):
        yield _stop(each.get("topicName"), each.get("partitionIndex"), deleted)
    for topic in items(body, "topics"):
        for index in numbers(topic.get("partitionIndexes")) or ():
            yield _stop(topic.get("name"), index, deleted)
    for topic in items(body, "topicStates"):
        for state in items(topic, "partitionStates"):
            gone = state.get("deletePartition") is True
            epoch = number(state.get("leaderEpoch"))
            row = _stop(topic.get("topicName"), state.get("partitionIndex"), gone)
            yield row | {"leader_epoch": epoch}


def _stop(topic: Any, partition: Any, deleted: bool) -> Json:
    return {"topic": text(topic), "partition": number(partition), "deleted": deleted}


# The metadata log -----------------------------------------------------------------------------


def fetched_logs(body: Message) -> Iterator[bytes]:
    """The ``records`` fields of the metadata log's partitions in a Fetch response."""
    for topic in getattr(body, "responses", ()):
        if (
            getattr(topic, "topic_id", None) != METADATA_TOPIC_ID
            and getattr(topic, "topic", None) != METADATA_TOPIC
        ):
            continue
        for partition in topic.partitions:
            if partition.records:
                yield partition.records


def fetched_records(records: bytes) -> list[Json]:
    """The records about topics and partitions in a ``records`` field of the metadata log.

    Each has ``offset``, ``timestamp`` (milliseconds) and ``value``, which `read_metadata_value`
    decodes. None of these types of records has secrets.
    """
    return [each for batch in read_records(records).batches for each in _of_batch(batch)]


def _of_batch(batch: Batch) -> Iterator[Json]:
    for record in () if batch.is_control else batch.records:
        if record.value is not None and _is_wanted(record.value):
            yield {"offset": record.offset, "timestamp": record.timestamp, "value": record.value}


def _is_wanted(value: bytes) -> bool:
    if len(value) > 1 and value[0] < 0x80 and value[1] < 0x80:
        # Frame version and type are one byte each in nearly every record.
        return value[0] == FRAME_VERSION and value[1] in _wanted_types()
    try:
        return metadata_record_name(value) in _WANTED
    except DecodeError:
        return False


@cache
def _wanted_types() -> frozenset[int | None]:
    return frozenset(catalog().entry(name).api_key for name in _WANTED)


def record_rows(records: Iterable[Json]) -> Iterator[Json]:
    """The rows of records of ``fetched_records``. A record that does not decode has no row.

    A TopicRecord has a row without a partition, with the topic's name. A RemoveTopicRecord has a
    row without a partition that is ``deleted``.
    """
    for record in records:
        try:
            message, version = read_metadata_value(record["value"])
        except DecodeError:
            continue
        fields, name = codec(type(message), version).to_json(message), message.message_name
        row = {
            "source": name,
            "log_offset": record["offset"],
            "ts": record["timestamp"] * 1000 if 0 <= record["timestamp"] <= _LATEST else None,
            "topic_id": topic_id(fields.get("topicId")),
        }
        if name == "TopicRecord":
            row["topic"] = text(fields.get("name"))
        elif name == "RemoveTopicRecord":
            row["deleted"] = True
        else:
            row |= _state(fields)
            if row["leader"] == _NO_LEADER_CHANGE:
                row["leader"] = None
        yield row


def segment_records(source: Source, name: str) -> Iterator[Json]:
    """The records of a segment or snapshot of the metadata log, and its faults.

    A fault is an object with ``position``, ``size`` and ``problem``. The records of a snapshot get
    the offset that the snapshot is named after. Raises OSError if the file cannot be read.
    """
    snapshot = _SNAPSHOT.match(PurePosixPath(name).name)
    for found in read_segment(source):
        if isinstance(found, Gap):
            if found.is_problem:
                yield {"position": found.position, "size": found.size, "problem": found.text}
            continue
        for record in _of_batch(found):
            if snapshot is not None:
                record["offset"] = int(snapshot[1]) - 1
            yield record
        if found.error is not None:
            yield {
                "position": found.offset_in_data,
                "size": found.size,
                "problem": str(found.error),
            }


#: Leadership over time: one row for each partition in a controller's request or metadata record.
#: ``source`` is UpdateMetadata, LeaderAndIsr, StopReplica or the name of a metadata record
#: (PartitionRecord, PartitionChangeRecord; RemoveTopicRecord, for all partitions). A record's
#: ``ts`` is when the controller wrote it, and ``log_offset`` its offset in the metadata log; it has
#: one row, however many brokers fetch it. ``leader``, ``isr`` and ``replicas`` are null where a
#: change leaves them as they were.
_SCHEMA = pa.schema(
    [
        *ORIGIN,
        ("source", TEXT),
        ("log_offset", pa.int64()),
        ("controller_id", pa.int32()),
        ("controller_epoch", pa.int32()),
        ("topic", TEXT),
        ("topic_id", TEXT),
        ("partition", pa.int32()),
        ("leader", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("isr", pa.list_(pa.int32())),
        ("replicas", pa.list_(pa.int32())),
        ("deleted", pa.bool_()),
    ]
)
TABLE = DerivedTable(
    name="metadata_changes",
    schema=_SCHEMA,
    apis=CONTROLLER_APIS,
    rows=lambda call: controller_rows(call.request["api"], call.request["body"]),
    waits=False,
)
