"""Fetch and small requests through a proxy and without it: python -m tools.benchmarks.proxy

A raw client fetches 1 MB at a time from the reference cluster, and asks for its metadata again and
again. Cluster, proxy and client are processes of their own. A proxy's processor time says what a
processor would do that has no other work; rates and latencies depend on what else runs. With
``--kafka-proxy PROGRAM`` that of grepplabs (Go) takes its turn in the same run, with ``--checkout
FOLDER`` the ``kap proxy`` of another state of this repository.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from uuid import UUID

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.gc_tuning import tune_for_server
from kafka_admin_proto.messages import FetchRequest, MetadataRequest
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.topic_ids import topic_id_from_text
from kafka_admin_proto.wire.engine import compiled
from tools.benchmarks.request_load import cpu_s, request_frame
from tools.clusters import HOST, free_ports
from tools.clusters.processes import wait_for_port

_MB = 1 << 20
_RUNS, _RUN_MB, _SMALL = 5, 300, 4000
_TOPIC = "fetched"
_FETCH_VERSION, _METADATA_VERSION = 17, 12
_KAP = "from kafka_admin_proto.cli import main; main()"


def _cluster(end: Connection) -> None:
    tune_for_server()  # as kap serve does
    with SyncCluster(topics={_TOPIC: 1}) as cluster:
        for _ in range(8):
            cluster.produce(_TOPIC, [bytes(100_000)] * 10)
        end.send(cluster.bootstrap_servers)
        end.recv()


def _fetch(address: str, topic_id: UUID) -> float:
    """MB a second."""
    host, _, port = address.rpartition(":")
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=_MB)
    topic = FetchTopic(topic_id=topic_id, partitions=[partition])
    request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=_MB, topics=[topic])
    data = request_frame(request, _FETCH_VERSION)
    fetched, start = 0, time.perf_counter()
    with socket.create_connection((host, int(port))) as source, source.makefile("rb") as read:
        while fetched < _RUN_MB * _MB:
            source.sendall(data)
            fetched += len(read.read(int.from_bytes(read.read(4), "big")))
    return fetched / _MB / (time.perf_counter() - start)


def _latencies_ms(address: str) -> list[float]:
    """What each of many requests for metadata took, one after another."""
    host, _, port = address.rpartition(":")
    data = request_frame(MetadataRequest([MetadataRequestTopic(name=_TOPIC)]), _METADATA_VERSION)
    found = []
    with socket.create_connection((host, int(port))) as source, source.makefile("rb") as read:
        for _ in range(_SMALL):
            start = time.perf_counter()
            source.sendall(data)
            read.read(int.from_bytes(read.read(4), "big"))
            found.append((time.perf_counter() - start) * 1000)
    return found


@dataclass
class _Way:
    """An address of the cluster, and the process of the proxy that it is of; None for none."""

    name: str
    address: str
    process: int | None = None
    rates: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    #: Processor seconds of the proxy while it passed what was fetched, and small requests.
    fetch_s: float = 0.0
    small_s: float = 0.0

    def measure(self, topic_id: UUID) -> None:
        begin = self._cpu_s()
        self.rates.append(_fetch(self.address, topic_id))
        middle = self._cpu_s()
        self.latencies += _latencies_ms(self.address)
        self.fetch_s += middle - begin
        self.small_s += self._cpu_s() - middle

    def _cpu_s(self) -> float:
        return 0.0 if self.process is None else cpu_s(self.process)

    def __str__(self) -> str:
        shares = statistics.quantiles(self.latencies, n=100)
        text = (
            f"{self.name}: {statistics.median(self.rates):.0f} MB/s, a small request in "
            f"{shares[49]:.3f} ms, p99 {shares[98]:.3f} ms"
        )
        if self.process is not None:
            text += (
                f", {len(self.rates) * _RUN_MB / self.fetch_s:.0f} MB in a processor second, "
                f"{self.small_s / len(self.latencies) * 1e6:.0f} us of it for a small request"
            )
        return text


@contextlib.contextmanager
def _kap_proxy(name: str, upstream: str, checkout: str | None = None) -> Iterator[_Way]:
    """``kap proxy``, that of another folder where there is one."""
    path = {} if checkout is None else {"PYTHONPATH": checkout, "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-c", _KAP, "proxy", f"--upstream={upstream}"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **path}
    ) as process:
        try:
            assert process.stdout is not None
            with SyncAdminClient(process.stdout.readline().strip()) as client:
                (node,) = client.describe_cluster().nodes
            yield _Way(name, f"{node.host}:{node.port}", process.pid)
        finally:
            process.terminate()


@contextlib.contextmanager
def _kafka_proxy(program: str, upstream: str) -> Iterator[_Way]:
    """The Go proxy in front of a cluster of one node, whose only address is its bootstrap one."""
    (port,) = free_ports(1)
    address = f"{HOST}:{port}"
    command = [program, "server", f"--bootstrap-server-mapping={upstream},{address}",
               "--http-disable", "--log-level=error"]  # fmt: skip
    with subprocess.Popen(command) as process:
        try:
            wait_for_port(port, process)
            yield _Way("kafka-proxy (Go)", address, process.pid)
        finally:
            process.terminate()


def main() -> None:
    """Print the median rate of each way, its latencies, and the work of a proxy's processor."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks.proxy")
    parser.add_argument("--kafka-proxy", metavar="PROGRAM", help="grepplabs' proxy, built")
    parser.add_argument("--checkout", metavar="FOLDER", help="another kap proxy of this repository")
    arguments = parser.parse_args()
    end, other = multiprocessing.Pipe()
    multiprocessing.Process(target=_cluster, args=(other,), daemon=True).start()
    upstream = end.recv()
    engine = "plain Python" if compiled is None else "compiled engine"
    ways = [_Way("no proxy", upstream)]
    with SyncAdminClient(upstream) as client:
        (found,) = client.describe_topics([_TOPIC])
    assert found.topic_id is not None
    topic_id = topic_id_from_text(found.topic_id)
    with contextlib.ExitStack() as opened:
        ways.append(opened.enter_context(_kap_proxy(f"kap proxy ({engine})", upstream)))
        if arguments.checkout:
            name = f"kap proxy of {arguments.checkout} ({engine})"
            ways.append(opened.enter_context(_kap_proxy(name, upstream, arguments.checkout)))
        if arguments.kafka_proxy:
            ways.append(opened.enter_context(_kafka_proxy(arguments.kafka_proxy, upstream)))
        for _ in range(_RUNS):
            for way in ways:
                way.measure(topic_id)
    print(*ways, sep="\n")


if __name__ == "__main__":
    main()
