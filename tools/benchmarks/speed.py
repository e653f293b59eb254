"""The compiled engine beside the fused code and other codecs, in one run.

Run as ``make bench-speed``; prints a table and with ``--write`` puts it into
``docs/benchmarks-speed.md``. As in ``tools.benchmarks.codecs`` every codec has its turn in each
round; what counts are the ratios of the medians over the rounds.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kafka_admin_proto.codec import Codec as MessageCodec
from kafka_admin_proto.codec import codec, message_codec
from tools.benchmarks import decode
from tools.benchmarks.compared_codecs import OURS, WORKLOADS, Workload, taking_part
from tools.benchmarks.timing import time_of

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-speed.md"
ENGINE, FUSED = "engine", "fused code"
#: What is measured of a codec: the name, what is called, and with what.
Calls = dict[str, tuple[Callable[[Any], Any], Any]]


def pure(found: MessageCodec[Any]) -> MessageCodec[Any]:
    """The same codec without the engine."""
    with patch.object(message_codec, "compiled_engine", return_value=None):
        return MessageCodec(found.spec, found.version)


def calls(workload: Workload) -> dict[str, Calls]:
    """By codec: "decode", "encode" and, of ours, "json": bytes to masked JSON text."""
    data = workload.data()
    compiled = codec(workload.message, workload.version)
    if compiled.backend != "compiled":
        raise SystemExit("the compiled engine is not in use; `make bench-speed` builds it")
    found = {ENGINE: ours(compiled, data), FUSED: ours(pure(compiled), data)}
    for each, value in taking_part(workload, data):
        if each.name != OURS:
            found[each.name] = {"decode": (each.decode, data), "encode": (each.encode, value)}
    return found


def ours(found: MessageCodec[Any], data: bytes) -> Calls:
    value = found.decode(data)
    if found.encode(value) != data:
        raise SystemExit(f"{found!r} does not give its bytes again")
    return {
        "decode": (found.decode, data),
        "encode": (found.encode, value),
        "json": (partial(found.decode_to_json_text, mask=True), data),
    }


def measure(calls: dict[str, Calls], rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    """Medians in seconds, by codec and by what is measured."""
    figures: dict[tuple[str, str], list[float]] = {}
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, each in calls.items():
            for what, (call, argument) in each.items():
                figures.setdefault((name, what), []).append(time_of(call, argument, seconds))
    gc.unfreeze()
    medians: dict[str, dict[str, float]] = {}
    for (name, what), times in figures.items():
        medians.setdefault(name, {})[what] = statistics.median(times)
    return medians


def rows(workload: str, medians: dict[str, dict[str, float]]) -> Iterator[str]:
    """A line for each codec: µs, and how many times as fast the engine is."""
    for name, times in medians.items():
        cells = [workload, name]
        for what in ("decode", "encode", "json"):
            if what not in times:
                cells += ["", ""]
                continue
            ratio = times[what] / medians[ENGINE][what]
            cells += [f"{times[what] * 1e6:,.2f}", "" if name == ENGINE else f"{ratio:.2f}×"]
        yield f"| {' | '.join(cells)} |"


HEAD = """| workload | codec | decode µs | engine is | encode µs | engine is | JSON µs | engine is |
|---|---|---:|---:|---:|---:|---:|---:|"""


def page(table: str) -> str:
    """``docs/benchmarks-speed.md``."""
    return f"""# The compiled engine

Written by `make bench-speed` on {platform.python_implementation()} {platform.python_version()};
times are of the machine that ran it, the ratios are what counts. Medians over rounds in which each
codec has its turn; "engine is 5×" means five times as fast as that codec. "engine" and "fused code"
are this package with and without `kafka-admin-proto-speed`, through `Codec.decode`, `Codec.encode`
and `Codec.decode_to_json_text(data, mask=True)`: JSON is bytes to text, with secrets masked.

{table}

`msgspec.msgpack` is C and writes bytes of its own for the same tree.

## What is short
Produce and Fetch carry a few large blobs: what is left of them is one copy of those bytes, for
every codec, and base64 of them in JSON. `zero_copy=True` and `records="size"` do without. The JSON
of a body of 25 bytes is mostly the call and the buffer that is made for it.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.1, help="a codec, round and direction")
    parser.add_argument("--only", default="", help="workloads whose name has this in it")
    parser.add_argument("--write", action="store_true", help=f"the page to docs/{PAGE.name}")
    arguments = parser.parse_args()
    lines = [HEAD]
    print(HEAD)
    for workload in WORKLOADS:
        if arguments.only in workload.name:
            found = measure(calls(workload), arguments.rounds, arguments.seconds)
            lines += rows(workload.name, found)
            print("\n".join(rows(workload.name, found)), flush=True)
    if arguments.write:
        PAGE.write_text(page("\n".join(lines)) + decode.written_section(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
