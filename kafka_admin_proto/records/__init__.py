"""What Kafka keeps in its logs and on disk, as far as it is not a message of the protocol.

::

    read_records(data)              record batches and message sets; write_batch writes one
    read_control_record(key, value) markers of transactions, leader changes, snapshots
    read_known_record(topic, ...)   records of Kafka's own topics, __consumer_offsets and the like
    read_segment(file)              the batches of a log segment or snapshot, one by one
    replay(folder)                  a KRaft metadata log as the state of its cluster
    PartitionMetadata               a partition.metadata file
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "Batch",
    "ClusterState",
    "ControlRecord",
    "Gap",
    "KnownRecord",
    "PartitionMetadata",
    "Record",
    "RecordSet",
    "Replayed",
    "read_batches",
    "read_control_record",
    "read_known_record",
    "read_records",
    "read_segment",
    "replay",
    "write_batch",
    "write_control_record",
    "write_known_record",
]

if TYPE_CHECKING:
    from kafka_admin_proto.records.batches import read_batches, read_records, write_batch
    from kafka_admin_proto.records.cluster_state import ClusterState
    from kafka_admin_proto.records.control import (
        ControlRecord,
        read_control_record,
        write_control_record,
    )
    from kafka_admin_proto.records.known_topics import (
        KnownRecord,
        read_known_record,
        write_known_record,
    )
    from kafka_admin_proto.records.metadata_log import Replayed, replay
    from kafka_admin_proto.records.model import Batch, Record, RecordSet
    from kafka_admin_proto.records.partition_metadata import PartitionMetadata
    from kafka_admin_proto.records.segments import Gap, read_segment
else:
    from kafka_admin_proto.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "batches": ["read_batches", "read_records", "write_batch"],
            "cluster_state": ["ClusterState"],
            "control": ["ControlRecord", "read_control_record", "write_control_record"],
            "known_topics": ["KnownRecord", "read_known_record", "write_known_record"],
            "metadata_log": ["Replayed", "replay"],
            "model": ["Batch", "Record", "RecordSet"],
            "partition_metadata": ["PartitionMetadata"],
            "segments": ["Gap", "read_segment"],
        },
    )
