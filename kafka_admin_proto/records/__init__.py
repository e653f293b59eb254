"""Kafka's own formats in logs and on disk: record batches, the metadata log, segments.

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
    from kafka_admin_proto.records.batches.batches import read_batches, read_records, write_batch
    from kafka_admin_proto.records.batches.control import (
        ControlRecord,
        read_control_record,
        write_control_record,
    )
    from kafka_admin_proto.records.batches.model import Batch, Record, RecordSet
    from kafka_admin_proto.records.metadata.cluster_state import ClusterState
    from kafka_admin_proto.records.metadata.log import Replayed, replay
    from kafka_admin_proto.records.segments.known_topics import (
        KnownRecord,
        read_known_record,
        write_known_record,
    )
    from kafka_admin_proto.records.segments.partition_metadata import PartitionMetadata
    from kafka_admin_proto.records.segments.segments import Gap, read_segment
else:
    from kafka_admin_proto.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "batches.batches": ["read_batches", "read_records", "write_batch"],
            "batches.control": ["ControlRecord", "read_control_record", "write_control_record"],
            "batches.model": ["Batch", "Record", "RecordSet"],
            "metadata.cluster_state": ["ClusterState"],
            "metadata.log": ["Replayed", "replay"],
            "segments.known_topics": ["KnownRecord", "read_known_record", "write_known_record"],
            "segments.partition_metadata": ["PartitionMetadata"],
            "segments.segments": ["Gap", "read_segment"],
        },
    )
