"""This codec beside others: decoding, encoding, memory and start, in one run.

Run as ``make bench``; prints a table and with ``--write`` puts it into ``docs/benchmarks.md``. In
each round every codec has its turn at a workload, so that noise of the machine affects all of them
alike; the medians over the rounds are compared. Only a codec that re-encodes the workload to the
same bytes takes part. The cyclic collector stays on; objects that set-up has left are frozen first.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from kafka_admin_proto import codec
from tools.benchmarks.compared_codecs import OURS, WORKLOADS, Workload, codecs, taking_part
from tools.benchmarks.timing import time_of

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"


# --- measuring --------------------------------------------------------------------------------


class Row(msgspec.Struct):
    """One codec at one workload: seconds a message, one number a round."""

    workload: str
    codec: str
    decode: list[float]
    encode: list[float]
    is_limit: bool


def measure(workload: Workload, rounds: int, seconds: float) -> list[Row]:
    """Each codec in turn, ``rounds`` times, for about ``seconds`` each way."""
    data = workload.data()
    measured = [
        (each, value, Row(workload.name, each.name, [], [], each.is_limit))
        for each, value in taking_part(workload, data)
    ]
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for each, value, row in measured:
            row.decode.append(time_of(each.decode, data, seconds))
            row.encode.append(time_of(each.encode, value, seconds))
    gc.unfreeze()
    return [row for _, _, row in measured]


def memory(decode: Callable[[bytes], Any], data: bytes) -> float:
    """MB that a decoded value keeps in use."""
    decode(data)
    gc.collect()
    tracemalloc.start()
    value = decode(data)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del value
    return used / 1e6


#: Codec → the program of a process that makes one api ready for use.
STARTS = {
    OURS: "from kafka_admin_proto import codec; codec('CreateTopicsRequest', 4)",
    "kafka-python": "from kafka.protocol.admin import CreateTopicsRequest",
    "kio": "from kio.serial import entity_reader; "
    "from kio.schema.create_topics.v4.request import CreateTopicsRequest as c; entity_reader(c)",
    "python alone": "pass",
}
FIRST_USE = """
import time
from kafka_admin_proto import codec
from tools.benchmarks.compared_codecs import OURS, WORKLOADS, Workload, codecs, taking_part
from tools.benchmarks.timing import time_of
import kafka_admin_proto.messages.create_topics_response
codec("CreateTopicsResponse", 0).decode(bytes(4))
start = time.perf_counter()
c = codec({name!r}, {version})
c.encode(c.decode(c.encode(c.value_class())))
print(time.perf_counter() - start)
"""


def start_times(rounds: int) -> dict[str, float]:
    """Milliseconds of a whole process, the median over rounds in which each has its turn."""
    figures: dict[str, list[float]] = {name: [] for name in STARTS}
    for _ in range(rounds):
        for name, program in STARTS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            figures[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) * 1e3 for name, times in figures.items()}


def first_use(name: str, version: int) -> float:
    """Milliseconds from asking for a codec to the end of its first round trip, both ways fused."""
    program = FIRST_USE.format(name=name, version=version)
    figures = []
    for _ in range(5):
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        figures.append(float(done.stdout))
    return statistics.median(figures) * 1e3


def scaling() -> list[tuple[int, float, float]]:
    """Topics in a CreateTopics request → ns a topic, decoding and encoding."""
    mine = codec("CreateTopicsRequest", 7)
    whole = mine.decode(WORKLOADS[1].data())
    rows = []
    for count in (10, 100, 1000, 10_000, 100_000):
        topics = (whole.topics * (count // len(whole.topics) + 1))[:count]
        value = msgspec.structs.replace(whole, topics=topics)
        data = mine.encode(value)
        gc.collect()
        gc.freeze()
        decoding, encoding = time_of(mine.decode, data, 0.5), time_of(mine.encode, value, 0.5)
        rows.append((count, decoding / count * 1e9, encoding / count * 1e9))
        gc.unfreeze()
    return rows


# --- the page ---------------------------------------------------------------------------------


def table(rows: list[Row]) -> str:
    """A line for each workload and codec: medians, and how many times ours is as fast."""
    lines = ["| workload | codec | decode µs | ours is | encode µs | ours is |"]
    lines.append("|---|---|---:|---:|---:|---:|")
    ours = {row.workload: row for row in rows if row.codec == OURS}
    for row in rows:
        mine = ours[row.workload]
        cells = [row.workload, row.codec + " (its own bytes)" * row.is_limit]
        for figures, base in ((row.decode, mine.decode), (row.encode, mine.encode)):
            median = statistics.median(figures)
            ratio = median / statistics.median(base)
            cells += [f"{median * 1e6:,.2f}", "" if row is mine else f"{ratio:.2f}×"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def page(parts: dict[str, str]) -> str:
    """``docs/benchmarks.md``."""
    return f"""# Benchmarks

