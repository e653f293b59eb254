"""`kap decode` beside tshark on one large capture, in one run: frames a second and memory.

Run as ``python -m tools.benchmarks.capture``; prints a table, and with ``--write`` puts it into
``docs/benchmarks-captures.md``. There are two captures, both made of real ones that are repeated
with other addresses and later timestamps: ``samples/``, which is admin traffic and mostly small
frames, and those of `tools/traffic/captures.py`, with large responses and record batches. In each
round every program has its turn, so that noise of the machine affects all of them alike; the
medians over the rounds are compared.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kafka_admin_proto.capture.captures import read_captures
from kafka_admin_proto.codec import codec
from tools.benchmarks.repeated import repeated, size_of
from tools.oracles import tshark
from tools.traffic.captures import capture

_ROOT = Path(__file__).resolve().parents[2]
PAGE = _ROOT / "docs" / "benchmarks-captures.md"
_SAMPLES = ("admin42.pcap.gz", "controller39.pcap.gz")
_SAMPLE_PORTS = (19092, 19093, 29092, 29093)
ROUNDS = 3
#: Runs its arguments and prints seconds and kilobytes. Linux counts the memory that a process had
#: before exec into its peak, so that the process that starts the command has to be small.
_STARTER = """
import os, sys, time
start = time.perf_counter()
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, usage = os.wait4(process, 0)
print(time.perf_counter() - start, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""

#: What the commands of this environment read with.
_BACKENDS = {
    "compiled": "the [compiled engine](speed.md)",
    "pure": "plain Python, without the [compiled engine](speed.md)",
}

_HEAD = """\
# Captures beside tshark

`python -m tools.benchmarks.capture --write` wrote this page. One run, medians of {rounds} rounds in
which each program has its turn; everything is written to /dev/null. {machine}; tshark {version}.
`kap` reads with {backend}.
Peak memory is that of the process (`ru_maxrss`), and also that on the first tenth of the capture.
`tshark -T fields` has `-e tcp.stream` and Kafka's api key, version and correlation id. The columns
of `kap` say how many times as fast it is as the program of the line.
"""

_TABLE = """
## {title}

{frames:,} frames in {size:.0f} MB.

| program | s | frames/s | `kap` with bodies | `kap` without | MB, a tenth | MB, whole | × |
|---|---|---|---|---|---|---|---|
"""


class Program(msgspec.Struct, frozen=True):
    """One way to read a capture: a command line, to which the file is added."""

    name: str
    command: tuple[str, ...]


class Run(msgspec.Struct, frozen=True):
    """What one run took: seconds, and bytes of memory at most."""

    seconds: float
    peak: int


def programs(ports: Sequence[int]) -> list[Program]:
    """Ours, then tshark's two ways."""
    kap = str(Path(sys.executable).with_name("kap"))
    as_kafka = [option for port in ports for option in ("-d", f"tcp.port=={port},kafka")]
    names = ("tcp.stream", "kafka.api_key", "kafka.api_version", "kafka.correlation_id")
    fields = [option for name in names for option in ("-e", name)]
    return [
        Program("kap decode --output jsonl", (kap, "decode", "--output", "jsonl")),
        Program(
            "kap decode --no-body --output tsv", (kap, "decode", "--no-body", "--output", "tsv")
        ),
        Program("tshark -T json -J kafka",
                ("tshark", "-n", *as_kafka, "-T", "json", "-J", "kafka", "-r")),
        Program("tshark -T fields", ("tshark", "-n", *as_kafka, "-T", "fields", *fields, "-r")),
    ]  # fmt: skip


def timed(program: Program, file: Path) -> Run:
    """One run of a program, its output thrown away. RuntimeError if it fails."""
    starter = [sys.executable, "-S", "-E", "-c", _STARTER, *program.command, str(file)]
    run = subprocess.run(starter, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"{program.name} failed: {run.stderr[-2000:]}")
    seconds, kilobytes = run.stdout.split()
    return Run(float(seconds), int(kilobytes) * 1024)


class Mix(msgspec.Struct, frozen=True):
    """Captures that are repeated, and the ports that their servers listened on."""

    title: str
    files: list[Path]
    ports: list[int]


def mixes() -> list[Mix]:
    """Small frames, then large ones."""
    made = [capture(name) for name in ("kraft", "zk", "sasl")]
    return [
        Mix(
            "Admin traffic: the files of samples/",
            [_ROOT / "samples" / name for name in _SAMPLES],
            list(_SAMPLE_PORTS),
        ),
        Mix(
            "Large responses and record batches: the captures of tools/traffic/captures.py",
            [each.path for each in made],
            sorted({port for each in made for port in each.ports}),
        ),
    ]


def measure(mix: Mix, folder: Path, megabytes: int, rounds: int) -> str:
    """The table: every program on a capture of that size, and on a tenth of it."""
    tenth = max(1, -(-megabytes * 100_000 // size_of(mix.files)))
    large, small = folder / "large.pcap", folder / "small.pcap"
    repeated(mix.files, small, range(tenth))
    repeated(mix.files, large, range(10 * tenth))
    once = sum(
        not each.forwarded for file in mix.files for each in read_captures([file], bodies=())
    )
    frames = once * 10 * tenth
    lineup = programs(mix.ports)
    memory = {each.name: timed(each, small).peak for each in lineup}
    runs: dict[str, list[Run]] = {each.name: [] for each in lineup}
    for number in range(rounds):
        for each in lineup:
            runs[each.name].append(timed(each, large))
            print(
                f"round {number + 1}: {each.name} {runs[each.name][-1].seconds:.1f} s", flush=True
            )
    text = _TABLE.format(title=mix.title, frames=frames, size=large.stat().st_size / 1e6)
    medians = {name: statistics.median(run.seconds for run in of) for name, of in runs.items()}
    ours = [medians[each.name] for each in lineup[:2]]
    for each in lineup:
        seconds = medians[each.name]
        whole = max(run.peak for run in runs[each.name])
        ratios = " | ".join(f"{seconds / mine:.2f}×" for mine in ours)
        part = memory[each.name]
        text += (
            f"| `{each.name}` | {seconds:.1f} | {frames / seconds:,.0f} | {ratios} "
            f"| {part / 1e6:.0f} | {whole / 1e6:.0f} | {whole / part:.2f} |\n"
        )
    return text


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    parser.add_argument("--megabytes", type=int, default=110, help="about how large (110)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of each ({ROUNDS})")
    options = parser.parse_args(arguments)
    text = _HEAD.format(
        rounds=options.rounds,
        machine=f"CPython {platform.python_version()}, {os.cpu_count()} × {platform.machine()}",
        version=tshark.version(),
        backend=_BACKENDS[codec("ApiVersionsRequest", 0).backend],
    )
    with tempfile.TemporaryDirectory() as folder:
        for mix in mixes():
            text += measure(mix, Path(folder), options.megabytes, options.rounds)
    print(text)
    if options.write:
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
