"""Clusters on real sockets: asked, side by side, ended, started again on their folder."""

from __future__ import annotations

import asyncio
import inspect
import math
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.messages import CreateTopicsRequest, MetadataRequest
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.records.metadata.log import FOLDER_NAME
from kafka_admin_proto.server import Cluster, SyncCluster
from tests.server.differential.wire import Nodes

_SECONDS = 30


def create(nodes: Nodes, *names: str, node: int = 0) -> None:
    topics = [CreatableTopic(name, 2, 1) for name in names]
    answer = nodes.ask(node, CreateTopicsRequest(topics, timeout_ms=1000), 7)
    assert [each.error_code for each in answer.topics] == [0] * len(names)


def topics(nodes: Nodes, node: int = 0) -> dict[str, str]:
    answer = nodes.ask(node, MetadataRequest(topics=None), 12)
    return {each.name: str(each.topic_id) for each in answer.topics}


def test_every_broker_has_what_one_was_asked_for() -> None:
    with SyncCluster(3) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        create(nodes, "a", node=2)
        answer = nodes.ask(1, MetadataRequest(topics=None), 12)
        ports = [int(port) for _, port in nodes.addresses]
        assert [(each.node_id, each.port) for each in answer.brokers] == list(enumerate(ports, 1))
        assert topics(nodes, 0) == topics(nodes, 1) == topics(nodes, 2) != {}


async def test_clusters_side_by_side() -> None:
    async with Cluster(1) as one, Cluster(2) as other:
        assert not {*one.bootstrap_servers.split(",")} & {*other.bootstrap_servers.split(",")}
        reader, writer = await asyncio.open_connection(
            *one.bootstrap_servers.split(":"), limit=1 << 16
        )
        writer.write(b"\x00\x00\x00\x00")
        assert await reader.read() == b""  # no request
        writer.close()
        await writer.wait_closed()


def test_an_unknown_version_closes_the_connection() -> None:
    with SyncCluster() as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        assert nodes.ask(0, CreateTopicsRequest(timeout_ms=1), 0) is None  # 4.3 begins with 2
        create(nodes, "a")


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        SyncCluster(port=taken.getsockname()[1]).start()


@pytest.mark.parametrize("brokers", [1, 3])
def test_a_cluster_goes_on_where_it_ended(brokers: int, tmp_path: Path) -> None:
    with SyncCluster(brokers, data=tmp_path) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        create(nodes, "a", "b.c")
        before = topics(nodes)
    with SyncCluster(brokers, data=tmp_path) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        assert topics(nodes) == before
        create(nodes, "d")
        assert len(topics(nodes, brokers - 1)) == 3


def test_a_log_cut_at_any_byte_opens(tmp_path: Path) -> None:
    with SyncCluster(data=tmp_path) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        create(nodes, "a")
    segment = next((tmp_path / FOLDER_NAME).glob("*.log"))
    whole = segment.read_bytes()
    for size in {*range(0, len(whole), 97), len(whole) - 1}:
        segment.write_bytes(whole[:size])
        with SyncCluster(data=tmp_path) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
            assert set(topics(nodes)) <= {"a"}
            create(nodes, "b")


def test_a_node_whose_log_is_behind_gets_the_rest(tmp_path: Path) -> None:
    with SyncCluster(3, data=tmp_path) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        create(nodes, "a")
    segment = next((tmp_path / "2" / FOLDER_NAME).glob("*.log"))
    os.truncate(segment, segment.stat().st_size - 200)
    with SyncCluster(3, data=tmp_path) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        assert set(topics(nodes, 1)) == {"a"}


def test_the_folder_of_another_cluster_is_refused(tmp_path: Path) -> None:
    with SyncCluster(1, data=tmp_path):
        pass
    with pytest.raises(MetadataLogError, match="is the folder of one node"):
        SyncCluster(3, data=tmp_path).start()


def serve(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "kafka_admin_proto", "serve", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
def test_served_from_a_shell(ended_by: signal.Signals) -> None:
    with serve("--brokers", "2", "--log") as process:
        assert process.stdout is not None
        bootstrap = process.stdout.readline().strip()
        assert len(bootstrap.split(",")) == 2
        with Nodes(bootstrap) as nodes:
            create(nodes, "a", node=1)
            assert set(topics(nodes)) == {"a"}
        process.send_signal(ended_by)
        output, errors = process.communicate(timeout=_SECONDS)
    assert (process.returncode, output) == (0, "")
    assert "CreateTopicsRequest" in errors


def test_a_port_in_use_is_a_sentence() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        serve("--port", str(taken.getsockname()[1])) as process,
    ):
        output, errors = process.communicate(timeout=_SECONDS)
    assert (process.returncode, output) == (2, "")
    assert "cannot serve on" in errors


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [".lock", "meta.properties"])
@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_strange_file_is_a_sentence(tmp_path: Path, name: str, kind: str) -> None:
    """It names the file, and no port."""
    file, target = tmp_path / "data" / name, tmp_path / "target"
    file.parent.mkdir()
    target.write_text("of the victim")
    if kind == "link":
        file.symlink_to(target)
    else:
        file.mkdir()
    with serve("--data", str(tmp_path / "data")) as process:
        output, errors = process.communicate(timeout=_SECONDS)
    assert (process.returncode, output) == (2, "")
    assert f"Error: {file}" in errors
    assert target.read_text() == "of the victim"


