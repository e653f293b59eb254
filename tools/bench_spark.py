"""The pipeline beside one process and beside tshark with Spark: seconds and memory, in one run.

Run as ``python -m tools.bench_spark``; prints tables, and with ``--write`` puts them into
``docs/benchmarks-spark.md``. The captures are those of real brokers (`tools/captures.py`), repeated
with other addresses and later times into many files, as rotation makes them. Every program and all
that it starts is pinned to its cores by ``taskset``; memory is that of the whole tree of processes.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tools import tshark
from tools.captures import capture
from tools.repeated import repeated, size_of

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks-spark.md"
#: Megabytes of one file.
_FILE = 16
_SAMPLE_EVERY = 0.2
#: Runs with and without others around a large connection.
_ROUNDS = 2

_HEAD = """\
# The pipeline on Spark

`python -m tools.bench_spark --write` wrote this page, in one run. The captures are those of
`tools/captures.py`, repeated with other addresses and later times into files of about {file} MB:
{large}, and a tenth of them: {small}.
{machine}; Spark {spark}, Java {java}, tshark {tshark}.
Seconds are wall time with the start of Spark. Peak memory is the sum over the whole tree of
processes of what each has to itself (`Pss`), sampled every {every} s; of the pipeline also that of
the JVM (driver and executors in one) and of all Python processes.

"""


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


def pipeline(data: Data, out: Path, cores: int) -> Run:
    """`kap pipeline` on captures."""
    kap = str(Path(sys.executable).with_name("kap"))
    shutil.rmtree(out, ignore_errors=True)
    return timed(
        [kap, "pipeline", str(data.folder), "--out", str(out), "--master", f"local[{cores}]"], cores
    )


def one_process(data: Data) -> Run:
    """`kap decode` on the same."""
    kap = str(Path(sys.executable).with_name("kap"))
    files = sorted(map(str, data.folder.iterdir()))
    return timed([kap, "decode", "--output", "jsonl", *files], 1)


#: What is compared: the JSON of all layers, and that of Kafka's alone.
_ALL_LAYERS, _KAFKA_ALONE = "tshark -T json", "tshark -T json -J kafka"
#: Reads what tshark wrote, to the end.
_READ_JSON = """
import sys
from kafka_admin_proto.spark.session import spark_session
spark = spark_session("local[" + sys.argv[2] + "]", settings={"spark.driver.memory": "6g"})
spark.read.json(sys.argv[1], multiLine=True).write.format("noop").mode("overwrite").save()
"""


def by_tshark(
    data: Data, ports: Sequence[int], scratch: Path, cores: int, layers: str
) -> tuple[Run, Run, int]:
    """tshark on as many files at once as there are cores, then Spark on its JSON; its bytes.

    ``layers`` is the option that says which protocols the JSON has, all without it. Spark takes no
    JSON with a key twice in one object, as tshark writes it by itself.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    as_kafka = " ".join(f"-d tcp.port=={port},kafka" for port in ports)
    to_json = f"tshark -n {as_kafka} -T json --no-duplicate-keys {layers}"
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
    from tools.large_connection import large_connection

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


def measure(folder: Path, megabytes: int) -> str:
    """All of the page."""
    import pyspark

    large = make(folder / "large", megabytes)
    small = make(folder / "small", megabytes // 10)
    ports = sorted({port for name in ("kraft", "zk", "sasl") for port in capture(name).ports})
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    text = _HEAD.format(
        file=_FILE, large=large, small=small, spark=pyspark.__version__,
        java=java.split('"')[1], tshark=tshark.version(), every=_SAMPLE_EVERY,
        machine=f"CPython {platform.python_version()}, {os.cpu_count()} × {platform.machine()}",
    )  # fmt: skip
    text += "| program | cores | captures | s | frames/s | MB | Java MB | Python MB |\n"
    text += "|---|---|---|---|---|---|---|---|\n"
    seconds: dict[tuple[str, int, bool], float] = {}
    peaks: dict[tuple[str, int, bool], int] = {}
    sizes: dict[str, int] = {}
    for data in (small, large):
        cases = [("kap pipeline", 2), ("kap pipeline", 1), ("kap decode", 1), (_KAFKA_ALONE, 2)]
        if data is small:
            cases.append((_ALL_LAYERS, 2))
        for name, cores in cases:
            after = None
            if name == "kap pipeline":
                run = pipeline(data, folder / "out", cores)
            elif name == "kap decode":
                run = one_process(data)
            else:
                layers = name.partition("json")[2]
                run, after, sizes[name] = by_tshark(data, ports, folder / "json", cores, layers)
            for title, each in ((name, run), ("… and spark.read.json", after)):
                if each is None:
                    continue
                print(title, cores, data, f"{each.seconds:.1f} s", flush=True)
                text += (
                    f"| `{title}` | {cores} | {data.bytes / 1e9:.2f} GB | {each.seconds:.1f} "
                    f"| {data.frames / each.seconds:,.0f} | {_mb(each.peak)} | {_mb(each.java)} "
                    f"| {_mb(each.python)} |\n"
                )
            key = name, cores, data is large
            seconds[key] = run.seconds + (after.seconds if after else 0)
            peaks[key] = run.peak
    two, one = seconds["kap pipeline", 2, True], seconds["kap pipeline", 1, True]
    few = seconds["kap pipeline", 2, False]
    text += f"""
Beside tshark with Spark behind it, on two cores, the pipeline is
{seconds[_ALL_LAYERS, 2, False] / few:.2f} × as fast on the smaller captures with `{_ALL_LAYERS}`
({sizes[_ALL_LAYERS] / small.bytes:.0f} bytes of JSON for each of the captures, which is why the
larger ones are left out), and with `{_KAFKA_ALONE}`, which leaves out all layers below Kafka's,
{seconds[_KAFKA_ALONE, 2, False] / few:.2f} × on the smaller and
{seconds[_KAFKA_ALONE, 2, True] / two:.2f} × on the larger ones. tshark's rows are all that is
compared there: the pipeline writes six tables.
On the larger captures it is {seconds["kap decode", 1, True] / two:.2f} × as fast as one process
that writes JSON lines; two cores are {one / two:.2f} × as fast as one.
Peak memory at ten times the size is
{peaks["kap pipeline", 2, True] / peaks["kap pipeline", 2, False]:.2f} × on two cores.
"""
    alone, among = skewed(folder, megabytes // 10)
    rounds = [
        [pipeline(data, folder / "out", 2) for data in (alone, among)] for _ in range(_ROUNDS)
    ]
    runs = [min(each, key=lambda run: run.seconds) for each in zip(*rounds, strict=True)]
    text += f"""
## One large connection

A connection of {alone} alone took {runs[0].seconds:.1f} s and {_mb(runs[0].peak)} MB; among
{among.connections - 1:,} others, with a quarter of its bytes, {runs[1].seconds:.1f} s
({runs[1].seconds / runs[0].seconds:.2f} ×) and {_mb(runs[1].peak)} MB; the better of
{_ROUNDS} runs each, on two cores.
"""
    return text


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    parser.add_argument("--megabytes", type=int, default=2050, help="about how large (2050)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        text = measure(Path(folder), options.megabytes)
    print(text)
    if options.write:
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
