"""The server-side assignors, with the assignments of Kafka's own."""

from __future__ import annotations

from kafka_admin_proto.server.groups.consumer.assignors.model import Assign
from kafka_admin_proto.server.groups.consumer.assignors.range import assign_ranges
from kafka_admin_proto.server.groups.consumer.assignors.uniform import assign_uniformly

#: By name, the default one first.
ASSIGNORS: dict[str, Assign] = {"uniform": assign_uniformly, "range": assign_ranges}
