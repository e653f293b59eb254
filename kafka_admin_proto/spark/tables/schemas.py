"""The tables of the pipeline, column by column.

``date`` is that of ``ts`` in UTC, null without a time. ``capture`` is the file, ``connection`` as
in frame records, ``ts`` the time of a request or of the frame that tells.
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
    "place": pa.int64(),
    "topic_ids": pa.list_(pa.string()),
}
_NEVER_NULL = {"capture", "direction", "error_codes", "forwarded", "place"}
#: The frame record's keys as columns; ``body`` is JSON. Beside it ``place``, the frame's place in
#: the whole capture (of the packet with which it was whole), and ``topic_ids``, those in its body.
FRAMES = pa.schema(
    pa.field(name, _TYPES.get(name, pa.string()), nullable=name not in _NEVER_NULL)
    for name in (*RECORD_KEYS, "place", "topic_ids")
)
#: For the pipeline: beside frames ``derived``, msgpack of the rows of other tables that a frame
#: completes, see `derive.DERIVED`. A row may have these alone; its other columns are null.
DECODED = pa.schema(
    [*(field.with_nullable(True) for field in FRAMES), pa.field("derived", pa.binary())]
)
#: Of a stream: beside these, flows that go on in the next batch, each with its two endpoints, the
#: stream's time when it last had a packet, and its state; their other columns are null.
STREAMED = pa.schema(
    [
        *DECODED,
        pa.field("flow", pa.binary()),
        pa.field("clock", pa.timestamp("us", tz="UTC")),
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
    ("place", pa.int64()),
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

#: Who led what, when: one row for each partition that a controller tells of. ``source`` is
#: UpdateMetadata, LeaderAndIsr, StopReplica or the name of a metadata record (PartitionRecord,
#: PartitionChangeRecord; RemoveTopicRecord, for all partitions). A record's ``ts`` is when the
#: controller wrote it and ``log_offset`` its offset in the metadata log; however many brokers fetch
#: it, it has one row. In a change ``leader``, ``isr`` and ``replicas`` are null where they stay.
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

#: Elections of the quorum's leaders: Vote, BeginQuorumEpoch, EndQuorumEpoch, a row for each
#: partition of a request, with what its response says. ``replica_id`` is the candidate of a Vote,
#: else the leader, and ``epoch`` its epoch.
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

#: Every hole and every frame that is not decoded whole, with its bytes (``raw``, secrets masked).
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

#: Name → columns. ``frames`` has its date beside the columns of `FRAMES`.
TABLES = {
    "frames": pa.schema([pa.field("date", _DATE), *FRAMES]),
    "admin_audit": ADMIN_AUDIT,
    "clients": CLIENTS,
    "metadata_changes": METADATA_CHANGES,
    "quorum_events": QUORUM_EVENTS,
    "problems": PROBLEMS,
}


def undated(schema: pa.Schema) -> pa.Schema:
    """The columns of a table beside its date, which is that of ``ts``."""
    return schema.remove(schema.get_field_index("date"))


#: Tables with one row for all that a day has of something: a stream replaces the rows of a day.
REPLACED_BY_DAY = ("clients",)
