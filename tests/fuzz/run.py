"""Coverage-guided fuzzing of the targets beside this file, with atheris.

Run as ``make fuzz`` (``FUZZ_SECONDS`` for each target) or ``python -m tests.fuzz.run TARGET``. Two
targets run at a time, each in a process of its own, on seeds made anew. One line a target tells how
it went; a finding is written to ``tests/fuzz/found/TARGET/``, from where every test run replays it,
and ends this with exit code 1. With ``--runs`` (``FUZZ_RUNS``) the inputs are the same each time.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import msgspec

TARGETS = (
    "captures",
    "codecs",
    "connections",
    "definitions",
    "dumps",
    "hostile",
    "payloads",
    "records",
    "servers",
)
FOUND = Path(__file__).parent / "found"
#: Inputs are at most so long, an input takes at most so many seconds, a process so many MiB.
_LONGEST, _SLOWEST, _LARGEST = 8192, 10, 2048


class Outcome(msgspec.Struct):
    """What libFuzzer said of one target's run."""

    target: str
    runs: int
    per_second: int
    coverage: int
    corpus: int
    status: int
    log: str

    def __str__(self) -> str:
        verdict = "nothing found" if self.status == 0 else f"FAILED (status {self.status})"
        return (
            f"{self.target}: {self.runs} runs, {self.per_second} a second, "
            f"coverage {self.coverage}, corpus {self.corpus}: {verdict}"
        )


def fuzz(target: str, seconds: int, runs: int | None) -> Outcome:
    """Run one target in a process of its own: for a time, or that many inputs beside the seeds."""
    with tempfile.TemporaryDirectory() as folder:
        module = importlib.import_module(f"tests.fuzz.{target}")
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        found = FOUND / target
        found.mkdir(parents=True, exist_ok=True)
        once = (path.read_bytes() for path in sorted(found.iterdir()))
        seeds = [seed[:_LONGEST] for seed in chain(module.seeds(), once)]
        for index, seed in enumerate(seeds):
            (corpus / f"seed-{index}").write_bytes(seed)
        measure = (
            [f"-max_total_time={seconds}"]
            if runs is None
            else [f"-runs={len(seeds) + runs}", "-seed=1"]
        )
        command = [
            sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.fuzz.run", target,
            "--child", str(corpus), *measure, f"-max_len={_LONGEST}",
            f"-timeout={_SLOWEST}", f"-rss_limit_mb={_LARGEST}", f"-artifact_prefix={found}/",
            "-print_final_stats=1",
        ]  # fmt: skip
        limit = seconds + 600  # the seeds alone may take longer than the time given
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=limit, check=False
        )
    log = done.stderr + done.stdout
    return Outcome(
        target=target,
        runs=_last(r"number_of_executed_units:\s+(\d+)", log),
        per_second=_last(r"average_exec_per_sec:\s+(\d+)", log),
        coverage=_last(r"\bcov: (\d+)", log),
        corpus=_last(r"\bcorp: (\d+)", log),
        status=done.returncode,
        log=log,
    )


def _last(pattern: str, text: str) -> int:
    numbers = re.findall(pattern, text)
    return int(numbers[-1]) if numbers else 0


def _child(target: str, options: list[str]) -> None:
    """In the process of its own: instrument the package, then hand over to libFuzzer."""
    import atheris

    with atheris.instrument_imports(include=["kafka_admin_proto"]):
        module = importlib.import_module(f"tests.fuzz.{target}")
    atheris.Setup([sys.argv[0], *options], module.one_input)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--seconds", type=int, default=600, help="for each target")
    parser.add_argument("--runs", type=int, help="of each target, in place of a time")
    parser.add_argument("--child", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(TARGETS):
        parser.error(f"there is no target {', '.join(sorted(unknown))}; {', '.join(TARGETS)}")
    if arguments.child is not None:
        _child(arguments.targets[0], arguments.child)
    if importlib.util.find_spec("atheris") is None:
        print("not fuzzed: atheris is not installed; it has wheels for CPython on Linux")
        return int(os.environ.get("KAFKA_ADMIN_PROTO_REQUIRE_ALL") == "1")
    failed = False
    wanted = arguments.targets or TARGETS
    for target in wanted:  # two threads that import at once may see a module that is not ready
        importlib.import_module(f"tests.fuzz.{target}")
    with ThreadPoolExecutor(2) as pool:
        for outcome in pool.map(
            lambda target: fuzz(target, arguments.seconds, arguments.runs), wanted
        ):
            print(outcome, flush=True)
            # Too few runs means that the harness broke, not that all is well.
            if outcome.status or outcome.runs == 0:
                failed = True
                _, mark, told = outcome.log.rpartition("=== Uncaught Python exception")
                print((mark + told if mark else outcome.log)[-4000:])
                print("again with: python -m pytest tests/fuzz")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
