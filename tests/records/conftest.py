"""Kafka's own reader and writer of records, for the tests that ask it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.helpers.java_tool import JavaTool
from tests.helpers.requirements import require_oracle
from tools.oracles.jars import fetch

TOOL = Path(__file__).parents[1] / "java" / "RecordsTool.java"
_LIBRARIES = [
    "com.fasterxml.jackson.core:jackson-databind:2.16.2",
    "com.fasterxml.jackson.core:jackson-core:2.16.2",
    "com.fasterxml.jackson.core:jackson-annotations:2.16.2",
    "org.slf4j:slf4j-api:1.7.36",
    "org.slf4j:slf4j-nop:1.7.36",
    "org.xerial.snappy:snappy-java:1.1.10.5",
    "com.github.luben:zstd-jni:1.5.6-10",
    "org.lz4:lz4-java:1.8.0",
]
Ask = Callable[[str, Sequence[str]], list[list[str]]]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """What Kafka of a release answers to lines of RecordsTool."""
    tools: dict[str, JavaTool] = {}

    def start(release: str) -> JavaTool:
        require_oracle()
        jars = fetch(release, ["kafka-clients", *_LIBRARIES])
        source = TOOL.read_text("utf-8")
        package = "org/apache/kafka/common/record/internal/"
        with zipfile.ZipFile(jars[0]) as clients:
            if any(name.startswith(package) for name in clients.namelist()):
                source = source.replace("// import", "import")
        file = tmp_path_factory.mktemp(release) / TOOL.name
        file.write_text(source, "utf-8")
        return JavaTool(file, jars)

    def ask(release: str, requests: Sequence[str]) -> list[list[str]]:
        if release not in tools:
            tools[release] = start(release)
        return [answer.split("\t", 1) for answer in tools[release].ask(requests)]

    yield ask
    for tool in tools.values():
        tool.close()
