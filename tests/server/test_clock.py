"""The clock of a cluster: what is due is done, in its order, and nothing else tells the time."""

from __future__ import annotations

import ast
import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafka_admin_proto.server
from kafka_admin_proto.messages import CreateTopicsRequest, MetadataRequest
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.clock import Clock
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic
from tests.server.network.test_connection import asked
from tests.server.still_clock import StillClock

#: Names of the modules time and asyncio, and of event loops, that tell the time or wait.
_OTHER_CLOCKS = frozenset({
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "sleep",
    "call_later", "call_at", "wait_for", "timeout", "timeout_at", "now", "utcnow", "today",
})  # fmt: skip
#: Who may: the clock, a yield to other tasks, and a thread that lets others have the interpreter.
_ALLOWED = {
    "clock.py": None, "network/node.py": "sleep", "log/snapshot_writer.py": "sleep",
    "sync.py": "sleep", "inspection/conditions.py": None,  # waits for clients, in real time
    "network/connection.py": "perf_counter_ns",  # the processor time of a client's requests
}  # fmt: skip


def _calls(tree: ast.AST) -> set[str]:
    """The names of the attributes that are used as functions, or given as such."""
    return {
        each.attr
        for each in ast.walk(tree)
        if isinstance(each, ast.Attribute) and each.attr in _OTHER_CLOCKS
    }


def test_the_server_has_no_other_clock() -> None:
    folder = Path(kafka_admin_proto.server.__path__[0])
    for path in folder.rglob("*.py"):
        name = path.relative_to(folder).as_posix()
        tree = ast.parse(path.read_text())
        imported = {
            alias.name
            for each in ast.walk(tree)
            if isinstance(each, ast.ImportFrom) and each.module in ("time", "datetime", "asyncio")
            for alias in each.names
        }
        found = _calls(tree) | (imported & _OTHER_CLOCKS)
        assert name in _ALLOWED or not found, f"{name}: {found}"
        if name in _ALLOWED and _ALLOWED[name] is not None:
            assert found == {_ALLOWED[name]}, name


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=12), st.integers(0, 20))
def test_what_is_due_is_done_in_its_order(waits: list[tuple[int, bool]], end_s: int) -> None:
    async def run() -> None:
        clock, done = StillClock(), list[tuple[int, int]]()
        clock.start()
        start_s = clock.time_s()

        def due(wait_s: int, number: int) -> None:
            assert clock.time_s() - start_s == wait_s
            done.append((wait_s, number))

        timers = [clock.later(wait, due, wait, at) for at, (wait, _) in enumerate(waits)]
        for timer, (_, cancelled) in zip(timers, waits, strict=True):
            if cancelled:
                timer.cancel()
        await clock.advance(end_s)
        wanted = [(wait, at) for at, (wait, cancelled) in enumerate(waits) if not cancelled]
        assert done == sorted(each for each in wanted if each[0] <= end_s)
        assert clock.time_s() - start_s == end_s
        await clock.advance(20)
        assert done == sorted(wanted)
        clock.end()

    asyncio.run(run())


@pytest.mark.parametrize("seconds", [-1, -0.001, float("nan"), float("inf"), "1", None, True])
async def test_only_time_passes(seconds: Any) -> None:
    async with Cluster() as cluster:
        before_s = cluster.clock.time_s()
        with pytest.raises(ValueError, match="a clock is moved by 0 or more seconds, not"):
            await cluster.clock.advance(seconds)
        assert cluster.clock.time_s() - before_s < 30


async def test_a_timer_moves_the_clock_and_sets_another() -> None:
    clock, seen, tasks = StillClock(), list[str](), list[asyncio.Task[None]]()
    clock.start()

    def first() -> None:
        seen.append("first")
        clock.later(1, seen.append, "set within")
        tasks.append(asyncio.ensure_future(clock.advance(5)))

    clock.later(1, first)
    clock.later(4, seen.append, "later")
    await clock.advance(2)
    assert seen == ["first", "set within"]
    await tasks[0]
    assert seen == ["first", "set within", "later"]
    clock.end()


async def test_a_timer_that_fails_says_so_and_leaves_the_others() -> None:
    clock, seen = StillClock(), list[int]()
    clock.start()
    clock.later(1, lambda: 1 / 0)
    clock.later(2, seen.append, 2)
    with pytest.raises(ZeroDivisionError):
        await clock.advance(5)
    await clock.advance(5)
    assert seen == [2]
    clock.end()


async def test_cancelled_timers_are_not_kept() -> None:
    clock, done = StillClock(), list[int]()
    clock.start()
    clock.later(2, done.append, 2)
    for _ in range(10_000):
        timer = clock.later(1_000_000, done.append, 3)
        timer.cancel()
        timer.cancel()
    assert len(clock._timers) < 300
    await clock.advance(2)
    assert done == [2]
    await clock.advance(2_000_000)
    assert (done, clock._timers, clock._cancelled) == ([2], [], 0)


def test_it_is_moved_in_the_loop_of_its_cluster() -> None:
    cluster = Cluster()
    with pytest.raises(RuntimeError, match="event loop in which its cluster runs"):
        asyncio.run(cluster.clock.advance(1))
    with pytest.raises(RuntimeError, match="not been started"):
        SyncCluster().clock.advance(1)