Written by `make bench` on {platform.python_implementation()} {platform.python_version()}; times are
of the machine that ran it, the ratios are what counts. Medians over rounds in which each codec has
its turn; bodies only, no frame and no header. "ours is 3×" means three times as fast as that codec.

{parts["table"]}

`msgspec.msgpack` is C and writes bytes of its own for the same tree: the limit to aim at.

## Memory of a decoded Metadata v12
{parts["memory"]}

## Zero-copy
{parts["views"]}

## Start
{parts["start"]}

## Time for each topic of CreateTopics v7
{parts["scaling"]}

## What is short, and what was tried
The aims were decoding at 0.65 of the speed of kio's Rust on CreateTopics and encoding at 8 times
kio's. What remains of decoding are calls that CPython needs for each field: one `unpack_from` for
each run of fixed fields and each array, a slice and a `decode` for each string, a call for each
value. Reading an array with the count of the one before it in one call with its neighbours was
tried and left out: nothing on CreateTopics, a fifth slower on Metadata. Kept were: pausing the
cyclic collector while a large message is read (a tenth on CreateTopics, a seventh on Metadata, and
nearly flat to 100,000 topics), lengths below 256 without `struct`, and packing lists together with
what stands around them (a third of encoding Metadata).
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="a codec, round and direction")
    parser.add_argument("--write", action="store_true", help=f"the page to docs/{PAGE.name}")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for workload in WORKLOADS:
        rows += measure(workload, arguments.rounds, arguments.seconds)
        print(table([row for row in rows if row.workload == workload.name]), flush=True)
    metadata = WORKLOADS[2]
    data = metadata.data()
    used = {each.name: memory(each.decode, data) for each in codecs(metadata, data)}
    fetch = WORKLOADS[-1]
    mine, fetched = codec(fetch.message, fetch.version), fetch.data()
    views = time_of(partial(mine.decode, zero_copy=True), fetched, 0.5)
    copies = time_of(mine.decode, fetched, 0.5)
    starts = start_times(arguments.rounds)
    uses = {f"{n} v{v}": first_use(n, v) for n, v in
            (("CreateTopicsRequest", 4), ("ShareFetchResponse", 1), ("FetchResponse", 17),
             ("StreamsGroupDescribeResponse", 0))}  # fmt: skip
    scaled = "\n".join(f"| {n:,} | {d:.0f} | {e:.0f} |" for n, d, e in scaling())
    parts = {
        "table": table(rows),
        "memory": "\n".join(f"- {name}: {mb:.2f} MB" for name, mb in used.items()),
        "views": f"{fetch.name}, {len(fetched):,} bytes: {views * 1e6:.1f} µs with "
        f"`zero_copy=True`, {copies * 1e6:.1f} µs with one copy.",
        "start": "Whole process with one api at hand: "
        + ", ".join(f"{name} {ms:.0f} ms" for name, ms in starts.items())
        + ".\nFirst use of a codec, both directions: "
        + ", ".join(f"{name} {ms:.1f} ms" for name, ms in uses.items())
        + ".",
        "scaling": f"| topics | decode ns | encode ns |\n|---:|---:|---:|\n{scaled}",
    }
    for part in list(parts.values())[1:]:
        print(part)
    if arguments.write:
        PAGE.write_text(page(parts), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
