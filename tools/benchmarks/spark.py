"""The pipeline beside one process and beside tshark with Spark: seconds and memory, in one run.

Run as ``python -m tools.benchmarks.spark``; prints tables, and with ``--write`` puts them into
``docs/benchmarks-spark.md``. The captures are those of real brokers (`tools/traffic/captures.py`),
repeated with other addresses and later times into many files, as rotation makes them. Every program
and all that it starts is pinned to its cores by ``taskset``; memory is that of the whole tree of
processes.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tools.benchmarks.repeated import repeated, size_of
from tools.oracles import tshark
from tools.traffic.captures import capture

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks-spark.md"
#: Megabytes of one file.
_FILE = 16
#: Seconds between two looks at the memory: each takes processor time from what is measured.
_SAMPLE_EVERY = 1.0
#: Runs of each in the comparisons of a large connection alone and among others, and of runners.
_SKEW_ROUNDS = _RUNNER_ROUNDS = 2
#: Of the size of the largest captures, those on which the runners are compared.
_PARTS_OF_SIZE = (100, 10, 2)

_HEAD = """\
# The pipeline on Spark

`python -m tools.benchmarks.spark --write` wrote this page, each part of it in one run. The
captures are those of `tools/traffic/captures.py`, repeated with other addresses and later times
into files of about {file} MB: {large}, and a tenth of them: {small}.
{machine}; Spark {spark}, Java {java}, tshark {tshark}.
Seconds are wall time with the start of Spark. Peak memory is the sum over the whole tree of
processes of what each has to itself (`Pss`), sampled every {every} s; of the pipeline also that of
the JVM (driver and executors in one) and of all Python processes. Everything is in plain Python
but for the rows that say so.

