"""Kafka's own reader and writer of records, for the tests that ask it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import find, settings

from kafka_admin_proto.records.batches.batches import Batch
from kafka_admin_proto.records.batches.model import CompressionName
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import EXHAUSTIVE
from tests.helpers.requirements import require_oracle
from tests.records.values import FORMATS, batches
from tools.oracles.jars import fetch
from tools.oracles.libraries import COMPRESSION, JACKSON, SLF4J

TOOL = Path(__file__).parents[1] / "java" / "RecordsTool.java"
Ask = Callable[[str, Sequence[str]], list[list[str]]]
Drawn = Callable[[int, CompressionName], list[Batch]]
#: Of each of the `FORMATS`.
COUNT = 200 if EXHAUSTIVE else 12


@pytest.fixture(scope="session")
def drawn() -> Drawn:
    """So many batches of a format, the same at every run.

    They are drawn before the tests that share them: otherwise the first test of a worker would be
    said to have drawn them, which is another one in each run.
    """
    found = {each: _drawn(*each) for each in FORMATS}
    return lambda *each: [msgspec.structs.replace(batch) for batch in found[each]]


def _drawn(magic: int, compression: CompressionName) -> list[Batch]:
    found: list[Batch] = []

    def keep(batch: Batch) -> bool:
        found.append(batch)
        return len(found) >= COUNT

    quiet = settings(database=None, max_examples=COUNT * 3, derandomize=True, deadline=None)
    find(batches(magic, compression), keep, settings=quiet)
    return found[:COUNT]


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """What Kafka of a release answers to lines of RecordsTool."""
    tools: dict[str, JavaTool] = {}

    def start(release: str) -> JavaTool:
        require_oracle()
        jars = fetch(release, ["kafka-clients", *SLF4J, *JACKSON, *COMPRESSION])
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
