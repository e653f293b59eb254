"""`kap decode` beside tshark on one large capture, in one run: frames a second and memory.

Run as ``python -m tools.bench_capture``; prints a table, and with ``--write`` puts it into
``docs/benchmarks-captures.md``. The capture is made of the real ones of `tools/captures.py`, each
repeated with other addresses and later timestamps. In each round every program has its turn, so
that noise of the machine meets all alike; what is compared are the medians over the rounds.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from kafka_admin_proto.capture.captures import read_captures
from tools import tshark
from tools.captures import capture

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks-captures.md"
ROUNDS = 3
#: What is repeated: mostly what is in `kraft`, which is by far the largest.
_NAMES = ("kraft", "zk", "sasl")
#: pcap's header as tcpdump writes it here, and the header of a packet.
_FILE_HEADER, _PACKET_HEADER = 24, struct.Struct("<4I")
#: In a packet with Ethernet and IPv4 headers: where the second byte of each address is.
_SOURCE, _DESTINATION = 27, 31

#: Runs its arguments and prints seconds and kilobytes. A process that starts another lends it its
#: own peak (Linux counts what was there before exec), so a small one has to do it.
_STARTER = """
import os, sys, time
start = time.perf_counter()
silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=silent)
_, status, usage = os.wait4(process, 0)
print(time.perf_counter() - start, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""

_HEAD = """\
# Captures beside tshark

`python -m tools.bench_capture --write` wrote this page: {frames:,} frames in {size:.0f} MB,
made of the captures of real brokers (`tools/captures.py`) by repeating them with other addresses
and later timestamps. One run, medians of {rounds} rounds in which each program has its turn;
everything is written to /dev/null. {machine}; tshark {version}.
Peak memory is that of the process (`ru_maxrss`), and also that on the first tenth of the capture.

| program | s | frames/s | `kap` with bodies | `kap` without | MB, a tenth | MB, whole | × |
|---|---|---|---|---|---|---|---|
"""

_FOOT = """
`tshark -T fields` has `-e tcp.stream` and Kafka's api key, version and correlation id. The columns
of `kap` say how many times as fast it is as the program of the line.
"""


class Program(msgspec.Struct, frozen=True):
    """One way to read a capture: a command line without the file, which goes behind it."""

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


def repeated(files: Sequence[Path], to: Path, times: int) -> None:
    """Write the packets of the files ``times`` over, each time between other addresses, later.

    127.0.0.1 becomes 127.a.b.1; checksums stay as they were, which nobody looks at.
    """
    header = files[0].read_bytes()[:_FILE_HEADER]
    packets = [list(_packets(each)) for each in files]
    spans = [each[-1][0] - each[0][0] + 1 for each in packets]
    clock = packets[0][0][0]
    with to.open("wb") as out:
        out.write(header)
        for number in range(times):
            address = number.to_bytes(2, "big")
            for span, of_file in zip(spans, packets, strict=True):
                start = of_file[0][0]
                for seconds, micros, size, data in of_file:
                    data[_SOURCE : _SOURCE + 2] = address
                    data[_DESTINATION : _DESTINATION + 2] = address
                    out.write(_PACKET_HEADER.pack(clock + seconds - start, micros, len(data), size))
                    out.write(data)
                clock += span


def _packets(file: Path) -> Iterator[tuple[int, int, int, bytearray]]:
    """Seconds, microseconds, the size on the wire, and the bytes of each packet."""
    data = file.read_bytes()
    at = _FILE_HEADER
    while at < len(data):
        seconds, micros, kept, size = _PACKET_HEADER.unpack_from(data, at)
        at += _PACKET_HEADER.size
        yield seconds, micros, size, bytearray(data[at : at + kept])
        at += kept


def timed(program: Program, file: Path) -> Run:
    """One run of a program, its output thrown away. RuntimeError if it fails."""
    starter = [sys.executable, "-S", "-E", "-c", _STARTER, *program.command, str(file)]
    run = subprocess.run(starter, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"{program.name} failed: {run.stderr[-2000:]}")
    seconds, kilobytes = run.stdout.split()
    return Run(float(seconds), int(kilobytes) * 1024)


def measure(folder: Path, megabytes: int, rounds: int) -> str:
    """The page: every program on a capture of that size, and on a tenth of it."""
    made = [capture(name) for name in _NAMES]
    files = [each.path for each in made]
    ports = sorted({port for each in made for port in each.ports})
    unit = sum(each.stat().st_size for each in files)
    tenth = max(1, -(-megabytes * 100_000 // unit))
    large, small = folder / "large.pcap", folder / "small.pcap"
    repeated(files, small, tenth)
    repeated(files, large, 10 * tenth)
    once = sum(not each.forwarded for file in files for each in read_captures([file], bodies=()))
    frames = once * 10 * tenth
    lineup = programs(ports)
    memory = {each.name: timed(each, small).peak for each in lineup}
    runs: dict[str, list[Run]] = {each.name: [] for each in lineup}
    for number in range(rounds):
        for each in lineup:
            runs[each.name].append(timed(each, large))
            print(
                f"round {number + 1}: {each.name} {runs[each.name][-1].seconds:.1f} s", flush=True
            )
    text = _HEAD.format(
        frames=frames,
        size=large.stat().st_size / 1e6,
        rounds=rounds,
        machine=f"CPython {platform.python_version()}, {os.cpu_count()} × {platform.machine()}",
        version=tshark.version(),
    )
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
    return text + _FOOT


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    parser.add_argument("--megabytes", type=int, default=110, help="about how large (110)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of each ({ROUNDS})")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        text = measure(Path(folder), options.megabytes, options.rounds)
    print(text)
    if options.write:
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
