"""``kap serve`` beside a real broker: start, memory, requests per second and their latency.

    python -m tools.benchmarks.server

needs two processors. Each server is started several times, free to use both, until it answers
Metadata with a live broker. Then one of each is kept to the first processor while this process, on
the second, asks them in turn for some seconds in each round (``request_load``). The broker is one
node with the options of the JVM, threads and logs that Kafka ships. Both answer for a while before
figures are taken. With ``--write`` the page goes into ``docs/benchmarks-server.md``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.engine import compiled
from tools.benchmarks.request_load import Load, answer, cpu_s, load, request_frame, resident_bytes
from tools.clusters import HOST, kraft
from tools.kafka_releases import NEWEST

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-server.md"

T = TypeVar("T")

_START_S = 60.0
_KAP = "from kafka_admin_proto.cli import main; main()"
_METADATA, _METADATA_VERSION = MetadataRequest(topics=None), 13
_RETENTION = CreateTopicsRequest.CreatableTopicConfig(name="retention.ms", value="3600000")
#: The requests of the clients, in turn, with their versions. Topics repeat only after a long while.
_REQUESTS: dict[str, tuple[Sequence[Message], int]] = {
    "ApiVersions": ([ApiVersionsRequest("bench", "1")], 4),
    "Metadata": ([_METADATA], _METADATA_VERSION),
    "CreateTopics, validate_only": (
        [
            CreateTopicsRequest(
                [CreateTopicsRequest.CreatableTopic(f"orders-{index:04}", 3, 1, [], [_RETENTION])],
                30_000,
                validate_only=True,
            )
            for index in range(1000)
        ],
        7,
    ),
}


@dataclass
class Server:
    """A process that serves and is ready.

    ``line_s`` are the seconds from its start to the first line of its output, ``ready_s`` those to
    an answer with a live broker, ``cpu_s`` the processor's until then.
    """

    pid: int
    port: int
    line_s: float
    ready_s: float
    cpu_s: float
    resident_bytes: int

    @property
    def address(self) -> tuple[str, int]:
        return HOST, self.port


@dataclass
class Results:
    """Per server its starts and its memory after the load; per request the rounds of each."""

    starts: list[list[Server]] = field(default_factory=list)
    resident_bytes: list[int] = field(default_factory=list)
    rounds: dict[str, list[list[Load]]] = field(default_factory=dict)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each request in a round")
    parser.add_argument("--warm-up", type=float, default=15.0, help="seconds for each request")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--topics", type=int, default=100, help="of three partitions each")
    parser.add_argument("--starts", type=int, default=20, help="of kap serve; Kafka's are a fifth")
    compare(parser, PAGE, arguments, lambda options: page(measure(options), options))


def compare(
    parser: argparse.ArgumentParser,
    path: Path,
    arguments: Sequence[str] | None,
    measured: Callable[[argparse.Namespace], str],
) -> None:
    """Print or write the page of a comparison with a real broker, which needs two processors."""
    parser.add_argument("--alone", action="store_true", help="without the real broker")
    parser.add_argument("--write", action="store_true", help=f"write {path.name}")
    options = parser.parse_args(arguments)
    if options.write and options.alone:
        parser.error("the page compares with the real broker: leave out --alone or --write")
    if len(os.sched_getaffinity(0)) < 2:
        parser.error("two processors are needed: one for the server, one for its clients")
    text = measured(options)
    print(text)
    if options.write:
        path.write_text(text, "utf-8")


def measure(options: argparse.Namespace) -> Results:
    """Start the servers several times, then load one of each in turn."""
    results = Results()
    servers: list[Callable[[], AbstractContextManager[Server]]] = [ours]
    if not options.alone:
        servers.append(real)
    counts = (options.starts, -(-options.starts // 5))
    for start, count in zip(servers, counts, strict=False):
        results.starts.append([])
        for _ in range(count):
            with start() as server:
                results.starts[-1].append(server)
    processors = sorted(os.sched_getaffinity(0))
    with contextlib.ExitStack() as stack:
        stack.callback(pin, processors)
        pin(processors[:1])
        running = [stack.enter_context(start()) for start in servers]
        pin(processors[1:2])
        for server in running:
            new = [NewTopic(f"topic-{index:05}", 3, 1) for index in range(options.topics)]
            create(f"{HOST}:{server.port}", new)
        for title, (requests, version) in _REQUESTS.items():
            frames = [request_frame(each, version) for each in requests]
            sizes = {each.pid: _checked_size(each, frames[0], options.topics) for each in running}

            count = options.clients
            for each in running:
                load(each.address, each.pid, frames, sizes[each.pid], count, options.warm_up)
            results.rounds[title] = [
                [
                    load(each.address, each.pid, frames, sizes[each.pid], count, options.seconds)
                    for each in in_turn(running)
                ]
                for _ in range(options.rounds)
            ]
        results.resident_bytes = [resident_bytes(server.pid) for server in running]
    return results


# The servers.


def ours(*options: str) -> AbstractContextManager[Server]:
    """``kap serve`` in a process of its own, ready; ``options`` are those of its command line."""
    return python_server("-c", _KAP, "serve", "--brokers", "1", *options)


@contextlib.contextmanager
def python_server(*arguments: str) -> Iterator[Server]:
    """A process of Python whose first line of output is its address; ready."""
    begin = time.perf_counter()
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline()
            line_s = time.perf_counter() - begin
            yield _ready(process.pid, int(address.rpartition(":")[2]), begin, line_s)
        finally:
            process.terminate()


@contextlib.contextmanager
def real(properties: Mapping[str, str] | None = None) -> Iterator[Server]:
    """A real broker, which is its own controller, as Kafka ships it but for these; ready."""
    begin = 0.0

    @contextlib.contextmanager
    def begun(ports: list[int]) -> Iterator[None]:
        nonlocal begin
        begin = time.perf_counter()
        yield

    with (
        tempfile.TemporaryDirectory() as folder,
        kraft(Path(folder), properties=properties, around=begun, as_shipped=True) as cluster,
    ):
        line_s, node = time.perf_counter() - begin, cluster.nodes[1]
        assert node.process is not None
        yield _ready(node.process.pid, node.ports["PLAINTEXT"], begin, line_s)


def _ready(pid: int, port: int, begin: float, line_s: float) -> Server:
    """Wait until the server has a live broker. SystemExit where it has none in time."""
    data = request_frame(_METADATA, _METADATA_VERSION)
    while time.perf_counter() - begin < _START_S:
        with contextlib.suppress(OSError):
            body, _ = answer((HOST, port), data)
            if isinstance(body, MetadataResponse) and body.brokers:
                ready_s = time.perf_counter() - begin
                return Server(pid, port, line_s, ready_s, cpu_s(pid), resident_bytes(pid))
        time.sleep(0.01)
    raise SystemExit(f"the server on port {port} has no live broker after {_START_S:.0f} seconds")


def create(bootstrap: str, new: Sequence[NewTopic]) -> None:
    """Create the topics. SystemExit where one is not there at the end."""
    with SyncAdminClient(bootstrap) as admin:
        created = admin.create_topics(new, timeout=600)
    failed = [each for each in created if each.error or not each.complete]
    if failed:
        raise SystemExit(f"{len(failed)} topics were not created, the first: {failed[0]}")


def _checked_size(server: Server, data: bytes, topics: int) -> int:
    """Bytes of the answer to a request. SystemExit where it is not what was asked for."""
    body, size = answer(server.address, data)
    fault: object = getattr(body, "error_code", 0)
    if isinstance(body, MetadataResponse) and len(body.topics) != topics:
        fault = f"{len(body.topics)} topics"
    elif isinstance(body, CreateTopicsResponse):
        fault = body.topics[0].error_code
    if body is None or fault:
        raise SystemExit(f"port {server.port} answered {type(body).__name__} with {fault}")
    return size


def in_turn(running: Sequence[Server]) -> Iterator[Server]:
    """Each server while all others stand still: they share its processor.

    What one compiles or frees behind its answers would be the time of the next one. A broker that
    stands still for its session of nine seconds is fenced.
    """
    for server in running:
        others = [each for each in running if each is not server]
        for each in others:
            os.kill(each.pid, signal.SIGSTOP)
        try:
            yield server
        finally:
            for each in others:
                os.kill(each.pid, signal.SIGCONT)


def pin(processors: Sequence[int]) -> None:
    """Keep this process to those processors, and so what it starts, from any of its threads."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):  # a thread that has ended meanwhile
            os.sched_setaffinity(int(thread), processors)