"""
#: Plain Python, and the compiled engine.
_PURE, _ENGINE = {"KAFKA_ADMIN_PROTO_PURE": "1"}, {"KAFKA_ADMIN_PROTO_PURE": "0"}


class Run(msgspec.Struct, frozen=True):
    """Seconds, and peak bytes: of all processes, of Java, of Python."""

    seconds: float
    peak: int
    java: int
    python: int


class Data(msgspec.Struct, frozen=True):
    """Captures in a folder."""

    folder: Path
    bytes: int
    frames: int
    connections: int

    def __str__(self) -> str:
        return f"{self.frames:,} frames in {self.bytes / 1e9:.2f} GB"


def make(folder: Path, megabytes: int, *, times: int = 1) -> Data:
    """So many megabytes of captures, in files."""
    captures = [capture(name).path for name in ("kraft", "zk", "sasl")]
    folder.mkdir()
    each = max(1, _FILE * 1_000_000 // size_of(captures))
    count = max(1, round(megabytes * 1_000_000 / size_of(captures) / each)) * times
    for number in range(count):
        repeated(captures, folder / f"{number:05}.pcap", range(number * each, (number + 1) * each))
    from kafka_admin_proto.capture.captures import read_captures

    found = [each for name in captures for each in read_captures([name], bodies=())]
    names = {each.connection for each in found}
    size = sum(file.stat().st_size for file in folder.iterdir())
    return Data(folder, size, len(found) * each * count, len(names) * each * count)


def timed(command: Sequence[str], cores: int, *, env: dict[str, str] | None = None) -> Run:
    """One run on the first ``cores`` of the machine. RuntimeError if it fails."""
    pinned = ["taskset", "--cpu-list", ",".join(map(str, range(cores))), *command]
    start = time.perf_counter()
    peak = java = python = 0
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            pinned, stdout=subprocess.DEVNULL, stderr=errors, env=os.environ | (env or {})
        )
        while process.poll() is None:
            sizes = _sizes(process.pid)
            peak = max(peak, sum(sizes.values()))
            of_java = sum(size for (name, _), size in sizes.items() if name == "java")
            java = max(java, of_java)
            python = max(python, sum(sizes.values()) - of_java)
            time.sleep(_SAMPLE_EVERY)
        seconds = time.perf_counter() - start
        if process.returncode:
            errors.seek(0)
            said = errors.read()[-3000:].decode("utf-8", "replace")
            raise RuntimeError(f"{' '.join(command)[:200]} failed: {said}")
    return Run(seconds, peak, java, python)


def _sizes(root: int) -> dict[tuple[str, int], int]:
    """Program and process id → bytes, of a process and all below it."""
    parents: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        name, _, rest = text.partition("(")[2].rpartition(")")
        pid = int(stat.parent.name)
        names[pid] = name
        parents.setdefault(int(rest.split()[1]), []).append(pid)
    found: dict[tuple[str, int], int] = {}
    left = [root]
    while left:
        pid = left.pop()
        left += parents.get(pid, ())
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        pss = next((line for line in rollup.splitlines() if line.startswith("Pss:")), "Pss: 0 kB")
        found[names.get(pid, ""), pid] = int(pss.split()[1]) * 1024
    return found


def pipeline(
    data: Data, out: Path, cores: int, env: dict[str, str] = _PURE, runner: str = "spark"
) -> Run:
    """`kap pipeline` on captures: all six tables."""
    kap = str(Path(sys.executable).with_name("kap"))
    shutil.rmtree(out, ignore_errors=True)
    master = ["--master", f"local[{cores}]"] if runner == "spark" else []
    return timed(
        [kap, "pipeline", str(data.folder), "--out", str(out), "--runner", runner, *master],
        cores, env=env,
    )  # fmt: skip


def one_process(data: Data, env: dict[str, str] = _PURE) -> Run:
    """`kap decode` on the same."""
    kap = str(Path(sys.executable).with_name("kap"))
    files = sorted(map(str, data.folder.iterdir()))
    return timed([kap, "decode", "--output", "jsonl", *files], 1, env=env)


def two_processes(data: Data) -> Run:
    """`kap decode` on each half at once: the most that two cores of this machine give."""
    kap = str(Path(sys.executable).with_name("kap"))
    files = sorted(map(str, data.folder.iterdir()))
    halves = [f"{kap} decode --output jsonl {' '.join(files[at::2])}" for at in (0, 1)]
    script = f"{halves[0]} > /dev/null & {halves[1]} && wait $!"
    return timed(["sh", "-c", script], 2, env=_PURE)


#: Frames alone, each handed to Spark as a row, all columns of it.
_READ_FRAMES = """
import sys
from kafka_admin_proto.spark.frames import read_frames
from kafka_admin_proto.spark.session import spark_session
spark = spark_session("local[" + sys.argv[2] + "]")
read_frames(spark, sys.argv[1]).write.format("noop").mode("overwrite").save()
"""


def frames_alone(data: Data, cores: int) -> Run:
    """`read_frames` on the same."""
    command = [sys.executable, "-c", _READ_FRAMES, str(data.folder), str(cores)]
    return timed(command, cores, env=_PURE)


_TO_JSON, _READING = "tshark -T json", "… and spark.read.json"
#: Reads what tshark wrote, to the end.
_READ_JSON = """
import sys
from kafka_admin_proto.spark.session import spark_session
spark = spark_session("local[" + sys.argv[2] + "]", settings={"spark.driver.memory": "6g"})
spark.read.json(sys.argv[1], multiLine=True).write.format("noop").mode("overwrite").save()
"""


def by_tshark(data: Data, scratch: Path, cores: int, only: str = "") -> tuple[Run, Run, int]:
    """tshark on as many files at once as there are cores, then Spark on its JSON; its bytes.

    ``only`` is the option that says which protocols the JSON has. Spark takes no JSON with a key
    twice in one object, as tshark writes it by itself.
    """
    ports = sorted({port for name in ("kraft", "zk", "sasl") for port in capture(name).ports})
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    as_kafka = " ".join(f"-d tcp.port=={port},kafka" for port in ports)
    to_json = f"tshark -n {as_kafka} -T json --no-duplicate-keys {only}"
    script = (
        f"ls {data.folder} | xargs -P {cores} -I@ "
        f"sh -c '{to_json} -r {data.folder}/@ > {scratch}/@.json'"
    )
    wrote = timed(["sh", "-c", script], cores)
    size = sum(file.stat().st_size for file in scratch.iterdir())
    read = timed([sys.executable, "-c", _READ_JSON, str(scratch), str(cores)], cores)
    shutil.rmtree(scratch)
    return wrote, read, size


def skewed(folder: Path, megabytes: int) -> tuple[Data, Data]:
    """One connection with so many bytes, and the same among small ones with a quarter as many."""
    from tools.benchmarks.large_connection import large_connection

    alone = folder / "alone"
    alone.mkdir()
    frames = large_connection(alone / "large.pcap", megabytes * 1_000_000)
    size = (alone / "large.pcap").stat().st_size
    among = make(folder / "among", megabytes // 4)
    os.link(alone / "large.pcap", among.folder / "large.pcap")
    return (
        Data(alone, size, frames, 1),
        Data(among.folder, among.bytes + size, among.frames + frames, among.connections + 1),
    )


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f}"


def _row(name: str, cores: int, data: Data, run: Run) -> str:
    print(name, cores, data, f"{run.seconds:.1f} s", flush=True)
    return (
        f"| `{name}` | {cores} | {data.bytes / 1e9:.2f} GB | {run.seconds:.1f} "
        f"| {data.frames / run.seconds:,.0f} | {_mb(run.peak)} | {_mb(run.java)} "
        f"| {_mb(run.python)} |\n"
    )


_HEADS = (
    "| program | cores | captures | s | frames/s | MB | Java MB | Python MB |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


def scale(folder: Path, megabytes: int) -> str:
    """One and two cores beside one process, ten times the captures, and tshark on a tenth."""
    import pyspark

    large = make(folder / "large", megabytes)
    small = make(folder / "small", megabytes // 10)
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    text = _HEAD.format(
        file=_FILE, large=large, small=small, spark=pyspark.__version__,
        java=java.split('"')[1], tshark=tshark.version(), every=_SAMPLE_EVERY,
        machine=f"CPython {platform.python_version()}, {os.cpu_count()} × {platform.machine()}",
    )  # fmt: skip
    text += _HEADS
    out = folder / "out"
    two, one = pipeline(large, out, 2), pipeline(large, out, 1)
    alone, frames = one_process(large), frames_alone(large, 2)
    both = two_processes(large)
    text += _row("kap decode", 1, large, alone) + _row("kap decode, twice", 2, large, both)
    text += _row("kap pipeline", 2, large, two)
    text += _row("kap pipeline", 1, large, one) + _row("read_frames", 2, large, frames)
    by_engine = ""
    if _has_engine():
        engine, engine_alone = pipeline(large, out, 2, _ENGINE), one_process(large, _ENGINE)
        text += _row("kap decode, engine", 1, large, engine_alone)
        text += _row("kap pipeline, engine", 2, large, engine)
        by_engine = (
            f" With the compiled engine on both sides it is {_ratio(engine_alone, engine)} ×."
        )
    small_two, small_alone = pipeline(small, out, 2), one_process(small)
    text += _row("kap decode", 1, small, small_alone) + _row("kap pipeline", 2, small, small_two)
    wrote, read, _ = by_tshark(small, folder / "json", 2, "-J kafka")
    text += _row(f"{_TO_JSON} -J kafka", 2, small, wrote) + _row(_READING, 2, small, read)
    return f"""{text}
