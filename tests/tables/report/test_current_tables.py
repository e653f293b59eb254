"""``kap report`` while a pipeline replaces the tables."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import Result

from kafka_admin_proto.tables.queries import StoredTable, read_tables
from kafka_admin_proto.tables.report.current_tables import TRIES, CurrentTables
from tests.helpers.kap import run_kap
from tests.tables.report.report_tables import everything, write_tables

ROOT = Path(__file__).parents[3]


def report(*arguments: object) -> Result:
    return run_kap("report", *map(str, arguments))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tables(tmp_path / "tables", everything())


@contextmanager
def replaced(folder: Path, times: int) -> Iterator[list[int]]:
    """Each of the first times that the tables are listed, other files have their rows after that.

    What is yielded has the number of times that they were listed.
    """
    listed = [0]

    def read(*arguments: Any, **named: Any) -> dict[str, StoredTable]:
        found = read_tables(*arguments, **named)
        listed[0] += 1
        if listed[0] <= times:
            shutil.rmtree(folder)
            write_tables(folder, everything())
        return found

    with patch("kafka_admin_proto.tables.queries.read_tables", read):
        yield listed


@pytest.mark.exhaustive
def test_the_page(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    with replaced(folder, 2) as listed:
        result = report(folder, "--release", "4.0", "--out", out)
    assert result.exit_code == 0, result.output
    assert listed == [3]
    assert "Upgrade to 4.0: 3 clients to change" in result.stderr
    quiet = tmp_path / "quiet.html"
    assert report(folder, "--release", "4.0", "--out", quiet).exit_code == 0
    assert out.read_text() == quiet.read_text()


@pytest.mark.exhaustive
def test_replaced_between_sections(folder: Path) -> None:
    tables = CurrentTables(str(folder), lambda: read_tables(str(folder)))
    counts = []
    for _ in range(3):
        counts.append(tables.ask(lambda found: found["frames"].count()))
        shutil.rmtree(folder)
        write_tables(folder, everything())
    assert len(set(counts)) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("killed", [False, True])
def test_listed_while_they_are_put_in_place(folder: Path, killed: bool) -> None:
    """Between the old folder of a day and the new one there is none, and no error."""
    journal, marker = folder / ".journal.json", folder / "_pipeline.json"
    marker.write_text("{}")
    listed = 0

    def read() -> dict[str, StoredTable]:
        nonlocal listed
        listed += 1
        found = read_tables(str(folder))
        if listed == 1:  # it has begun and ended meanwhile
            (folder / "new").write_text("{}")
            (folder / "new").replace(marker)
            del found["frames"]
        elif listed == 2 and not killed:
            journal.unlink()
        elif listed == 2:
            journal.write_text("{}")
        return found

    if not killed:
        journal.write_text("{}")
    tables = CurrentTables(str(folder), read)
    assert tables.ask(lambda found: found["frames"].count()) > 0
    assert listed == (3 if not killed else TRIES)


@pytest.mark.parametrize(
    "output",
    ["json", *(pytest.param(each, marks=pytest.mark.exhaustive) for each in ("tsv", "table"))],
)
def test_a_question(folder: Path, output: str) -> None:
    arguments = (folder, "--query", "upgrade", "--release", "4.0", "--output", output)
    expected = report(*arguments).stdout
    with replaced(folder, 2):
        result = report(*arguments)
    assert result.exit_code == 1, result.output  # clients have to change
    assert result.stdout == expected
    assert output != "json" or len(json.loads(expected)) == 9


@pytest.mark.exhaustive
@pytest.mark.parametrize("more", [["--query", "errors", "--output", "json"], ["--out", "-"]])
def test_replaced_all_the_time(folder: Path, more: list[str]) -> None:
    with replaced(folder, 1000) as listed:
        result = report(folder, *more)
    assert result.exit_code == 1
    assert listed == [TRIES]
    assert result.stdout == ""
    said = result.stderr.splitlines()[-1]
    assert said.startswith("Error: the pipeline has replaced the tables each of the 5 times")


def test_other_errors_are_told_at_once(folder: Path) -> None:
    (folder / "problems" / "part.parquet").write_bytes(b"no Parquet")
    with replaced(folder, 0) as listed:
        result = report(folder, "--query", "problems")
    assert (result.exit_code, listed) == (1, [1])
    assert "not a parquet file" in result.stderr


@pytest.mark.exhaustive
def test_neither_spark_nor_java(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    program = (
        "import sys; sys.modules['pyspark'] = sys.modules['py4j'] = None; "
        "from kafka_admin_proto.cli.app import kap; kap()"
    )
    command = [sys.executable, "-c", program, "report", str(folder), "--out", str(out)]
    run = subprocess.run(command, env={"PATH": "", "PYTHONPATH": str(ROOT)}, capture_output=True)
    assert run.returncode == 0, run.stderr
    assert out.stat().st_size > 10_000