# The page.

MIB = 1 << 20


class Figure(Generic[T]):
    """A column: how a figure is found and shown, and whether more of it is better."""

    def __init__(
        self, title: str, form: str, get: Callable[[T], float], more: bool | None = False
    ) -> None:
        self.title, self.form, self.get, self.more = title, form, get, more

    def cells(self, rounds: Sequence[Sequence[T]]) -> list[str]:
        """The median of each server, and how many times better the first one is."""
        columns = [[self.get(each) for each in own] for own in rounds]
        found = [self.form.format(statistics.median(each)) for each in columns]
        if self.more is None or len(columns) == 1:
            return [*found, ""]
        one, other = columns if self.more else reversed(columns)
        if len(one) == len(other):  # the rounds were made side by side
            ratio = statistics.median(a / b for a, b in zip(one, other, strict=True))
        else:
            ratio = statistics.median(one) / statistics.median(other)
        return [*found, f"{ratio:.1f} ×"]


_START = (
    Figure[Server]("first line of output", "{:.2f} s", lambda each: each.line_s),
    Figure[Server]("first Metadata with a live broker", "{:.2f} s", lambda each: each.ready_s),
    Figure[Server]("processor time until then", "{:.2f} s", lambda each: each.cpu_s),
    Figure[Server]("memory then", "{:.0f} MiB", lambda each: each.resident_bytes / MIB),
)
_LOAD = (
    Figure[Load]("requests/s", "{:,.0f}", lambda each: each.per_second, True),
    Figure[Load]("per processor second", "{:,.0f}", lambda each: each.per_cpu_second, True),
    Figure[Load]("p50", "{:,.0f} µs", lambda each: each.percentile_us(50)),
    Figure[Load]("p99", "{:,.0f} µs", lambda each: each.percentile_us(99)),
    Figure[Load]("clients busy", "{:.0f} %", lambda each: each.busy_percent, None),
)
_MEMORY = Figure[int]("memory after all requests", "{:.0f} MiB", lambda each: each / MIB)


