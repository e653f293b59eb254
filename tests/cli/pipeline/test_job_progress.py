"""What is said of a job while it runs, and of inputs that tasks cannot open."""

from __future__ import annotations

import io
import re
import time
from unittest.mock import Mock

import click
import pytest

from kafka_admin_proto.cli.pipeline import job_progress
from kafka_admin_proto.cli.pipeline.inputs import UnopenedInputs
from kafka_admin_proto.cli.pipeline.job_progress import JobProgress
from kafka_admin_proto.tables.ingest.unopened import Unopened, find_unopened, unopened_problem
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


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_a_bar_of_the_step_and_its_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar is gone at the end, and no lines of steps come beside it."""
    monkeypatch.setattr(job_progress, "_PAUSE", 0.001)
    monkeypatch.setenv("TERM", "xterm")
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    tasks = Mock(side_effect=[Tasks(3, 1, 1), ConnectionError("Spark has stopped")])
    with JobProgress("starting Spark") as progress:
        progress.watch(tasks)
        for step, text in ((None, "1/3 tasks"), ("decoding", "decoding"), ("", "for files")):
            if step is not None:
                progress.step(step)
            ends = time.monotonic() + 30
            while text not in terminal.getvalue() and time.monotonic() < ends:
                time.sleep(0.001)
            assert text in terminal.getvalue()
    assert "starting Spark" in terminal.getvalue()
    assert not re.search(r": [\d.]+ s\n", terminal.getvalue())


FILES = [f"/{number}.pcap" for number in range(8)]


def batch(files: list[str], *unopened: str) -> Unopened:
    missing = FileNotFoundError(2, "")
    return find_unopened([(name, unopened_problem(name, missing)) for name in unopened], files)


def test_each_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    inputs = UnopenedInputs(FILES[:1])
    for _ in range(2):
        inputs.take(batch(FILES, *FILES[:3]))
        with pytest.raises(click.ClickException, match=r"^3 inputs could not be opened: look"):
            inputs.check("look")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("/1.pcap could not be opened on ")
    assert second.endswith(": No such file or directory")


def test_what_a_later_batch_opens_is_fine() -> None:
    inputs = UnopenedInputs([])
    inputs.take(batch(FILES[:4], *FILES[:2]))
    inputs.take(batch(FILES[4:]))
    inputs.take(batch(FILES[:1]))
    with pytest.raises(click.ClickException, match=r"^1 input could not"):
        inputs.check("")
    inputs.take(batch(FILES[1:2]))
    inputs.check("")


def test_many_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    UnopenedInputs([]).take(batch(FILES, *FILES))
    assert capsys.readouterr().err.splitlines()[5:] == ["3 more could not be opened"]
