"""Records and groups of ``kap serve`` beside a real broker: produce, consume, commit, rebalance.

    python -m tools.benchmarks.records

needs two processors and takes about two minutes. One node of each server is kept to the first
processor; its clients have the second one (``record_load``). Rounds go from one server to the
other. Both do everything for a while before figures are taken. With ``--write`` the page goes into
``docs/benchmarks-records.md``. ``KAFKA_ADMIN_PROTO_PURE=1`` measures without the compiled engine.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kafka_admin_proto.admin import NewTopic
from kafka_admin_proto.server import SyncCluster
from tools.benchmarks.bare_server import TOPIC
from tools.benchmarks.record_load import (
    BATCH_RECORDS,
    RECORD_BYTES,
    Group,
    Work,
    commit_frames,
    consume,
    peak_resident_bytes,
    produce,
    single_latencies_ms,
    until_answered,
)
from tools.benchmarks.request_load import Load, load
from tools.benchmarks.server import (
    MIB,
    Figure,
    Server,
    compare,
    create,
    head,
    in_turn,
    ours,
    pin,
    python_server,
    real,
    table,
)

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-records.md"

#: A group of many members begins when all have come.
_GROUPS = {"group.initial.rebalance.delay.ms": "1000"}
#: Retention follows closely what is produced.
_RETENTION = {"log.initial.task.delay.ms": "10", "log.retention.check.interval.ms": "10"}
_KEPT_MB, _SEGMENT_MB = 100, 2
_SHORT: dict[str, str | None] = {
    "retention.bytes": str(_KEPT_MB * 10**6),
    "segment.bytes": str(_SEGMENT_MB * 10**6),
}
_TOPICS: dict[str, dict[str, str | None]] = {
    "records": {},
    TOPIC: {},
    "committed": {},
    "short": _SHORT,
}
_STARTS = 7
_WARM_UP_ROUNDS = 2


@dataclass
class Results:
    """Per kind of work its rounds, each with the figures of both servers."""

    produced: list[list[Work]] = field(default_factory=list)
    consumed: list[list[Work]] = field(default_factory=list)
    single_ms: list[list[list[float]]] = field(default_factory=list)
    #: The same with a server that does nothing: one of each round.
    bare_ms: list[list[float]] = field(default_factory=list)
    commits: list[list[Load]] = field(default_factory=list)
    rebalances: list[list[Work]] = field(default_factory=list)
    peak_bytes: list[int] = field(default_factory=list)
    start_ms: list[float] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mb", type=float, default=120, help="produced and consumed in a round")
    parser.add_argument("--seconds", type=float, default=1.5, help="of requests in a round")
    parser.add_argument("--members", type=int, default=50, help="of the group")
    parser.add_argument("--retained-mb", type=float, default=1000, help="produced under retention")
    compare(parser, PAGE, arguments, lambda options: page(measure(options), options))


def measure(options: argparse.Namespace) -> Results:
    """Start one of each server, and do the same to both in turn."""
    results = Results()
    results.start_ms = [_start_ms() for _ in range(_STARTS)]
    processors = sorted(os.sched_getaffinity(0))
    with contextlib.ExitStack() as stack:
        stack.callback(pin, processors)
        pin(processors[:1])
        running = [stack.enter_context(new) for new in _servers(_GROUPS, options)]
        bare = stack.enter_context(python_server("-m", "tools.benchmarks.bare_server"))
        pin(processors[1:2])
        for server in running:
            _create(server)
        frames = commit_frames("committed")
        sizes = {each.port: until_answered(each, frames[0]) for each in running}
        groups = {
            each.port: stack.enter_context(contextlib.closing(Group(each, "many", options.members)))
            for each in running
        }
        for number in range(-_WARM_UP_ROUNDS, options.rounds):
            rounds = results if number >= 0 else Results()
            mb, seconds = options.mb, options.seconds
            turns = partial(in_turn, running)
            rounds.produced.append([produce(each, "records", mb) for each in turns()])
            rounds.consumed.append([consume(each, "records", mb) for each in turns()])
            *single_ms, bare_ms = [
                single_latencies_ms(each, TOPIC, seconds) for each in in_turn([*running, bare])
            ]
            rounds.single_ms.append(single_ms)
            rounds.bare_ms.append(bare_ms)
            rounds.commits.append(
                [
                    load(each.address, each.pid, frames, sizes[each.port], 8, seconds)
                    for each in turns()
                ]
            )
            of_each = [[groups[each.port].rebalance() for _ in range(10)] for each in turns()]
            rounds.rebalances += map(list, zip(*of_each, strict=True))
    for new in _servers(_RETENTION, options):
        with contextlib.ExitStack() as stack:
            stack.callback(pin, processors)
            pin(processors[:1])
            server = stack.enter_context(new)
            pin(processors[1:2])
            _create(server)
            with peak_resident_bytes(server) as peak:
                produce(server, "short", options.retained_mb)
            results.peak_bytes.append(*peak)
    return results


def _servers(
    properties: Mapping[str, str], options: argparse.Namespace
) -> list[AbstractContextManager[Server]]:
    configs = [part for each in properties.items() for part in ("--config", "=".join(each))]
    return [ours(*configs)] if options.alone else [ours(*configs), real(properties)]


def _start_ms() -> float:
    begin = time.perf_counter()
    with SyncCluster():
        return (time.perf_counter() - begin) * 1e3


def _create(server: Server) -> None:
    new = [NewTopic(name, 1, 1, configs=configs) for name, configs in _TOPICS.items()]
    create(f"{server.address[0]}:{server.port}", new)


# The page.


def _percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[-(-len(values) * percent // 100) - 1]


_MB_S = (
    Figure[Work]("MB/s", "{:,.0f}", lambda each: each.per_second, True),
    Figure[Work]("MB per processor second", "{:,.0f}", lambda each: each.per_cpu_second, True),
)
_SINGLE = (
    Figure[list[float]]("p50", "{:.2f} ms", lambda each: _percentile(each, 50)),
    Figure[list[float]]("p99", "{:.2f} ms", lambda each: _percentile(each, 99)),
)
_COMMITS = (
    Figure[Load]("requests/s", "{:,.0f}", lambda each: each.per_second, True),
    Figure[Load]("per processor second", "{:,.0f}", lambda each: each.per_cpu_second, True),
    Figure[Load]("p99", "{:,.0f} µs", lambda each: each.percentile_us(99)),
)
_REBALANCE = Figure[Work]("rebalance", "{:.1f} ms", lambda each: each.seconds * 1e3)
_PEAK = Figure[int]("most memory", "{:.0f} MiB", lambda each: each / MIB)


def page(results: Results, options: argparse.Namespace) -> str:
    """What was measured, in Markdown."""
    flags = (
        f"--rounds {options.rounds} --mb {options.mb:g} --seconds {options.seconds:g} "
        f"--members {options.members} --retained-mb {options.retained_mb:g}"
    )
    kinds = (
        ("produced", _MB_S, results.produced),
        ("consumed", _MB_S, results.consumed),
        ("a single record, acks=all", _SINGLE, results.single_ms),
        ("commits of an offset", _COMMITS, results.commits),
        (f"{options.members} members", (_REBALANCE,), results.rebalances),
    )
    rows = [
        (f"{title}: {figure.title}", figure.cells(list(zip(*rounds, strict=True))))
        for title, figures, rounds in kinds
        for figure in figures
    ]
    bare = [figure.cells([results.bare_ms])[0] for figure in _SINGLE]
    peaks = [[each] for each in results.peak_bytes]
    rows.append((f"{options.retained_mb:g} MB produced: {_PEAK.title}", _PEAK.cells(peaks)))
    return f"""# Records and groups beside a real broker

{head("records", flags)}

The server has one processor, its clients the other; the other server stands still meanwhile.
librdkafka produces batches of {BATCH_RECORDS} records of {RECORD_BYTES} bytes with acks=all, and
consumes them; then it produces single records. Eight raw clients commit offsets. In a rebalance the
leader of a group joins again, all others hear of it in a heartbeat, and each gets its assignment.
The memory is that of a new server with retention.bytes of {_KEPT_MB} MB in segments of
{_SEGMENT_MB} MB, checked a hundred times a second: the log has these bytes, a segment more at most,
and what came since the last check.

{table(rows)}
Of a single record's time {bare[0]} (p50) and {bare[1]} (p99) are librdkafka's, the sockets' and
asyncio's, less than which no server on asyncio can take: so long it takes, in the same rounds, with
one that answers every Produce with the same bytes (`tools/benchmarks/bare_server.py`).

An in-process cluster of one node starts in {statistics.median(results.start_ms):.1f} ms.
"""


if __name__ == "__main__":
    main()