def page(results: Results, options: argparse.Namespace) -> str:
    """What was measured, in Markdown."""
    flags = (
        f"--rounds {options.rounds} --seconds {options.seconds:g} --warm-up {options.warm_up:g} "
        f"--clients {options.clients} --topics {options.topics} --starts {options.starts}"
    )
    start = [(each.title, each.cells(results.starts)) for each in _START]
    start.append((_MEMORY.title, _MEMORY.cells([[each] for each in results.resident_bytes])))
    requests = [
        (f"{title}: {each.title}", each.cells(list(zip(*rounds, strict=True))))
        for title, rounds in results.rounds.items()
        for each in _LOAD
    ]
    return f"""# A cluster for tests beside a real broker

{head("server", flags)}

## Start and memory

From the start of the process, free to use all processors; Kafka's folder was formatted before, and
its first line is that of its log.

{table(start)}
## Requests

The server has one processor, and {options.clients} clients the other, each with one request on its
way. Metadata is that of {options.topics} topics of three partitions; CreateTopics has one topic of
three partitions with one config. Each was asked for {options.warm_up:g} seconds before, and stands
still while the other one is asked.

{table(requests)}"""


def head(script: str, flags: str) -> str:
    """What a page says of the two servers, of the machine and of how it was made."""
    engine = "without the compiled engine" if compiled is None else "with the compiled engine"
    python = platform.python_version()
    return f"""\
One node of each: `kap serve`, {engine}, and Kafka {NEWEST} with the options of the
JVM, the threads and the logs that it ships with. {os.cpu_count()} processors, CPython {python}.
Medians; the last column is how many times better `kap serve` is. Made by
`python -m tools.benchmarks.{script} {flags} --write`."""


def table(rows: Sequence[tuple[str, list[str]]]) -> str:
    names = ("`kap serve`", f"Kafka {NEWEST}")[: len(rows[0][1]) - 1]
    lines = [f"| | {' | '.join(names)} | |", f"|---|{'--:|' * (len(names) + 1)}"]
    lines += [f"| {title} | {' | '.join(cells)} |" for title, cells in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
