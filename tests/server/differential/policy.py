"""Policies that say what they were asked; those of the same names in ``tests/java`` are alike."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_admin_proto.server import AlterConfigRequestMetadata, PolicyViolation, RequestMetadata


class TopicPolicy:
    """Refuses three partitions, the topic "d", a retention and two assigned partitions; it breaks
    on five partitions of "UPPER-case".
    """

    def configure(self, configs: Mapping[str, str]) -> None:
        """Nothing."""

    def validate(self, metadata: RequestMetadata) -> None:
        """Raises PolicyViolation, or RuntimeError where it breaks."""
        assignment, configs = metadata.assignment, sorted(metadata.configs.items())
        shown = "null"
        if assignment is not None:
            shown = ", ".join(f"{number}={[*assignment[number]]}" for number in sorted(assignment))
            shown = f"{{{shown}}}"
        settings = ", ".join(f"{name}={value}" for name, value in configs)
        partitions, factor = (
            "null" if each is None else each
            for each in (metadata.partitions, metadata.replication_factor)
        )
        asked = f"{metadata.topic} {partitions} {factor} {shown} {{{settings}}}"
        if metadata.topic == "UPPER-case" and partitions == 5:
            raise RuntimeError(asked)
        if partitions == 3 or metadata.topic == "d" or "retention.ms" in metadata.configs:
            raise PolicyViolation(asked)
        if assignment is not None and len(assignment) == 2:
            raise PolicyViolation("")

    def close(self) -> None:
        """Nothing."""


class ConfigPolicy:
    """Refuses three configs, of a topic, a subscription and a broker; breaks on one at 0."""

    def configure(self, configs: Mapping[str, str]) -> None:
        """Nothing."""

    def validate(self, metadata: AlterConfigRequestMetadata) -> None:
        """Raises PolicyViolation, or RuntimeError where it breaks."""
        configs = metadata.configs
        shown = ", ".join(
            f"{name}={'null' if configs[name] is None else configs[name]}"
            for name in sorted(configs)
        )
        asked = f"{metadata.resource_type} {metadata.resource_name} {{{shown}}}"
        if configs.get("file.delete.delay.ms") == "0":
            raise RuntimeError(asked)
        if configs.keys() & {"delete.retention.ms", "interval.ms", "log.retention.ms"}:
            raise PolicyViolation(asked)

    def close(self) -> None:
        """Nothing."""
