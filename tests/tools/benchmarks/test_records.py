"""The figures of records and groups: the tool runs, and refuses what went wrong."""

from __future__ import annotations

import os

import pytest

from tools.benchmarks import records
from tools.benchmarks.record_load import Work

#: A machine that is busy enough has time for one request of each kind.
_FEW = ["--rounds=1", "--mb=0.2", "--seconds=1e-9", "--members=3", "--retained-mb=0.2"]


@pytest.mark.exhaustive
def test_a_short_run_has_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("confluent_kafka")
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("the server and its clients need a processor each")
    records.main(["--alone", *_FEW])
    rows = [line.split("|")[1:3] for line in capsys.readouterr().out.splitlines() if "|" in line]
    figures = [cell.split()[0].replace(",", "") for title, cell in rows if title.strip(" -")]
    assert len(figures) == 11
    assert all(float(each) > 0 for each in figures)


def test_figures_of_work() -> None:
    found = Work(100.0, 2.0, 0.5)
    assert (found.per_second, found.per_cpu_second) == (50, 200)
