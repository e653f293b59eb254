"""The tables of the pipeline, column by column.

``date`` is the day of ``ts`` in UTC, null without a time. ``capture`` is the file, ``connection``
is as in frame records, and ``ts`` is the time of the request, or of the frame that the row is made
from. ``packet_ordinal`` is that of the same frame's packet: it orders all packets of a capture.
"""

from __future__ import annotations

import pyarrow as pa

from kafka_admin_proto.capture.record import RECORD_KEYS

_TYPES: dict[str, pa.DataType] = {
    "ts": pa.timestamp("us", tz="UTC"),
    "stream_offset": pa.int64(),
    "size": pa.int32(),
    "api_key": pa.int16(),
    "api_version": pa.int16(),
    "correlation_id": pa.int32(),
    "latency_us": pa.int64(),
    "error_codes": pa.list_(pa.string()),
    "topic_names": pa.map_(pa.string(), pa.string()),
    "forwarded": pa.bool_(),
    "line": pa.int32(),
    "packet_ordinal": pa.int64(),
    "topic_ids": pa.list_(pa.string()),
}
_NEVER_NULL = {"capture", "direction", "error_codes", "forwarded", "packet_ordinal"}
#: The frame record's keys as columns; ``body`` is JSON. ``packet_ordinal`` is that of the packet
#: which completed the frame, and ``topic_ids`` are the topic ids in the frame's body.
FRAMES = pa.schema(
    pa.field(name, _TYPES.get(name, pa.string()), nullable=name not in _NEVER_NULL)
    for name in (*RECORD_KEYS, "packet_ordinal", "topic_ids")
)
#: The pipeline's rows: frames, and in ``derived`` the msgpack of the rows of other tables that a
#: frame completes, see `derive.DERIVED`. A row may have ``derived`` alone, with all others null.
DECODED = pa.schema(
    [*(field.with_nullable(True) for field in FRAMES), pa.field("derived", pa.binary())]
)
#: A stream's rows: those of the pipeline, and a row for each flow that continues in the next batch,
#: with its endpoints, its state, and the watermark of its last packet; its other columns are null.
STREAMED = pa.schema(
    [
        *DECODED,
        pa.field("flow", pa.binary()),
        pa.field("watermark", pa.timestamp("us", tz="UTC")),
        pa.field("state", pa.binary()),
    ]
)

_TIME = pa.timestamp("us", tz="UTC")
_TEXT = pa.string()
_DATE = pa.date32()
_ORIGIN = [
    ("date", _DATE),
    ("ts", _TIME),
    ("capture", _TEXT),
    ("connection", _TEXT),
    ("packet_ordinal", pa.int64()),
]
_CALL = [
    ("client", _TEXT),
    ("server", _TEXT),
    ("client_id", _TEXT),
    ("client_software", _TEXT),
    ("principal", _TEXT),
    ("api", _TEXT),
    ("api_version", pa.int16()),
    ("forwarded", pa.bool_()),
]

#: One row for each operation on a topic that a request asks for. ``operation`` is a verb and what
#: it is done to: create topic, delete topic, create partitions, delete records, alter config,
#: reassign partitions, elect leaders (``topic`` null: of all), move replicas, create acl and delete
#: acl (``topic`` is the resource's name, which may be a prefix; a filter for ``delete acl``: null
#: for all names, and with a ``resourceTypeFilter`` of 1 in ``parameters`` for resources of all
#: types, topics among them). ``parameters`` is the rest of the request's element as JSON, secrets
#: masked; ``error`` is a name, null for success and where no response was captured (``answered``
#: tells which).
ADMIN_AUDIT = pa.schema(
    [
        *_ORIGIN,
        *_CALL,
        ("operation", _TEXT),
        ("topic", _TEXT),
        ("topic_id", _TEXT),
        ("parameters", _TEXT),
        ("validate_only", pa.bool_()),
        ("answered", pa.bool_()),
        ("error", _TEXT),
        ("message", _TEXT),
        ("latency_us", pa.int64()),
    ]
)

#: One row for each client on a day: by id, software and address (without the port).
CLIENTS = pa.schema(
    [
        ("date", _DATE),
        ("client_id", _TEXT),
        ("software_name", _TEXT),
        ("software_version", _TEXT),
        ("address", _TEXT),
        ("principals", pa.list_(_TEXT)),
        (
            "apis",
            pa.list_(
                pa.struct(
                    [
                        ("api", _TEXT),
                        ("api_key", pa.int16()),
                        ("min_version", pa.int16()),
                        ("max_version", pa.int16()),
                        ("requests", pa.int64()),
                    ]
                )
            ),
        ),
        ("requests", pa.int64()),
        ("first_ts", _TIME),
        ("last_ts", _TIME),
    ]
)

#: Leadership over time: one row for each partition in a controller's request or metadata record.
#: ``source`` is UpdateMetadata, LeaderAndIsr, StopReplica or the name of a metadata record
#: (PartitionRecord, PartitionChangeRecord; RemoveTopicRecord, for all partitions). A record's
#: ``ts`` is when the controller wrote it, and ``log_offset`` its offset in the metadata log; it has
#: one row, however many brokers fetch it. ``leader``, ``isr`` and ``replicas`` are null where a
#: change leaves them as they were.
METADATA_CHANGES = pa.schema(
    [
        *_ORIGIN,
        ("source", _TEXT),
        ("log_offset", pa.int64()),
        ("controller_id", pa.int32()),
        ("controller_epoch", pa.int32()),
        ("topic", _TEXT),
        ("topic_id", _TEXT),
        ("partition", pa.int32()),
        ("leader", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("isr", pa.list_(pa.int32())),
        ("replicas", pa.list_(pa.int32())),
        ("deleted", pa.bool_()),
    ]
)

#: Elections of the quorum's leaders: one row for each partition of a Vote, BeginQuorumEpoch or
#: EndQuorumEpoch request, with the answer of its response. ``replica_id`` is the candidate of a
#: Vote, otherwise the leader, and ``epoch`` is its epoch.
QUORUM_EVENTS = pa.schema(
    [
        *_ORIGIN,
        ("client", _TEXT),
        ("server", _TEXT),
        ("api", _TEXT),
        ("api_version", pa.int16()),
        ("topic", _TEXT),
        ("partition", pa.int32()),
        ("replica_id", pa.int32()),
        ("epoch", pa.int32()),
        ("pre_vote", pa.bool_()),
        ("answered", pa.bool_()),
        ("granted", pa.bool_()),
        ("leader_id", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("error", _TEXT),
        ("latency_us", pa.int64()),
    ]
)

#: Every gap, and every frame that was not decoded completely, with its bytes (``raw``, masked).
PROBLEMS = pa.schema(
    [
        *_ORIGIN,
        *_CALL,
        ("direction", _TEXT),
        ("stream_offset", pa.int64()),
        ("size", pa.int32()),
        ("problem", _TEXT),
        ("raw", _TEXT),
    ]
)

#: Table → columns. The table ``frames`` has a date, and the columns of `FRAMES`.
TABLES = {
    "frames": pa.schema([pa.field("date", _DATE), *FRAMES]),
    "admin_audit": ADMIN_AUDIT,
    "clients": CLIENTS,
    "metadata_changes": METADATA_CHANGES,
    "quorum_events": QUORUM_EVENTS,
    "problems": PROBLEMS,
}


def undated(schema: pa.Schema) -> pa.Schema:
    """The columns of a table without ``date``, which follows from ``ts``."""
    return schema.remove(schema.get_field_index("date"))


#: Tables of daily totals: a stream replaces all rows of the days that a batch adds to.
REPLACED_BY_DAY = ("clients",)