On the larger captures the pipeline on two cores writes its six tables {_ratio(alone, two)} × as
fast as one process of `kap decode --output jsonl` writes frames; `read_frames`, which hands frames
to Spark alone, is {_ratio(alone, frames)} × as fast, and two cores are {_ratio(one, two)} × as
fast as one. Two processes of `kap decode` side by side, each with half of the captures, are
{_ratio(alone, both)} × as fast as one, which is all that a second core of this machine gives
(above 2, the machine was slower during the single run); the pipeline takes {_ratio(two, both)} ×
their time.{by_engine} Peak memory at ten times the size is {two.peak / small_two.peak:.2f} ×.

Beside tshark with Spark behind it, where tshark leaves out all layers below Kafka's, the pipeline
is {(wrote.seconds + read.seconds) / small_two.seconds:.2f} × as fast on the smaller captures. All
that is compared there is to have the rows.
"""


def _has_engine() -> bool:
    return importlib.util.find_spec("kafka_admin_proto_speed") is not None


def _ratio(slower: Run, faster: Run) -> str:
    return f"{slower.seconds / faster.seconds:.2f}"


def layers(folder: Path, megabytes: int) -> str:
    """Beside what tshark says of all layers, which is what it does unless told otherwise."""
    data = make(folder / "captures", megabytes // 10)
    run = pipeline(data, folder / "out", 2)
    wrote, read, size = by_tshark(data, folder / "json", 2)
    return f"""
