"""Kafka's own log of a partition, driven by ``tests/java/PartitionLogs.java``."""

from __future__ import annotations

from collections.abc import Mapping

from tests.helpers.release_tool import ReleaseTool


class KafkasLog:
    """A JVM with one log at a time; ``release`` is "4.3" or "3.9"."""

    def __init__(self, release: str) -> None:
        self._tool = ReleaseTool("PartitionLogs.java", release)

    def ask(self, configs: Mapping[str, str], lines: list[str]) -> list[str]:
        """The answers of a new log with these configs."""
        new = "new\t" + ";".join(f"{name}={value}" for name, value in configs.items())
        made, *answers = self._tool.ask([new, *lines])
        assert made == "ok\t", made
        return answers

    def close(self) -> None:
        self._tool.close()
