"""Tasks in processes of this machine: what they return and raise, and how they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event, Thread, Timer
from typing import TypeVar

import pytest

from kafka_admin_proto.tables.processes import Processes, WorkerError
from kafka_admin_proto.tables.runner import Tasks
from tests.helpers.processes import python
from tests.helpers.waiting import until

T = TypeVar("T")

#: Seconds that a task takes which is never waited for.
_FOREVER = 600


def test_results_are_in_the_order_of_shares() -> None:
    with Processes(2) as processes:
        assert processes.run(abs, range(-20, 20)) == list(map(abs, range(-20, 20)))
        assert processes.run(abs, []) == []
        assert os.getpid() not in processes.run(eval, ["__import__('os').getpid()"])


def test_tasks_are_counted_while_they_run() -> None:
    seen: set[Tasks] = set()
    is_over = Event()

    def watch() -> None:
        while not is_over.wait(0.01):
            seen.add(processes.tasks())

    with Processes(1) as processes:
        processes.run(abs, [1])
        watching = Thread(target=watch)
        watching.start()
        processes.run(time.sleep, [0, 1, 0, 0])
        is_over.set()
        watching.join()
        assert processes.tasks() == Tasks(0, 0, 0)
    assert any((total, done) == (4, 1) and running for total, done, running in seen)


_LEAVES_A_CYCLE = """(lambda x: (
    __import__('gc').disable(),
    setattr(x, 'self', x),
    setattr(__import__('builtins'), 'left', __import__('weakref').ref(x)),
))(type('X', (), {})())"""


def test_a_task_leaves_no_garbage() -> None:
    """A worker that reads captures would keep it for good, and grow from task to task."""
    with Processes(1) as processes:
        assert processes.run(eval, [_LEAVES_A_CYCLE, "left() is None"])[1] is True


def test_a_task_that_fails_ends_the_others() -> None:
    shares = [f"__import__('time').sleep({_FOREVER})", "1/0"]
    said = "a task failed: ZeroDivisionError: division by zero"
    with pytest.raises(WorkerError, match=said) as failed, Processes(2) as processes:
        processes.run(eval, shares)
    assert isinstance(failed.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("shares", [[1], [0, 1], [1] * 9], ids=str)
def test_a_worker_that_dies_is_an_error(shares: list[int]) -> None:
    with Processes(2) as processes:
        with pytest.raises(WorkerError, match="a worker process ended in the middle of its task"):
            processes.run(os._exit, shares)
        with pytest.raises(WorkerError):
            processes.run(abs, [1])


class _Slow(list[T]):
    """Shares with a while between them."""

    def __iter__(self) -> Iterator[T]:
        for share in super().__iter__():
            yield share
            time.sleep(0.5)


def test_no_task_runs_before_the_last_one_has_its_worker() -> None:
    """CPython's pool does not bear that a worker ends while it starts another one."""
    with Processes(2) as processes:
        assert processes.run(abs, [1]) == [1]
        before = time.monotonic_ns()
        ran = processes.run(eval, _Slow(["__import__('time').monotonic_ns()"] * 2))
        assert all(each - before > 10**9 for each in ran)


def test_tasks_are_cancelled() -> None:
    with Processes(2) as processes:
        Timer(0.5, processes.cancel).start()
        with pytest.raises(WorkerError):
            processes.run(time.sleep, [_FOREVER] * 3)
        processes.cancel()


def test_an_interrupt_is_for_this_process_alone() -> None:
    with Processes(2) as processes:
        blocked = partial(signal.pthread_sigmask, signal.SIG_BLOCK)
        assert processes.run(blocked, [[]] * 4) == [{signal.SIGINT}] * 4
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


_STARTS_WORKERS = f"""
from kafka_admin_proto.tables.processes import Processes
processes = Processes(2)
shares = ["__import__('os').getpid()", "__import__('time').sleep(0.2)"] * 2
print(*{{each for each in processes.run(eval, shares) if each}}, flush=True)
processes.run(eval, ["__import__('time').sleep({_FOREVER})"] * 2)
"""


def test_workers_end_with_a_process_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _STARTS_WORKERS], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        workers = [Path("/proc", each) for each in process.stdout.readline().split()]
        assert workers
        assert all(map(Path.exists, workers))
        process.kill()
    until(lambda: not any(map(Path.exists, workers)))


def test_no_cores_are_no_runner() -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        Processes(0)


def test_workers_take_no_modules_from_the_current_folder(tmp_path: Path) -> None:
    """Captures lie there, and what a stranger has put beside them."""
    (script := tmp_path / "script.py").write_text(
        "from kafka_admin_proto.tables.processes import Processes\n"
        "if __name__ == '__main__':\n"
        "    with Processes(1) as processes:\n"
        "        print(processes.run(abs, [-1]))\n"
    )
    (strange := tmp_path / "captures").mkdir()
    for module in ("grp", "pwd", "queue"):
        (strange / f"{module}.py").write_text("raise SystemExit('it was run')")
    done = python(script, cwd=strange)
    assert (done.stdout, done.stderr, done.returncode) == ("[1]\n", "", 0)
