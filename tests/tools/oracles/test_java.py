"""An archive of classes: made once, for one Java and one list of jars."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.oracles.java import archive_options, java_options, make_archive

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
