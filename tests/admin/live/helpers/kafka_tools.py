"""Kafka's own command line classes, in one Java process that all live tests share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.helpers.java_tool import JavaTool

_SOURCE = Path(__file__).parents[3] / "java" / "KafkaTools.java"


class Outcome(msgspec.Struct, frozen=True):
    """What a command has printed, and the status that its process would have ended with."""

    status: int
    stdout: str
    stderr: str


class KafkaTools:
    """Commands by the names of their classes.

        tools.run("TopicCommand", "--bootstrap-server", cluster.bootstrap, "--list")

    Each takes and prints what the script of its name does, which is not started: a call takes
    milliseconds. One call at a time.
    """

    def __init__(self, jars: Sequence[Path]) -> None:
        self._java = JavaTool(_SOURCE, jars)

    def run(self, command: str, *arguments: str, stdin: str = "") -> str:
        """What the command prints on stdout. AssertionError, with its output, if it fails."""
        outcome = self.outcome(command, *arguments, stdin=stdin)
        assert outcome.status == 0, f"{command} {' '.join(arguments)}: {outcome}"
        return outcome.stdout

    def outcome(self, command: str, *arguments: str, stdin: str = "") -> Outcome:
        """The same for a command that may fail."""
        call = {"main": command, "arguments": arguments, "input": stdin}
        (answer,) = self._java.ask([json.dumps(call)])
        return msgspec.json.decode(answer, type=Outcome)

    def admin(self, bootstrap: str, method: str, *of: str) -> Any:
        """What a method of Java's Admin returns, as JSON of the fields of its classes.

        ``of`` are names: topics, groups, users; "TOPIC:name" for describeConfigs. KafkaTools.java
        lists the methods. Keys of maps are their texts ("topic-0" for a partition), and structures
        as keys become lists of {"key": ..., "value": ...}. AssertionError with Kafka's error.
        """
        call = {"admin": method, "bootstrap": bootstrap, "of": of}
        (line,) = self._java.ask([json.dumps(call)])
        answer = json.loads(line)
        assert "error" not in answer, f"{method} {' '.join(of)}: {answer}"
        return answer["result"]

    def close(self) -> None:
        self._java.close()
