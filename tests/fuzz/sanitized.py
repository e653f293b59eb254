"""The targets beside this file with the compiled engine under sanitizers, on damaged seeds.

Run as ``make fuzz-speed`` (``FUZZ_SECONDS`` for each target) or ``python -m tests.fuzz.sanitized
TARGET ...``. The engine is built anew with AddressSanitizer and UndefinedBehaviorSanitizer, into a
folder that is gone afterwards; Python's own memory comes from malloc, so that each read and write
beyond an object is seen. Inputs are seeds of the targets, damaged at random: the coverage-guided
runs of ``make fuzz`` know nothing of compiled code. Two targets run at a time; what ends one is
written to ``tests/fuzz/found/TARGET/``, from where every test run replays it. With ``--runs``
(``FUZZ_RUNS``) the inputs are the same each time.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from tests.fuzz.run import FOUND

#: The targets whose bytes or values the engine reads.
TARGETS = ("codecs", "payloads", "records", "connections", "hostile", "captures")
_SPEED = Path(__file__).parents[2] / "speed"
_LONGEST = 8192
#: Numbers at the edges of what lengths and counts are.
_EDGES = tuple(
    map(
        bytes.fromhex,
        [
            "7fffffff",
            "80000000",
            "ffffffff",
            "ffffffff07",
            "ffffffff0f",
            "7fff",
            "8000",
            "00",
            "01",
            "ff",
            "80",
        ],
    )
)


def build(folder: Path) -> None:
    """Build the engine with the sanitizers into ``folder``."""
    source = folder / "source"
    shutil.copytree(_SPEED, source, ignore=shutil.ignore_patterns("build", "*.c", "*.so"))
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=source, env=os.environ | {"KAFKA_ADMIN_PROTO_SANITIZE": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"the engine was not built:\n{done.stdout}{done.stderr}")


def environment(folder: Path) -> dict[str, str]:
    """How a process uses the engine in ``folder``: the sanitizers have to be loaded first."""
    libraries = []
    for name in ("libasan.so", "libubsan.so"):
        command = ["gcc", f"-print-file-name={name}"]
        libraries.append(
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        )
    return os.environ | {
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONPATH": str(folder / "source"),
        "PYTHONMALLOC": "malloc",
        "KAFKA_ADMIN_PROTO_PURE": "0",
        # Python itself keeps memory until it ends; a test counts references instead.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:abort_on_error=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }


def fuzz(target: str, seconds: int, runs: int | None, folder: Path) -> tuple[str, int]:
    """Run one target in a process of its own; its last words and its exit code."""
    command = [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.fuzz.sanitized", target,
               "--child", str(folder / target), "--seconds", str(seconds),
               *(() if runs is None else ("--runs", str(runs)))]  # fmt: skip
    done = subprocess.run(
        command, env=environment(folder), capture_output=True, text=True, check=False,
        timeout=seconds + 600,
    )  # fmt: skip
    if done.returncode == 0:
        return done.stdout.strip(), 0
    last = folder / target
    kept = ""
    if last.exists():
        data = last.read_bytes()
        place = FOUND / target / f"sanitized-{sha256(data).hexdigest()[:16]}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        kept = f", input kept as {place}"
    return f"{target}: FAILED{kept}\n{done.stdout}{done.stderr[-6000:]}", done.returncode


def child(target: str, last: Path, seconds: int, most: int | None) -> None:
    """Run the target on damaged seeds, for a time or ``most`` of them beside the seeds.

    The input at hand is in the file ``last``.
    """
    from kafka_admin_proto import codec

    engine = importlib.import_module("kafka_admin_proto_speed._engine")
    assert codec("VoteRequest", 0).backend == "compiled"
    assert b"__asan_report" in Path(str(engine.__file__)).read_bytes()
    module = importlib.import_module(f"tests.fuzz.{target}")
    run: Callable[[bytes], None] = module.one_input
    seeds = [seed[:_LONGEST] for seed in module.seeds()]
    dice = random.Random(seed := random.randrange(1 << 32) if most is None else 1)
    runs = 0
    end = time.monotonic() + seconds
    with last.open("wb", buffering=0) as file:
        while time.monotonic() < end if most is None else runs < len(seeds) + most:
            data = damaged(dice.choice(seeds), seeds, dice) if runs >= len(seeds) else seeds[runs]
            file.seek(0)
            file.truncate()
            file.write(data)
            try:
                run(data)
            except BaseException:
                traceback.print_exc()
                sys.exit(f"{target}: input {data.hex()}, drawn from {seed}")
            runs += 1
    print(f"{target}: {runs} runs under the sanitizers, drawn from {seed}: nothing found")


def damaged(data: bytes, seeds: Sequence[bytes], dice: random.Random) -> bytes:
    """A seed with a few places changed, taken out, put in or from another seed."""
    made = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        at = dice.randint(0, len(made))
        match dice.randrange(6):
            case 0 if at < len(made):
                made[at] ^= 1 << dice.randrange(8)
            case 1:
                del made[at : at + dice.randint(1, 8)]
            case 2:
                edge = dice.choice(_EDGES)
                made[at : at + len(edge)] = edge
            case 3:
                made[at:at] = dice.choice(_EDGES)
            case 4:
                other = dice.choice(seeds)
                start = dice.randint(0, len(other))
                made[at : at + dice.randint(0, 16)] = other[start : start + dice.randint(1, 64)]
            case _:
                del made[dice.randint(max(at, len(made) - 16), len(made)) :]
    return bytes(made[:_LONGEST])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=600, help="for each target")
    parser.add_argument("--runs", type=int, help="of each target, in place of a time")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        child(arguments.targets[0], arguments.child, arguments.seconds, arguments.runs)
        return 0
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        build(folder)
        limits = (arguments.seconds, arguments.runs)
        jobs = [pool.submit(fuzz, each, *limits, folder) for each in arguments.targets]
        status = 0
        for job in jobs:
            text, code = job.result()
            print(text, flush=True)
            status = status or abs(code)
    return status


if __name__ == "__main__":
    sys.exit(main())