def test_a_function_that_the_cluster_calls_does_not_wait_for_itself() -> None:
    found = list[str]()

    def trace(*_: Any) -> None:
        try:
            cluster.clock.advance(1)
        except RuntimeError as error:
            found.append(str(error))

    with SyncCluster(trace=trace) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        assert nodes.ask(0, MetadataRequest(topics=[]), 12) is not None
        cluster.clock.advance(1)
    assert len(found) == 1
    assert "cannot call the cluster" in found[0]


def test_real_time_passes_too() -> None:
    clock = Clock()
    before = clock.time_s(), clock.now_ms()
    time.sleep(0.002)
    assert clock.time_s() > before[0]
    assert clock.now_ms() > before[1]
    assert abs(clock.now_ms() / 1000 - time.time()) < 1


def test_a_broker_is_missed_and_metadata_arrives() -> None:
    """Sessions of nine seconds and a delay of a minute, without waiting."""

    def topics() -> list[str | None]:
        return [each.name for each in nodes.ask(0, MetadataRequest(topics=None), 12).topics]

    start_s = time.monotonic()
    settings: dict[str, Any] = {"brokers": 3, "propagation_delay_s": 60}
    with SyncCluster(**settings) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        nodes.ask(0, CreateTopicsRequest([topic("new")], 1000), 7)
        assert topics() == []
        cluster.clock.advance(60)
        assert topics() == ["new"]
        cluster.kill_broker(3)
        cluster.clock.advance(8.5)
        assert len(cluster.state.live_brokers()) == 3
        cluster.clock.advance(1)
        assert len(cluster.state.live_brokers()) == 2
    assert time.monotonic() - start_s < 9


async def test_what_repeats_comes_as_often_as_the_time_has_room_for_it() -> None:
    """However long each takes: the third came after the end on a busy machine."""
    calls: list[float] = []
    async with Cluster(0) as cluster:
        clock = cluster.clock

        def due() -> None:
            time.sleep(0.002)
            calls.append(clock.time_s())
            clock.later(15, due)

        clock.later(15, due)
        await clock.advance(45)
        assert len(calls) == 3
        await clock.advance(15)
        assert len(calls) == 4


async def test_a_timer_that_sets_itself_again_at_once_leaves_time_for_others() -> None:
    """Both where time passes by itself and where it is moved."""
    clock, left, seen = Clock(), 100_000, list[str]()
    clock.start()

    def due() -> None:
        nonlocal left
        left -= 1
        if left:
            clock.later(0, due)

    clock.later(0, due)
    clock.later(0.01, seen.append, "by itself")
    while left and not seen:
        await asyncio.sleep(0.001)
    clock.later(5, seen.append, "moved")
    await clock.advance(5)
    assert seen == ["by itself", "moved"]
    assert left > 50_000
    clock.end()


async def test_idle_clients_are_closed() -> None:
    async with Cluster() as cluster:
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        while not cluster._parts.nodes[1].connections:
            await asyncio.sleep(0.001)
        await cluster.clock.advance(599)
        assert not reader.at_eof()
        await cluster.clock.advance(300)
        assert await reader.read() == b""
        writer.close()


async def test_an_answer_that_is_late_comes_with_the_clock() -> None:
    async with Cluster() as cluster:
        cluster.faults.add(api="Metadata", delay_ms=600_000)
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(asked(MetadataRequest(topics=[]), 12, 7))
        answer = asyncio.ensure_future(reader.readexactly(4))
        clients: Any = cluster._parts.nodes[1].connections
        while not any(each._paused for each in clients):
            await asyncio.sleep(0.001)
        await cluster.clock.advance(599)
        assert not answer.done()
        await cluster.clock.advance(2)
        assert await answer
        writer.close()


async def test_what_is_due_is_done_before_a_request_is_read() -> None:
    """An event loop that finds both at once hands out the bytes of sockets first."""
    done: list[str] = []
    async with Cluster(trace=lambda *_: done.append("request")) as cluster:
        host, _, port = cluster.bootstrap_servers.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        for number in range(3):
            cluster.clock.later(0, lambda: done.append("timer"))
            writer.write(asked(MetadataRequest(topics=[]), 12, number))
            await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
        writer.close()
    assert done == ["timer", "request"] * 3


def test_real_clients_go_on() -> None:
    """Time that passes at once does not disturb them; idle connections they open again."""
    kafka = pytest.importorskip("kafka")
    confluent = pytest.importorskip("confluent_kafka.admin")
    with SyncCluster(3) as cluster:
        python = kafka.KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
        librdkafka = confluent.AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        try:
            for number in range(3):
                cluster.clock.advance(120)
                new = confluent.NewTopic(f"t{number}", 1, 1)
                librdkafka.create_topics([new])[new.topic].result(30)
                assert len(python.list_topics()) == number + 1
            cluster.clock.advance(3600)  # their connections are idle, and closed
            assert len(librdkafka.list_topics(timeout=30).topics) == 3
            try:
                listed = python.list_topics()
            except kafka.errors.KafkaConnectionError:  # it asked before it saw that it was closed
                listed = python.list_topics()
            assert len(listed) == 3
        finally:
            python.close()
