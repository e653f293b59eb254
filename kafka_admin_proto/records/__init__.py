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

from kafka_admin_proto.lazy_names import lazy_names

if TYPE_CHECKING:
    from kafka_admin_proto.records.batches.batches import read_batches as read_batches
    from kafka_admin_proto.records.batches.batches import read_records as read_records
    from kafka_admin_proto.records.batches.batches import write_batch as write_batch
    from kafka_admin_proto.records.batches.control import ControlRecord as ControlRecord
    from kafka_admin_proto.records.batches.control import read_control_record as read_control_record
    from kafka_admin_proto.records.batches.control import (
        write_control_record as write_control_record,
    )
    from kafka_admin_proto.records.batches.model import Batch as Batch
    from kafka_admin_proto.records.batches.model import Record as Record
    from kafka_admin_proto.records.batches.model import RecordSet as RecordSet
    from kafka_admin_proto.records.metadata.cluster_state import ClusterState as ClusterState
    from kafka_admin_proto.records.metadata.log import Replayed as Replayed
    from kafka_admin_proto.records.metadata.log import replay as replay
    from kafka_admin_proto.records.segments.known_topics import KnownRecord as KnownRecord
    from kafka_admin_proto.records.segments.known_topics import (
        read_known_record as read_known_record,
    )
    from kafka_admin_proto.records.segments.known_topics import (
        write_known_record as write_known_record,
    )
    from kafka_admin_proto.records.segments.partition_metadata import (
        PartitionMetadata as PartitionMetadata,
    )
    from kafka_admin_proto.records.segments.segments import Gap as Gap
    from kafka_admin_proto.records.segments.segments import read_segment as read_segment
else:
    __getattr__, __dir__ = lazy_names(__name__)
