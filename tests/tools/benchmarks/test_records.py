"""The figures of records and groups: the tool runs, and refuses what went wrong."""

from __future__ import annotations

import os
import re

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
    page = capsys.readouterr().out
    rows = [line.split("|")[1:3] for line in page.splitlines() if "|" in line]
    figures = [cell.split()[0].replace(",", "") for title, cell in rows if title.strip(" -")]
    assert len(figures) == 11
    bare = re.findall(r"time ([\d.]+) ms \(p50\) and ([\d.]+) ms \(p99\) are librdkafka's", page)
    assert len(bare) == 1
    figures += bare[0]
    assert all(float(each) > 0 for each in figures)


def test_figures_of_work() -> None:
    found = Work(100.0, 2.0, 0.5)
    assert (found.per_second, found.per_cpu_second) == (50, 200)
