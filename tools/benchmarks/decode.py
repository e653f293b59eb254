"""`kap decode --output jsonl` with the compiled engine and without, in CPU seconds.

Run as ``python -m tools.benchmarks.decode`` where the engine is built (``make speed``); prints a
section, and with ``--write`` puts it into ``docs/benchmarks-speed.md``. The captures are those of
``tools.benchmarks.spark``. In each round both have their turn, so that noise of the machine meets
both. The minima over the rounds are compared: whatever else the machine does only adds to them.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kafka_admin_proto.codec import codec
from tools.benchmarks.spark import Data, make

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-speed.md"
#: The name of a way to run it → ``KAFKA_ADMIN_PROTO_PURE``.
WAYS = {"plain Python": "1", "engine": "0"}

HEADING = "\n## `kap decode`\n"
_SECTION = (
    HEADING
    + """
`python -m tools.benchmarks.decode --write` wrote this section. `kap decode --output jsonl` on
{data} of the captures of `tools/traffic/captures.py`, its output to /dev/null, on one processor of
{machine}. Each way had its turn in each of {rounds} rounds; seconds are those of the processor
(user and system), the least of all rounds, the start of the program included.

| way | s | frames/s | times as fast |
|---|---:|---:|---:|
{rows}"""
)


def cpu_seconds(files: Sequence[str], pure: str) -> float:
    """What one run takes. RuntimeError if it fails."""
    command = ["taskset", "--cpu-list", "0", sys.executable, "-m", "kafka_admin_proto"]
    command += ["decode", "--output", "jsonl", *files]
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    environment = os.environ | {"KAFKA_ADMIN_PROTO_PURE": pure}
    process = os.posix_spawnp(command[0], command, environment, file_actions=silent)
    _, status, usage = os.wait4(process, 0)
    if status:
        code = os.waitstatus_to_exitcode(status)
        raise RuntimeError(f"kap decode with KAFKA_ADMIN_PROTO_PURE={pure} ended with {code}")
    return usage.ru_utime + usage.ru_stime


def measure(data: Data, rounds: int) -> dict[str, float]:
    """The least seconds of each way."""
    files = sorted(map(str, data.folder.iterdir()))
    least: dict[str, float] = {}
    for number in range(rounds):
        for name, pure in WAYS.items():
            seconds = cpu_seconds(files, pure)
            print(f"round {number + 1}: {name} {seconds:.2f} s", flush=True)
            least[name] = min(seconds, least.get(name, seconds))
    return least


def section(data: Data, least: dict[str, float], rounds: int) -> str:
    slowest = max(least.values())
    rows = [
        f"| {name} | {seconds:.2f} | {data.frames / seconds:,.0f} | {slowest / seconds:.2f}× |\n"
        for name, seconds in least.items()
    ]
    machine = f"{os.cpu_count()} × {platform.machine()}, CPython {platform.python_version()}"
    return _SECTION.format(data=data, machine=machine, rounds=rounds, rows="".join(rows))


def written_section() -> str:
    """The section that stands on the page, which `tools.benchmarks.speed` keeps."""
    _, heading, rest = PAGE.read_text("utf-8").partition(HEADING)
    return heading + rest


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help=f"the section to docs/{PAGE.name}")
    parser.add_argument("--megabytes", type=int, default=200, help="about how large (200)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (5)")
    options = parser.parse_args(arguments)
    if codec("ApiVersionsRequest", 0).backend != "compiled":
        raise SystemExit("the compiled engine is not in use; `make speed` builds it")
    with tempfile.TemporaryDirectory() as folder:
        data = make(Path(folder) / "captures", options.megabytes)
        text = section(data, measure(data, options.rounds), options.rounds)
    print(text)
    if options.write:
        before, _, _ = PAGE.read_text("utf-8").partition(HEADING)
        PAGE.write_text(before + text, "utf-8")


if __name__ == "__main__":
    main()
