"""What is said of a job while it runs."""

from __future__ import annotations

import time
from unittest.mock import Mock

import pytest

from kafka_admin_proto.cli.pipeline import job_progress
from kafka_admin_proto.cli.pipeline.job_progress import JobProgress
from kafka_admin_proto.tables.runner import Tasks


@pytest.mark.parametrize(
    ("tasks", "times"),
    [(Tasks(2, 0, 0), 1), (Tasks(2, 0, 1), 0), (Tasks(2, 1, 0), 0), (Tasks(0, 0, 0), 0)],
    ids=["waiting", "a task runs", "a task has run", "no job"],
)
def test_no_worker_takes_a_task(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tasks: Tasks, times: int
) -> None:
    """It is said once, and the job goes on waiting."""
    monkeypatch.setattr(job_progress, "_PAUSE", 0.001)
    monkeypatch.setattr(job_progress, "_NO_WORKER_S", 0.01)
    found = Mock(return_value=tasks)
    with JobProgress() as progress:
        progress.watch(found)
        while found.call_count < 50:
            time.sleep(0.001)
    assert capsys.readouterr().err.count("no worker has taken a task for 15 s") == times
