"""A cluster among peers that mean harm: it stays up, its memory bounded, its secrets its own.

``KAFKA_ADMIN_PROTO_HOSTILE_S=300 pytest -s tests/server/hostile`` does each for five minutes. The
peers stop now and then, so that what else the machine does is in both figures. The median of the
windows' 99th percentiles is at most 50 ms. Peers have what the cluster and the well-behaved client
leave of the processors, as peers on other machines would.
"""

from __future__ import annotations

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kafka_admin_proto.messages import ApiVersionsRequest, CreateTopicsRequest, MetadataRequest
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.values import Message
from tests.helpers.profile import EXHAUSTIVE
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic
from tests.server.hostile.peers import PEERS, SECRET, WITH_LOGIN

#: How long each kind of peer is there; what they do at least once takes longer.
SECONDS = float(os.environ.get("KAFKA_ADMIN_PROTO_HOSTILE_S", 1 if EXHAUSTIVE else 0.2))
_BY_HAND = "KAFKA_ADMIN_PROTO_HOSTILE_S" in os.environ
#: In every run; the others start many connections or topics.
_QUICK = ("random_bytes", "fuzzed_frames", "oversize_frames")
#: How long the peers go on, and are still, in turns; and what the cluster then has to catch up.
_LOUD_S, _QUIET_S, _PAUSE_S = 3.0, 1.0, 0.2
#: Peers that are timed take the processor from nobody.
_PRIORITY = ("chrt", "--idle", "0") if _BY_HAND else ()
#: The most that a well-behaved client waits among the peers, at the 99th percentile.
_MOST_MS = 50
#: Beyond what the cluster had before: unfinished requests and unread answers within their limits.
_MOST_BYTES = 700 << 20
_LIMITS = (
    "--config=queued.max.request.bytes=67108864",
    "--config=socket.request.max.bytes=67108864",
)


class Server(NamedTuple):
    """A cluster in a process of its own, and the ports of its two listeners."""

    process: subprocess.Popen[str]
    plain: int
    login: int
    errors: Path


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Server]:
    users, errors = folder / "users.txt", folder / "stderr.txt"
    users.write_text(f"me:{SECRET}-right\n")
    command = [
        sys.executable, "-m", "kafka_admin_proto", "serve", *_LIMITS,
        "--listener", "PLAIN:PLAINTEXT", "--listener", "LOGIN:SASL_PLAINTEXT",
        "--users", str(users), "--log",
    ]  # fmt: skip
    if _BY_HAND:
        command.remove("--log")
    with (
        errors.open("w") as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            plain = process.stdout.readline().strip()
            login = process.stdout.readline().split()[-1]
            yield Server(process, _port(plain), _port(login), errors)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def waited_ms(nodes: Nodes, seconds: float) -> list[float]:
    """The times that a well-behaved client waits for its answers, sorted."""
    found: list[float] = []
    kinds: list[tuple[Message, int]] = [
        (ApiVersionsRequest("good", "1"), 3),
        (MetadataRequest([MetadataRequestTopic(name="good")]), 12),
        (CreateTopicsRequest([topic("validated")], 1000, True), 7),
    ]
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        request, version = kinds[len(found) % 3]
        start = time.perf_counter()
        assert nodes.ask(0, request, version) is not None
        found.append((time.perf_counter() - start) * 1000)
        time.sleep(0.002)
    return sorted(found)


def typical_ms(windows: list[list[float]], part: float) -> float:
    """The median of the windows' percentiles."""
    return statistics.median(each[int(len(each) * part)] for each in windows)


def shown(windows: list[list[float]]) -> str:
    p50, p99 = typical_ms(windows, 0.5), typical_ms(windows, 0.99)
    asked, most = sum(map(len, windows)), max(each[-1] for each in windows)
    return f"p50 {p50:.2f} ms, p99 {p99:.2f} ms, most {most:.0f} ms of {asked}"


def among(
    peers: subprocess.Popen[str], nodes: Nodes, pid: int
) -> tuple[list[list[float]], list[list[float]], int]:
    """The waiting times while the peers are stopped and while they go on, and the most memory."""
    quiet, loud, most = [waited_ms(nodes, _QUIET_S if _BY_HAND else 0.1)], list[list[float]](), 0
    while peers.poll() is None:
        loud.append(waited_ms(nodes, min(_LOUD_S, SECONDS)))
        most = max(most, resident_bytes(pid))
        if _BY_HAND and peers.poll() is None:
            peers.send_signal(signal.SIGSTOP)
            time.sleep(_PAUSE_S)
            quiet.append(waited_ms(nodes, _QUIET_S))
            peers.send_signal(signal.SIGCONT)
            time.sleep(_PAUSE_S)
    return quiet, loud[:-1] or loud, most


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("hostile")) as found:
        with Nodes(f"127.0.0.1:{found.plain}") as nodes:
            new = [topic("good"), *(topic(f"other-{each}") for each in range(50))]
            assert nodes.ask(0, CreateTopicsRequest(new, 1000), 7) is not None
        yield found


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=[] if each in _QUICK else pytest.mark.exhaustive) for each in PEERS],
)
def test_a_cluster_stays_up(server: Server, name: str) -> None:
    port = server.login if name in WITH_LOGIN else server.plain
    with Nodes(f"127.0.0.1:{server.plain}") as nodes:
        before = resident_bytes(server.process.pid)
        command = [*_PRIORITY, sys.executable, "-m", "tests.server.hostile.peers", name, str(port)]
        with subprocess.Popen([*command, str(SECONDS)], stdout=subprocess.PIPE, text=True) as peers:
            quiet, loud, most = among(peers, nodes, server.process.pid)
            assert peers.stdout is not None
            done = peers.stdout.read().strip()
        assert peers.returncode == 0
        assert server.process.poll() is None
        assert nodes.ask(0, MetadataRequest(topics=[]), 12) is not None
    assert most - before < _MOST_BYTES
    assert SECRET not in server.errors.read_text()
    if _BY_HAND:
        print(f"\n{name}: {done} done; quiet {shown(quiet)}; then {shown(loud)}; "
              f"{before >> 20} MiB before, {most >> 20} MiB then")  # fmt: skip
        assert typical_ms(loud, 0.99) <= _MOST_MS
