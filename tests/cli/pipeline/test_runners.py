"""``kap pipeline`` without Spark: when it is chosen, what it refuses, and how it ends."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.helpers.kap import ended, run_kap
from tests.helpers.profile import sample
from tests.spark.needs import require
from tests.tables.test_pipeline import by_one_process, frames_in
from tests.tables.traffic import ADMIN, CONTROLLER
from tools.benchmarks.repeated import repeated

require("pyarrow")

#: A run in which neither Spark nor Java can be started.
_BLOCKED = """
import sys
sys.modules["pyspark"] = sys.modules["py4j"] = None
import importlib.util as util
find = util.find_spec
util.find_spec = lambda name, *more: None if name == "pyspark" else find(name, *more)
from kafka_admin_proto.cli import main
if __name__ == "__main__":
    sys.argv[0] = "kap"
    main()
"""


def refused(tmp_path: Path, *arguments: str) -> str:
    result = ended(run_kap("pipeline", str(ADMIN), "--out", str(tmp_path / "out"), *arguments), 2)
    assert not (tmp_path / "out").exists()
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--master", "local[2]"),
        ("--master", ""),
        ("--set", "spark.driver.memory=1g"),
        ("--streaming", None),
    ],
)
def test_options_of_spark(tmp_path: Path, option: str, value: str | None) -> None:
    """They are refused where they would have no effect, and need Spark where it is not there."""
    given = [option] if value is None else [option, value]
    said = f"{option} goes with --runner spark"
    assert said in refused(tmp_path, "--runner", "processes", *given)
    with without("pyspark"):
        said = f"{option} needs pyspark: pip install 'kafka-admin-proto[spark]'"
        assert said in refused(tmp_path, *given)


def test_what_is_not_installed(tmp_path: Path) -> None:
    with without("pyspark"):
        assert "the pipeline needs pyspark: pip" in refused(tmp_path, "--runner", "spark")
    with without("pyspark", "pyarrow"):
        assert "needs pyarrow: pip install 'kafka-admin-proto[report]'" in refused(tmp_path)


def without(*modules: str) -> Any:
    find = importlib.util.find_spec

    def found(name: str, *more: Any) -> Any:
        return None if name in modules else find(name, *more)

    return patch("importlib.util.find_spec", found)


def test_where_spark_is_not_installed(tmp_path: Path) -> None:
    """The tables are made all the same, with the steps on standard error."""
    script = tmp_path / "kap.py"
    script.write_text(_BLOCKED)
    done = subprocess.run(
        [sys.executable, script, "pipeline", ADMIN, CONTROLLER, "--out", tmp_path / "out"],
        capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"JAVA_HOME": str(tmp_path / "nowhere")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    steps = ["reading captures", "decoding", "writing tables", "counting"]
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == steps
    assert frames_in(tmp_path / "out") == by_one_process([ADMIN, CONTROLLER])


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture that takes a while."""
    path = tmp_path_factory.mktemp("captures") / "a.pcap"
    repeated([ADMIN, CONTROLLER], path, range(4))
    return path


def start(capture: Path, out: Path, steps: int) -> subprocess.Popen[str]:
    """A run without Spark after so many of its steps."""
    process = subprocess.Popen(
        [Path(sys.executable).with_name("kap"), "pipeline", capture, "--out", out,
         "--runner", "processes", "--split-size", "1m"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    for _ in range(steps):
        process.stderr.readline()
    while not (out / ".lock").exists():
        time.sleep(0.01)
    return process


@pytest.mark.exhaustive
@pytest.mark.parametrize("steps", sample([0, 1, 2], 1))
def test_killed_at_any_step(capture: Path, tmp_path: Path, steps: int) -> None:
    """The process alone is killed; the next run has each frame once, and leaves nothing else."""
    out = tmp_path / "out"
    killed = start(capture, out, steps)
    time.sleep(0.1)
    killed.kill()
    killed.communicate()
    table, said = start(capture, out, 0).communicate(timeout=120)
    assert "frames in" in table, said
    assert frames_in(out) == by_one_process([capture])
    assert {each.name for each in out.iterdir() if each.name[0] == "."} == {".lock"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("steps", "to_group"), sample([(1, True), (0, True), (0, False), (1, False)], 2)
)
def test_ctrl_c(capture: Path, tmp_path: Path, steps: int, to_group: bool) -> None:
    """The signal is for the process alone, or as on a terminal for all that it has started too."""
    process = start(capture, tmp_path / "out", steps)
    (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
    table, errors = process.communicate(timeout=60)
    said = [each for each in errors.splitlines() if not re.fullmatch(r"[\w ]+: [\d.]+ s", each)]
    assert said == [f"stopped by Ctrl-C: {tmp_path / 'out'} is as it was before"], errors
    assert (process.returncode, table) == (130, "")
    assert not (tmp_path / "out").exists()


@pytest.mark.exhaustive
def test_a_worker_that_is_killed(capture: Path, tmp_path: Path) -> None:
    process = start(capture, tmp_path / "out", 1)
    server = int(_children(process.pid)[-1])
    while not (workers := _children(server)):
        time.sleep(0.01)
    os.kill(int(workers[0]), signal.SIGKILL)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Error: a worker process ended in the middle of its task" in errors
    assert not (tmp_path / "out").exists()


def _children(process: int) -> list[str]:
    """The processes that one has started, the newest last."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return sorted((pid for task in tasks for pid in task.read_text().split()), key=int)
