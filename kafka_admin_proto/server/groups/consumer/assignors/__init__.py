"""The server-side assignors, with the assignments of Kafka's own."""

from __future__ import annotations

from kafka_admin_proto.server.groups.consumer.assignors.model import Assign
from kafka_admin_proto.server.groups.consumer.assignors.range import assign_ranges
from kafka_admin_proto.server.groups.consumer.assignors.uniform import assign_uniformly

#: By name, the default one first.
ASSIGNORS: dict[str, Assign] = {"uniform": assign_uniformly, "range": assign_ranges}
PACKAGE_OF_ASSIGNORS = "org.apache.kafka.coordinator.group.assignor"
#: Kafka's classes, by which configs name them as well → their names.
CLASSES_OF_ASSIGNORS = {
    f"{PACKAGE_OF_ASSIGNORS}.{each.capitalize()}Assignor": each for each in ASSIGNORS
}
