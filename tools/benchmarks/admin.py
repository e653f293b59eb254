"""The admin client beside kafka-python's: from the start of a process to its answer.

    python -m tools.benchmarks.admin

has each client list and describe all topics, in turn, each time in a new process. The table has the
medians and the peak of each process's memory. A broker in this process answers from memory, so that
only the clients are measured; with ``--real`` three brokers of Kafka answer, and first get the
topics. With ``--write`` the table goes into ``docs/benchmarks-admin.md``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import socketserver
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_admin_proto.admin import NewTopic
from kafka_admin_proto.messages import (
    ApiVersionsResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol import FrameReader, Request, frame, read_request, write_response
from kafka_admin_proto.topic_ids import random_topic_id
from kafka_admin_proto.values import Message
from tools.benchmarks.server import create
from tools.clusters import HOST, kraft

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-admin.md"

#: What each script prints at its end: the number of topics, and its peak memory in kB. The kernel's
#: rusage would include the memory of this process, from which the new one was forked.
_END = """
with open("/proc/self/status") as status:
    print(count, next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""
_OURS = """
from kafka_admin_proto.admin import SyncAdminClient
with SyncAdminClient({bootstrap!r}) as admin:
    count = len({call})
"""
_KAFKA_PYTHON = """
import warnings
warnings.simplefilter("ignore")
from kafka import KafkaAdminClient
admin = KafkaAdminClient(bootstrap_servers={bootstrap!r})
count = len({call})
admin.close()
"""
_CLIENTS = ("kafka_admin_proto", "kafka-python")
#: The calls that both clients make.
_CALLS = ("admin.list_topics()", "admin.describe_topics()")
#: Api key → versions that the broker in memory has: ApiVersions, Metadata, DescribeTopicPartitions.
_APIS = {18: (0, 4), 3: (0, 13), 75: (0, 0)}
#: For what this run does not measure: `--topics 10` shows it.
_FEW_TOPICS = """
With few topics the time is that of the imports, and kafka-python starts faster: `AdminClient` loads
all families of operations. A program that lists or describes topics and no more can do with a class
of `DescribeTopics` and `BaseClient`, which loads a third less.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--topics", type=int, default=10_000, help="of one partition each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--real", action="store_true", help="beside real brokers")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args(arguments)
    with (real if options.real else in_memory)(options.topics) as bootstrap:
        rows = measure(bootstrap, options.topics, options.rounds)
    flags = f"--topics {options.topics} --rounds {options.rounds}{' --real' * options.real}"
    broker = "three brokers of Kafka on the same machine" if options.real else "a broker in memory"
    text = f"""# The admin client beside kafka-python's

From the start of a Python process to its answer: {options.topics:,} topics of one partition, of
{broker}; {os.cpu_count()} processors, CPython {platform.python_version()}; medians of
{options.rounds} turns, the clients in turn. Made by
`python -m tools.benchmarks.admin {flags} --write`.

| call | client | start to answer | peak memory |
|---|---|---|---|
{chr(10).join(rows)}
{_FEW_TOPICS}"""
    print(text)
    if options.write:
        PAGE.write_text(text, "utf-8")


def measure(bootstrap: str, count: int, rounds: int) -> list[str]:
    """The rows of the table. Several topics fewer or more than ``count`` end the program."""
    rows = []
    for call in _CALLS:
        scripts = [
            template.format(bootstrap=bootstrap, call=call) + _END
            for template in (_OURS, _KAFKA_PYTHON)
        ]
        runs = [[run(script, count) for script in scripts] for _ in range(rounds)]
        for name, own in zip(_CLIENTS, zip(*runs, strict=True), strict=True):
            seconds = statistics.median(each[0] for each in own)
            peak = statistics.median(each[1] for each in own)
            rows.append(f"| `{call}` | {name} | {seconds:.2f} s | {peak / 2**20:.0f} MiB |")
    return rows


def run(script: str, count: int) -> tuple[float, int]:
    """Seconds that the script took in a process of its own, and its peak memory in bytes."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    answer, _ = process.communicate()
    seconds = time.perf_counter() - begin
    found, peak = answer.split() if process.returncode == 0 else ("", "0")
    if found != str(count):
        raise SystemExit(f"status {process.returncode}, {answer!r}, of:\n{script}")
    return seconds, int(peak) * 1024


@contextlib.contextmanager
def real(count: int) -> Iterator[str]:
    """The address of three brokers with so many topics of one partition, and no others."""
    topics = [NewTopic(f"topic-{index:05}", 1, 1) for index in range(count)]
    with tempfile.TemporaryDirectory() as folder, kraft(Path(folder), nodes=3) as cluster:
        create(cluster.bootstrap, topics)
        yield cluster.bootstrap


@contextlib.contextmanager
def in_memory(count: int) -> Iterator[str]:
    """The address of a broker with so many topics of one partition."""
    with _Server((HOST, 0), _Connection) as server:
        server.start(count)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"{HOST}:{server.server_address[1]}"
        server.shutdown()
        thread.join()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def start(self, count: int) -> None:
        port = self.server_address[1]
        node = MetadataResponse.MetadataResponseBroker(node_id=1, host=HOST, port=int(port))
        self.brokers = MetadataResponse(brokers=[node], cluster_id="in-memory", controller_id=1)
        one = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition(
            leader_id=1, leader_epoch=0, replica_nodes=[1], isr_nodes=[1]
        )
        known = MetadataResponse.MetadataResponsePartition(
            leader_id=1, leader_epoch=0, replica_nodes=[1], isr_nodes=[1]
        )
        topic = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
        self.pages = [
            topic(name=f"topic-{index:05}", topic_id=random_topic_id(), partitions=[one])
            for index in range(count)
        ]
        self.all = MetadataResponse(
            brokers=[node],
            cluster_id="in-memory",
            controller_id=1,
            topics=[
                MetadataResponse.MetadataResponseTopic(
                    name=each.name, topic_id=each.topic_id, partitions=[known]
                )
                for each in self.pages
            ],
        )

    def answer(self, request: Request) -> Message:
        body = request.body
        if isinstance(body, MetadataRequest):
            return self.brokers if body.topics == [] else self.all
        if isinstance(body, DescribeTopicPartitionsRequest):
            first = 0 if body.cursor is None else int(body.cursor.topic_name[-5:])
            behind = first + body.response_partition_limit
            cursor = None
            if behind < len(self.pages):
                name = self.pages[behind].name or ""
                cursor = DescribeTopicPartitionsResponse.Cursor(topic_name=name)
            return DescribeTopicPartitionsResponse(
                topics=self.pages[first:behind], next_cursor=cursor
            )
        return ApiVersionsResponse(
            api_keys=[
                ApiVersionsResponse.ApiVersion(api_key=key, min_version=low, max_version=high)
                for key, (low, high) in _APIS.items()
            ]
        )


class _Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        reader = FrameReader()
        with contextlib.suppress(OSError):
            while data := self.request.recv(65536):
                for payload in reader.feed(data):
                    request = read_request(payload)
                    assert request.header is not None, request.problem
                    answer = write_response(
                        self.server.answer(request),
                        request.api_version,
                        request.header.correlation_id,
                    )
                    self.request.sendall(frame(answer))


if __name__ == "__main__":
    main()
