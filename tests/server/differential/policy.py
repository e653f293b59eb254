"""A CreateTopicPolicy that says what it was asked; ``tests/java/TopicPolicy.java`` is the same."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_admin_proto.server.policies import PolicyViolation, TopicMetadata


class TopicPolicy:
    """Refuses three partitions, the topic "d", a retention and two assigned partitions; it breaks
    on five partitions of "UPPER-case".
    """

    def configure(self, configs: Mapping[str, str]) -> None:
        """Nothing."""

    def validate(self, metadata: TopicMetadata) -> None:
        """Raises PolicyViolation, or RuntimeError where it breaks."""
        assignment, configs = metadata.assignment, sorted(metadata.configs.items())
        shown = "null"
        if assignment is not None:
            shown = ", ".join(f"{number}={assignment[number]}" for number in sorted(assignment))
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
