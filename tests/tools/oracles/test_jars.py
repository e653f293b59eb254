"""Jars in the cache, brought by a Maven that a function plays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools.oracles import jars

#: Askers at the same time.
COUNT = 4


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """What each run of Maven was asked for."""
    found: list[Sequence[str]] = []

    def maven(pom: Path, coordinates: Sequence[str], *goal: str) -> None:
        found.append(coordinates)
        folder = next((Path(each.partition("=")[2]) for each in goal if "=/" in each), pom.parent)
        folder.mkdir(exist_ok=True)
        for each in coordinates:
            _, name, version = each.split(":")
            (folder / f"{name}-{version}.jar").touch()

    monkeypatch.setenv("KAFKA_ADMIN_PROTO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(jars, "_maven", maven)
    return found


@pytest.mark.parametrize(
    "ask",
    [
        lambda: jars.fetch("4.3.1", ["kafka-clients", "org.slf4j:slf4j-api:1.7.36"]),
        lambda: jars.fetch_of_each(["4.2.0", "4.3.1"], "kafka-clients"),
        lambda: jars.fetch_runtime("4.3.1"),
    ],
)
def test_several_askers_bring_jars_once(
    ask: Callable[[], list[Path]], runs: list[Sequence[str]]
) -> None:
    together = threading.Barrier(COUNT)

    def asked(_: int) -> list[Path]:
        together.wait()
        return ask()

    with ThreadPoolExecutor(COUNT) as pool:
        answers = list(pool.map(asked, range(COUNT)))
    assert len(runs) == 1
    assert {path.exists() for answer in answers for path in answer} == {True}
    assert answers == [ask()] * COUNT
    assert len(runs) == 1


def test_only_missing_jars_are_brought(runs: list[Sequence[str]]) -> None:
    jars.fetch("4.3.1", ["kafka-clients"])
    jars.fetch("4.3.1", ["kafka-clients", "kafka-metadata"])
    assert runs == [
        ["org.apache.kafka:kafka-clients:4.3.1"],
        ["org.apache.kafka:kafka-metadata:4.3.1"],
    ]
