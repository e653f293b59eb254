"""This codec beside others: decoding, encoding, memory and start, in one run.

Run as ``make bench``; prints a table and with ``--write`` puts it into ``docs/benchmarks.md``. In
each round every codec has its turn at a workload, so that noise of the machine meets all alike;
what is compared are the medians over the rounds. Only a codec that re-encodes the workload to its
very bytes takes part. The cyclic collector stays on; what set-up has left behind is frozen first.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import importlib
import platform
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec

from kafka_admin_proto import codec

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "benchmarks.md"
OURS = "kafka_admin_proto"


class Workload(msgspec.Struct, frozen=True):
    """One file of ``workloads/``: a message at a version, and where the others keep its class."""

    message: str
    version: int
    kafka_python: str = ""
    kio: str = ""
    aiokafka: str = ""

    @property
    def name(self) -> str:
        return f"{self.message} v{self.version}"

    def data(self) -> bytes:
        stem = "".join(f"_{c.lower()}" if c.isupper() else c for c in self.message).strip("_")
        return gzip.decompress((HERE / "workloads" / f"{stem}_v{self.version}.bin.gz").read_bytes())


WORKLOADS = (
    Workload("CreateTopicsRequest", 4, "kafka.protocol.admin", "create_topics.v4.request",
             "CreateTopicsRequest_v3"),  # laid out as v4
    Workload("CreateTopicsRequest", 7, "kafka.protocol.admin", "create_topics.v7.request"),
    Workload("MetadataResponse", 12, "kafka.protocol.metadata", "metadata.v12.response"),
    Workload("UpdateMetadataRequest", 7),
    Workload("MetadataRequest", 12, "kafka.protocol.metadata", "metadata.v12.request"),
    Workload("ApiVersionsRequest", 3, "kafka.protocol.metadata", "api_versions.v3.request"),
    Workload("VoteRequest", 0, "", "vote.v0.request"),
    Workload("ProduceRequest", 9, "kafka.protocol.producer", "produce.v9.request"),
    Workload("FetchResponse", 13, "kafka.protocol.consumer", "fetch.v13.response"),
)  # fmt: skip


class Codec(msgspec.Struct, frozen=True):
    """How one library decodes and encodes one message."""

    name: str
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]
    #: A limit to aim at: it handles the same tree in bytes of its own.
    is_limit: bool = False


def codecs(workload: Workload, data: bytes) -> list[Codec]:
    """Every codec that has the message; ours first."""
    mine = codec(workload.message, workload.version)
    found = [Codec(OURS, mine.decode, mine.encode)]
    if workload.kafka_python:
        class_ = getattr(importlib.import_module(workload.kafka_python), workload.message)
        version = workload.version
        found.append(
            Codec("kafka-python", lambda b: class_.decode(b, version=version), lambda v: v.encode())
        )
    if workload.kio:
        found.append(_kio(workload))
    if workload.aiokafka:
        struct = getattr(importlib.import_module("aiokafka.protocol.admin"), workload.aiokafka)
        found.append(Codec("aiokafka", struct.decode, lambda v: v.encode()))
    if workload.name == "CreateTopicsRequest v4":
        interpreted = create_topics_v4()
        compiled = interpreted.compile()
        found.append(Codec("construct", interpreted.parse, interpreted.build))
        found.append(Codec("construct compiled", compiled.parse, compiled.build))
    if len(data) < 1 << 20:  # beyond that it is one copy of opaque bytes
        found.append(_msgpack(mine.decode(data)))
    return found


def _kio(workload: Workload) -> Codec:
    from kio.serial import entity_reader, entity_writer

    entity = getattr(importlib.import_module(f"kio.schema.{workload.kio}"), workload.message)
    read, write = entity_reader(entity), entity_writer(entity)

    def encode(value: Any) -> bytes:
        buffer = BytesIO()
        write(buffer, value)
        return buffer.getvalue()

    return Codec("kio", lambda b: read(b, 0)[0], encode)


def create_topics_v4() -> Any:
    """The message as one would write it in construct by hand."""
    c: Any = importlib.import_module("construct")
    name = c.PascalString(c.Int16ub, "utf8")
    text = c.StringEncoded(c.Bytes(c.this.size), "utf8")
    value = c.Struct("size" / c.Int16sb, "text" / c.If(c.this.size >= 0, text))
    config = c.Struct("name" / name, "value" / value)
    brokers = c.PrefixedArray(c.Int32sb, c.Int32sb)
    assignment = c.Struct("partition" / c.Int32sb, "brokers" / brokers)
    topic = c.Struct(
        "name" / name,
        "partitions" / c.Int32sb,
        "replication_factor" / c.Int16sb,
        "assignments" / c.PrefixedArray(c.Int32sb, assignment),
        "configs" / c.PrefixedArray(c.Int32sb, config),
    )
    topics = c.PrefixedArray(c.Int32sb, topic)
    return c.Struct("topics" / topics, "timeout_ms" / c.Int32sb, "validate_only" / c.Flag)


def _msgpack(value: Any) -> Codec:
    """msgspec's own format for the same tree, as arrays: what C does with such values."""
    shadow = _shadow(value)
    packed = msgspec.msgpack.encode(shadow)
    decoder = msgspec.msgpack.Decoder(type(shadow))
    encoder = msgspec.msgpack.Encoder()
    return Codec(
        "msgspec.msgpack",
        lambda data: decoder.decode(packed),
        lambda decoded: encoder.encode(shadow),
        is_limit=True,
    )


