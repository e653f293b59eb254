"""A pipeline that is killed, anywhere, and started again has each frame once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.helpers.profile import EXHAUSTIVE, SEED
from tests.tables.test_pipeline import by_one_process, frames_in
from tests.tables.traffic import ADMIN, CONTROLLER
from tools.benchmarks.repeated import cut, repeated

#: Each run is a process with a JVM of its own.
pytestmark = [pytest.mark.xdist_group("spark kills"), pytest.mark.explore]
KILLS = 3 if EXHAUSTIVE else 1
#: Longer than any run takes.
_TOO_LONG = 240


def start(*arguments: object) -> subprocess.Popen[str]:
    kap = Path(sys.executable).with_name("kap")
    return subprocess.Popen(
        [kap, "pipeline", *map(str, arguments), "--master", "local[2]"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> None:
    _, said = process.communicate(timeout=_TOO_LONG)
    assert process.returncode == 0, said[-3000:]


def kill(process: subprocess.Popen[str], dice: random.Random) -> None:
    """End the process and all that it has started, some time after one of its first steps."""
    assert process.stderr is not None
    for _ in range(dice.randint(1, 9)):
        if not process.stderr.readline():
            break
    time.sleep(dice.random())
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    java = [int(pid) for task in tasks for pid in task.read_text().split()]
    os.killpg(process.pid, signal.SIGKILL)
    for pid in java:  # it has a session of its own, as its workers have, which end with it
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    process.communicate()


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("kills")
    repeated([ADMIN, CONTROLLER], folder / "whole", range(4))
    return cut(folder / "whole", folder, KILLS + 1)


def test_batch(spark: SparkSession, captures: list[Path], tmp_path: Path) -> None:
    dice = random.Random(SEED)
    arguments = (*captures, "--out", tmp_path / "out")
    for _ in range(KILLS):
        kill(start(*arguments), dice)
    finish(start(*arguments))
    assert frames_in(tmp_path / "out") == by_one_process(captures)
    assert not list((tmp_path / "out").glob(".staging*"))


def test_stream(spark: SparkSession, captures: list[Path], tmp_path: Path) -> None:
    dice = random.Random(SEED)
    source, out = tmp_path / "captures", tmp_path / "out"
    source.mkdir()
    arguments = (source, "--out", out, "--streaming", "--every", "0")
    copies = []
    for number, capture in enumerate(captures):
        copies.append(Path(shutil.copy(capture, source)))
        os.utime(copies[-1], (1e9 + number, 1e9 + number))
        if number < KILLS:
            kill(start(*arguments), dice)
    if EXHAUSTIVE:
        finish(start(*arguments))
    finish(start(*arguments, "--end"))
    assert frames_in(out) == by_one_process(copies)