def test_help_names_the_arguments_of_both() -> None:
    assert inspect.signature(SyncCluster) == inspect.signature(Cluster)


CALLS = {
    "stop_broker": (1,), "kill_broker": (1,), "start_broker": (1,), "fence_broker": (1,),
    "unfence_broker": (1,), "delay_metadata": (0.5,), "delay_replication": (0.5, 1), "stop": (),
}  # fmt: skip


async def called(function: Any, *arguments: Any) -> None:
    found = function(*arguments)
    if inspect.isawaitable(found):
        await found


@pytest.mark.parametrize("name", CALLS)
def test_another_event_loop_is_a_sentence(name: str) -> None:
    """Also one behind the loop that it was started in, which has ended."""
    cluster = Cluster()
    with asyncio.Runner() as first:
        first.run(cluster.start())
        with pytest.raises(RuntimeError, match="belongs to the event loop that it was started"):
            asyncio.run(called(getattr(cluster, name), *CALLS[name]))
        assert cluster.broker_states == {1: "running"}
        first.run(cluster.stop())


async def test_a_second_start_is_a_sentence() -> None:
    async with Cluster() as cluster:
        with pytest.raises(RuntimeError, match="started already; make another one"):
            await cluster.start()
    with SyncCluster() as cluster:
        with pytest.raises(RuntimeError, match="started already; make another one"):
            cluster.start()
        assert cluster.broker_states == {1: "running"}


BROKER_CALLS = [name for name, arguments in CALLS.items() if arguments == (1,)]


@pytest.mark.parametrize("name", [*BROKER_CALLS, "delay_metadata", "delay_replication"])
@pytest.mark.parametrize("wrong", [0, 2, -1, "1", True, False, 1.0, [1], b"1", math.nan])
def test_a_broker_that_is_not_there_is_a_sentence(
    kafka_session_cluster: SyncCluster, name: str, wrong: Any
) -> None:
    """A bool is no id, and a text that reads like one is none either."""
    arguments = (0.0, wrong) if name.startswith("delay_") else (wrong,)
    is_id = type(wrong) is int
    text = f"there is no broker {wrong}; broker 1" if is_id else "a broker is named by its id, a w"
    with pytest.raises(ValueError if is_id else TypeError, match=f"^{text}"):
        getattr(kafka_session_cluster, name)(*arguments)


@pytest.mark.parametrize("make", [Cluster, SyncCluster])
async def test_before_the_start_and_after_the_end(make: type[Any]) -> None:
    """Each call says which of the two it is; the end may be asked for again."""

    async def is_refused(call: Any, *arguments: Any) -> str:
        with pytest.raises(RuntimeError) as refused:
            await called(call, *arguments)
        return str(refused.value)

    async def calls(cluster: Any) -> set[str]:
        return {
            await is_refused(getattr(cluster, name), *arguments)
            for name, arguments in CALLS.items()
            if name != "stop"
        }

    cluster = make()
    assert await calls(cluster) == {"the cluster has not been started; enter it first"}
    for _ in range(2):
        await called(cluster.start)
        await called(cluster.stop)
        ended = "the cluster has ended; start it again, or make another one"
        assert await calls(cluster) == {ended}
        assert cluster.state.cluster.brokers  # what it was like is kept
        await called(cluster.stop)


@pytest.mark.parametrize("wrong", ["1", None, True, math.nan, -1])
def test_a_delay_that_is_none_is_a_sentence(kafka_session_cluster: SyncCluster, wrong: Any) -> None:
    with pytest.raises(ValueError, match="a delay is 0 or more seconds, not"):
        kafka_session_cluster.delay_metadata(wrong)


def test_a_cluster_in_a_report_of_a_failed_test_says_where_it_listens() -> None:
    cluster = SyncCluster(2)
    assert repr(cluster) == "<SyncCluster that does not run>"
    with cluster:
        assert repr(cluster) == f"<SyncCluster {cluster.bootstrap_servers}>"
    assert repr(cluster) == "<SyncCluster that does not run>"
