"""Jars in the cache, and archives of classes: made once, for one Java and one list of jars."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tools.oracles import jars
from tools.oracles.java import archive_options, java_options, make_archive

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


#: A Maven that has kafka-clients in its repository and finds kafka-metadata where it asks.
_MAVEN = """#!/bin/sh
echo "$@" >>"$(dirname "$0")/runs"
for each; do case "$each" in *pom.xml) pom=$each;; esac; done
case "$*" in *--offline*) grep -q kafka-clients "$pom";; *) ! grep -q gone "$pom";; esac
"""


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where that Maven notes the arguments of its runs."""
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    program.write_text(_MAVEN)
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("KAFKA_ADMIN_PROTO_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KAFKA_ADMIN_PROTO_NO_FETCH", raising=False)
    return program.parent / "runs"


@pytest.mark.parametrize(
    ("artifact", "offline"), [("kafka-clients", [True]), ("kafka-metadata", [True, False])]
)
def test_a_registry_is_asked_for_what_the_machine_lacks(
    artifact: str, offline: list[bool], maven: Path
) -> None:
    jars.fetch("4.3.1", [artifact])
    assert ["--offline" in run for run in maven.read_text().splitlines()] == offline


def test_what_is_nowhere_is_named(maven: Path) -> None:
    with pytest.raises(jars.FetchError, match=r"could not fetch org\.apache\.kafka:gone:4\.3\.1"):
        jars.fetch("4.3.1", ["gone"])


def test_nothing_is_fetched_that_is_not_listed(
    maven: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_ADMIN_PROTO_NO_FETCH", "1")
    with pytest.raises(jars.FetchError, match=r"pinned\.py does not list it: .*kafka-clients"):
        jars.fetch("4.3.1", ["kafka-clients"])
    assert not maven.exists()


JARS = [Path("one.jar"), Path("two.jar")]


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KAFKA_ADMIN_PROTO_CACHE", str(tmp_path / "cache"))
    return program


def written(options: Sequence[str], folder: Path) -> None:
    """What Java does as it ends."""
    assert list(folder.iterdir()) == []
    _, file = options[0].split("=")
    Path(file).write_text("classes")


def test_it_is_made_once(java: Path) -> None:
    def twice(options: Sequence[str], folder: Path) -> None:
        raise AssertionError("there is one")

    assert archive_options(JARS) == []
    make_archive(JARS, written)
    make_archive(JARS, twice)
    (file,) = (each.split("=")[1] for each in archive_options(JARS) if "=" in each)
    assert Path(file).read_text() == "classes"
    assert archive_options(JARS[:1]) == []
    assert java_options(JARS, Path("more"))[-1] == os.pathsep.join(["one.jar", "two.jar", "more"])


def test_another_java_does_without(java: Path) -> None:
    make_archive(JARS, written)
    os.utime(java, (1, 1))
    assert archive_options(JARS) == []


def test_what_failed_is_made_again(java: Path) -> None:
    def failed(options: Sequence[str], folder: Path) -> None:
        raise OSError("no such program")

    with pytest.raises(OSError, match="no such"):
        make_archive(JARS, failed)
    assert archive_options(JARS) == []
    make_archive(JARS, written)
    assert archive_options(JARS)