def _shadow(value: Any) -> Any:
    """The same tree of structs that are arrays in msgpack, a UUID being its bytes."""
    if isinstance(value, list):
        return [_shadow(item) for item in value]
    if isinstance(value, UUID):
        return value.bytes
    if not isinstance(value, msgspec.Struct):
        return value
    return _shadow_class(type(value))(*(_shadow(getattr(value, n)) for n in _fields(value)))


@cache
def _shadow_class(of: type[Any]) -> type[Any]:
    hints = get_type_hints(of)
    fields = [(name, _shadow_type(hints[name])) for name in _fields(of)]
    return msgspec.defstruct(of.__name__, fields, array_like=True, gc=False)


def _shadow_type(hint: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _shadow_class(hint)
    if hint is UUID:
        return bytes
    if get_origin(hint) is list:
        return list[_shadow_type(get_args(hint)[0])]  # type: ignore[misc]  # made at run time
    if get_origin(hint) is UnionType:
        return _shadow_type(get_args(hint)[0]) | None
    return hint


def _fields(of: Any) -> list[str]:
    return [name for name in of.__struct_fields__ if name != "unknown_tagged_fields"]


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
    taking_part = []
    for each in codecs(workload, data):
        value = each.decode(data)
        if not each.is_limit and each.encode(value) != data:
            raise SystemExit(f"{each.name} does not give {workload.name}'s bytes again")
        taking_part.append((each, value, Row(workload.name, each.name, [], [], each.is_limit)))
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for each, value, row in taking_part:
            row.decode.append(_time(lambda each=each: each.decode(data), seconds))  # type: ignore[misc]
            row.encode.append(
                _time(lambda each=each, value=value: each.encode(value), seconds)  # type: ignore[misc]
            )
    gc.unfreeze()
    return [row for _, _, row in taking_part]


def _time(call: Callable[[], Any], seconds: float) -> float:
    """Seconds of one call: the median of batches that are long enough for the clock."""
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-7)
    batch = max(1, int(2e-3 / once))
    figures: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(figures) < 3:
        start = time.perf_counter()
        for _ in range(batch):
            call()
        figures.append((time.perf_counter() - start) / batch)
    return statistics.median(figures)


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


#: What a process runs to have one api at hand, by codec.
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
        rows.append((count, _time(lambda data=data: mine.decode(data), 0.5) / count * 1e9,  # type: ignore[misc]
                     _time(lambda value=value: mine.encode(value), 0.5) / count * 1e9))  # type: ignore[misc]  # fmt: skip
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
    views = _time(lambda: mine.decode(fetched, zero_copy=True), 0.5)
    copies = _time(lambda: mine.decode(fetched), 0.5)
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
