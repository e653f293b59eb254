"""The tables of the pipeline, column by column, and where they lie below its folder.

All are Parquet and partitioned by ``date`` (UTC, of ``ts``; ``unknown`` without a time), ``frames``
by ``api`` as well (``none`` for what has none). ``capture`` is the file, ``connection`` as in frame
records, ``ts`` the time of a request or of the frame that tells.
"""

from __future__ import annotations

import pyarrow as pa

from kafka_admin_proto.spark.tables.frame_rows import FRAMES

_TIME = pa.timestamp("us", tz="UTC")
_TEXT = pa.string()
_ORIGIN = [
    ("date", _TEXT),
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
        ("date", _TEXT),
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

#: Name → columns. ``frames`` has its date beside the columns of `frame_rows.FRAMES`.
TABLES = {
    "frames": pa.schema([pa.field("date", _TEXT), *FRAMES]),
    "admin_audit": ADMIN_AUDIT,
    "clients": CLIENTS,
    "metadata_changes": METADATA_CHANGES,
    "quorum_events": QUORUM_EVENTS,
    "problems": PROBLEMS,
}

#: Beside the tables: what they were made of, written anew whenever they are, and what is going to
#: be put where, as long as that is being done.
MARKER, JOURNAL = "_pipeline.json", ".journal.json"