## tshark with all layers

{size / data.bytes:.0f} bytes of JSON for each of the captures, {data}:

{_HEADS}{_row("kap pipeline", 2, data, run)}{_row(_TO_JSON, 2, data, wrote)}{
        _row(_READING, 2, data, read)
    }
The pipeline is {(wrote.seconds + read.seconds) / run.seconds:.2f} × as fast.
"""


def skew(folder: Path, megabytes: int) -> str:
    """One large connection, alone and among others."""
    data = skewed(folder, megabytes // 3)
    # By turns: the machine is slower at some times than at others, by more than what is measured.
    runs = [[pipeline(each, folder / "out", 2) for each in data] for _ in range(_SKEW_ROUNDS)]
    alone, among = (min(of_one, key=lambda run: run.seconds) for of_one in zip(*runs, strict=True))
    return f"""
## One large connection

A connection of {data[0]} alone took {alone.seconds:.1f} s and {_mb(alone.peak)} MB; among
{data[1].connections - 1:,} others, with a quarter of its bytes, {among.seconds:.1f} s
({among.seconds / alone.seconds:.2f} ×) and {_mb(among.peak)} MB, on two cores: the faster of
{_SKEW_ROUNDS} runs of each, by turns.
"""


def runners(folder: Path, megabytes: int) -> str:
    """Spark beside processes of this machine, on captures of several sizes."""
    ways = [
        (runner, name, env)
        for name, env in (("", _PURE), (", engine", _ENGINE))[: 1 + _has_engine()]
        for runner in ("spark", "processes")
    ]
    rows, ratios = "", []
    for part in _PARTS_OF_SIZE:
        data = make(folder / str(part), megabytes // part)
        # By turns, as in `skew`.
        runs = [
            [pipeline(data, folder / "out", 2, env, runner) for runner, _, env in ways]
            for _ in range(_RUNNER_ROUNDS)
        ]
        best = [min(of_way, key=lambda run: run.seconds) for of_way in zip(*runs, strict=True)]
        for (runner, name, _), run in zip(ways, best, strict=True):
            rows += _row(f"--runner {runner}{name}", 2, data, run)
        of_pairs = zip(best[::2], best[1::2], strict=True)
        faster = " and ".join(f"{_ratio(spark, processes)} ×" for spark, processes in of_pairs)
        ratios.append(f"{faster} on {data.bytes / 1e6:,.0f} MB")
    return f"""
## With Spark and without

`kap pipeline` by both runners on the same two cores, the faster of {_RUNNER_ROUNDS} runs of each,
by turns:

{_HEADS}{rows}
Without Spark the same tables are made {", ".join(ratios)} as fast{
        ", in plain Python and with the engine" if _has_engine() else ""
    }.
"""


_PARTS = (scale, layers, skew, runners)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    parser.add_argument("--megabytes", type=int, default=2050, help="about how large (2050)")
    parser.add_argument(
        "--part", choices=[each.__name__ for each in _PARTS], help="only that part of the page"
    )
    options = parser.parse_args(arguments)
    texts = dict.fromkeys((each.__name__ for each in _PARTS), "")
    if PAGE.exists():
        texts.update(zip(texts, re.split(r"(?m)^(?=\n## )", PAGE.read_text("utf-8")), strict=False))
    for part in _PARTS:
        if options.part in (None, part.__name__):
            with tempfile.TemporaryDirectory() as folder:
                texts[part.__name__] = part(Path(folder), options.megabytes)
            print(texts[part.__name__])
            if options.write:
                PAGE.write_text("".join(texts.values()), "utf-8")


if __name__ == "__main__":
    main()
