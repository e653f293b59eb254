"""The Java that Spark would start: its version is read from a file where there is one; contexts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kafka_admin_proto.spark.session import (
    NoJavaError,
    NoSparkError,
    check_java,
    check_spark_home,
    spark_context,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def java_home(folder: Path, release: str, says: str) -> Path:
    """A Java that prints a version, with a file that says one."""
    (folder / "bin").mkdir()
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)
    if release:
        (folder / "release").write_text(f'IMPLEMENTOR="x"\n{release}\n')
    return folder


@pytest.mark.parametrize(
    ("release", "says", "version"),
    [
        ('JAVA_VERSION="17.0.15"', "it was started", None),
        ('JAVA_VERSION="11.0.2"', "it was started", "11"),
        ('JAVA_VERSION="1.8.0_292"', "it was started", "8"),
        ("", 'openjdk version "21.0.1" 2023-10-17', None),
        ("", 'openjdk version "1.8.0_292"', "8"),
        ("NO_VERSION=1", 'openjdk version "11.0.2"', "11"),
    ],
)
def test_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, says: str, version: str | None
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, release, says)))
    if version is None:
        check_java()
    else:
        with pytest.raises(NoJavaError, match=f"is Java {version}\\. Spark needs Java 17"):
            check_java()


def test_what_is_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, "", "hello")))
    with pytest.raises(NoJavaError, match="does not say its version"):
        check_java()
    (tmp_path / "bin" / "java").unlink()
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.15"\n')
    with pytest.raises(NoJavaError, match="does not start"):
        check_java()


def test_a_spark_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Java would be asked for it, and say of a script that it is no file."""
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    with pytest.raises(NoSparkError, match=r"^SPARK_HOME is .*/spark, where there is no Spark"):
        check_spark_home()
    (tmp_path / "spark" / "bin").mkdir(parents=True)
    check_spark_home()
    monkeypatch.delenv("SPARK_HOME")
    check_spark_home()


@pytest.mark.xdist_group("spark")
def test_the_context_that_runs_is_taken(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever Java there is now, and whatever master is asked for."""
    monkeypatch.setenv("JAVA_HOME", "/missing")
    assert spark_context("local[7]", settings={"spark.app.name": "x"}) is spark.sparkContext
