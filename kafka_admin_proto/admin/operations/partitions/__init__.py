"""Partitions: adding them, moving their replicas, electing leaders, their records."""

from __future__ import annotations

from kafka_admin_proto.admin.operations.partitions.creation import CreatePartitions
from kafka_admin_proto.admin.operations.partitions.elections import ElectLeaders
from kafka_admin_proto.admin.operations.partitions.moves import MovePartitions


class PartitionOperations(CreatePartitions, MovePartitions, ElectLeaders):
    """Create, move, and elect leaders."""
