"""The steps of ``.ci/run``: what a run prints, and how it ends, with each kind of fault."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

STEPS = Path(__file__).parents[2] / ".ci" / "steps.sh"


def script(body: str) -> list[str]:
    text = f"set -uo pipefail\nsource {STEPS}\ntrap story EXIT\ntrap stopped TERM INT\n{body}"
    return ["bash", "-c", text]


def run(body: str, folder: Path, **variables: str) -> tuple[int, list[str]]:
    """Exit code and lines of a run that has these steps."""
    done = subprocess.run(
        script(body), cwd=folder, env={"PATH": "/usr/bin:/bin", **variables},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines()


def test_each_step_says_when_it_starts_and_ends(tmp_path: Path) -> None:
    summary = "===== 1 passed in 0.1s ====="
    steps = f"step one echo hello\nbeside two echo a -- three echo b\nstep last echo '{summary}'"
    code, lines = run(steps, tmp_path)
    assert code == 0
    assert lines[0].endswith(" one")
    assert lines[1] == "hello"
    ended = [re.fullmatch(r"== ..:..:.. (\w+): passed after 0:\d\d", line) for line in lines]
    assert lines.index("hello") < lines.index("a")
    assert sorted(found[1] for found in ended if found) == ["last", "one", "three", "two"]
    assert lines[-2:] == ["All steps passed after 0 minutes.", summary]


@pytest.mark.parametrize(
    "steps",
    ["step bad sh -c 'seq 99; exit 3'", "beside good sleep 0.2 -- bad sh -c 'seq 99; exit 3'"],
    ids=["alone", "beside"],
)
def test_the_last_lines_are_those_of_the_step_that_failed(steps: str, tmp_path: Path) -> None:
    code, lines = run(f"step first echo x\n{steps}\nstep never echo never", tmp_path)
    assert code == 3
    assert "never" not in lines
    assert lines[-26] == "FAILED: bad (exit code 3) after 0 minutes. Its last lines:"
    assert lines[-25:] == [str(number) for number in range(75, 100)]
    assert any("bad: FAILED (exit code 3) after 0:0" in line for line in lines)


def test_two_run_at_a_time_and_none_behind_a_failure(tmp_path: Path) -> None:
    meets = "sh -c 'touch {0}; until [ -e {1} ]; do sleep 0.02; done; touch {0}.done'"
    steps = f"a {meets.format('a', 'b')} -- b {meets.format('b', 'a')} -- c ls -- d ls"
    code, lines = run(f"beside {steps}", tmp_path)
    assert code == 0
    assert {"a.done", "b.done"} & {*lines[lines.index("== c") :]}
    code, lines = run("beside bad false -- b sleep 0.2 -- c ls", tmp_path)
    assert code == 1
    assert "== b" in lines
    assert "== c" not in lines


@pytest.mark.parametrize(("status", "order"), [(0, "brought\nused\n"), (4, "brought\n")])
def test_a_step_waits_for_what_another_brings(status: int, order: str, tmp_path: Path) -> None:
    brings = f"sh -c 'sleep 0.3; echo brought >>order; exit {status}'"
    code, lines = run(
        f"beside jars {brings} -- quick true -- uses behind jars sh -c 'echo used >>order'",
        tmp_path,
    )
    assert code == status
    assert (tmp_path / "order").read_text() == order
    assert any("FAILED: jars (exit code 4)" in line for line in lines) == bool(status)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    code, lines = run("step bad no-such-program", tmp_path)
    assert code == 127
    assert "FAILED: bad (exit code 127)" in lines[-2]
    assert "no-such-program: command not found" in lines[-1]


def test_what_comes_from_outside_is_tried_again(tmp_path: Path) -> None:
    body = "answers() { echo x >>tries; [ $(wc -l <tries) -ge 3 ]; }\nstep get patiently answers"
    code, lines = run(body, tmp_path, pauses="0 0 0")
    assert code == 0
    assert [line for line in lines if "tried again" in line] == [
        "That did not work; it is tried again in 0 s: answers"
    ] * 2
    code, lines = run("step get patiently false", tmp_path, pauses="0 0 0")
    assert code == 1
    assert len([line for line in lines if line.startswith("That did not work")]) == 6  # and again


def test_the_pauses_are_fifteen_minutes() -> None:
    done = subprocess.run(
        ["bash", "-c", f"source {STEPS}; echo $pauses"], capture_output=True, text=True, check=True
    )
    assert sum(map(int, done.stdout.split())) == 900


@pytest.mark.parametrize("step", ["step slow", "beside other sleep 60 -- slow"])
def test_an_end_from_outside_says_what_was_running(step: str, tmp_path: Path) -> None:
    """All of it ends, also what a function and the program in it have started."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build/failed.txt").write_text("tests/a.py::test_b\n")
    with subprocess.Popen(
        script(f"{step} patiently sh -c 'sleep 60 & echo $!; wait'"), cwd=tmp_path,
        stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        log = tmp_path / "build/ci/slow.log"
        end = time.monotonic() + 30
        while not (log.exists() and log.read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        process.terminate()
        assert process.wait(timeout=30) == 143
        assert process.stdout
        lines = process.stdout.read().splitlines()
    running = Path("/proc", log.read_text().strip(), "cmdline")
    while running.exists() and b"sleep" in running.read_bytes() and time.monotonic() < end:
        time.sleep(0.02)
    assert time.monotonic() < end, "what ran outlived the run"
    steps = "slow" if step.startswith("step") else "other slow"
    assert lines[-4:] == [
        f"ENDED from outside while it ran: {steps} (after 0 minutes)",
        log.read_text().strip(),
        "Tests that had failed by then:",
        "tests/a.py::test_b",
    ]
