"""Records of clusters on disk: their folders, deletions, flushes and starts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.partitions.disk.log_dir import CLEAN_SHUTDOWN, LOG_STARTS
from kafka_admin_proto.server.state import State
from tests.helpers.processes import python

SMALL = {"internal.segment.bytes": "200"}


def values(cluster: SyncCluster, topic: str = "t") -> list[bytes | None]:
    return [each.value for each in cluster.records(topic)]


def names(folder: Path, suffix: str) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.name.endswith(suffix))


@pytest.mark.parametrize("brokers", [1, 3])
def test_records_survive(brokers: int, tmp_path: Path) -> None:
    topics = {"t": {"partitions": 2, "replication_factor": brokers, "configs": SMALL}}
    expected = [b"%d" % each for each in range(30)]
    for turn in range(3):
        with SyncCluster(brokers, data=tmp_path, topics=topics) as cluster:
            assert values(cluster) == sorted(expected[: turn * 10], key=lambda x: int(x) % 2)
            cluster.produce("t", expected[turn * 10 :][:10])
            folder = tmp_path if brokers == 1 else tmp_path / "records"
            assert not (folder / CLEAN_SHUTDOWN).exists()
        assert (folder / CLEAN_SHUTDOWN).exists()
        assert len(names(folder / "t-0", ".log")) >= turn + 1


def test_deleted_topics_and_records(tmp_path: Path) -> None:
    topics = {name: {"configs": {**SMALL, "file.delete.delay.ms": "60000"}} for name in "tu"}
    with SyncCluster(data=tmp_path, topics=topics) as cluster:
        for name in "tu" * 10:
            cluster.produce(name, [bytes(50)])
        with SyncAdminClient(cluster.bootstrap_servers) as admin:
            admin.delete_topics(["u"])
            admin.delete_records({("t", 0): 7})
        assert not (tmp_path / "u-0").exists()
        assert len(list(tmp_path.glob("u-0.*-delete"))) == 1
        assert (tmp_path / LOG_STARTS).read_text() == "0\n1\nt 0 7\n"
        cluster.clock.advance(300)
        assert not list(tmp_path.glob("u-0.*"))
        assert len(names(tmp_path / "t-0", ".log")) < 10
        cluster.clock.advance(61)
        assert not names(tmp_path / "t-0", ".deleted")
        cluster.produce("t", [b"last"])
    with SyncCluster(data=tmp_path) as cluster:
        assert [each.offset for each in cluster.records("t")] == [7, 8, 9, 10]


def test_what_is_of_no_topic_is_set_aside(tmp_path: Path) -> None:
    with SyncCluster(data=tmp_path, topics={"t": 1}) as cluster:
        cluster.produce("t", [b"kept"])
    for name in ("gone-0", "t-9"):
        shutil.copytree(tmp_path / "t-0", tmp_path / name)
    other = (tmp_path / "t-0" / "partition.metadata").read_text()
    with SyncCluster(data=tmp_path) as cluster:
        assert values(cluster) == [b"kept"]
        with SyncAdminClient(cluster.bootstrap_servers) as admin:
            admin.delete_topics(["t"])
        assert len(list(tmp_path.glob("gone-0.*-stray")) + list(tmp_path.glob("t-9.*-stray"))) == 2
    with SyncCluster(data=tmp_path, topics={"t": 1}) as cluster:
        cluster.produce("t", [b"new"])
    (tmp_path / "t-0" / "partition.metadata").write_text(other)
    with SyncCluster(data=tmp_path) as cluster:
        assert values(cluster) == []
    assert len(list(tmp_path.glob("t-0.*-stray"))) == 1


def test_a_damaged_log_is_a_sentence(tmp_path: Path) -> None:
    with SyncCluster(data=tmp_path, topics={"t": {"configs": SMALL}}) as cluster:
        for _ in range(6):
            cluster.produce("t", [bytes(60)])
    path = min((tmp_path / "t-0").glob("*.log"))
    os.truncate(path, 20)
    done = python("-m", "kafka_admin_proto", "serve", "--data", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{path} has a fault at byte 0" in done.stderr
    assert "Traceback" not in done.stderr


def test_flushes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configs = {"flush.messages": "4", "flush.ms": "1000"}
    brokers = {"log.flush.scheduler.interval.ms": "500"}
    with SyncCluster(data=tmp_path, topics={"t": {"configs": configs}}, configs=brokers) as cluster:
        state: State = cluster.state
        topic = state.topic("t")
        assert topic is not None
        log = state.partitions.log(topic, 0).log
        points = []
        for _ in range(6):
            cluster.produce("t", [b"x"])
            points.append(log.store.recovery_point)
        assert points == [0, 0, 0, 4, 4, 4]
        cluster.clock.advance(2)
        assert log.store.recovery_point == 6


def test_segments_end_with_full_indexes_and_jitter(tmp_path: Path) -> None:
    configs = {"segment.index.bytes": "40", "index.interval.bytes": "0"}
    jitter = {"segment.ms": "1000000", "segment.jitter.ms": "999999"}
    topics: dict[str, Any] = {"t": {"configs": configs}, "u": {"partitions": 20, "configs": jitter}}
    with SyncCluster(data=tmp_path, topics=topics) as cluster:
        for _ in range(10):
            cluster.produce("t", [b"x"])
        for _ in range(2):
            cluster.produce("u", [{"value": b"x", "partition": each} for each in range(20)])
            cluster.clock.advance(500)
        counts = {len(names(tmp_path / f"u-{each}", ".log")) for each in range(20)}
    assert len(names(tmp_path / "t-0", ".log")) > 1
    assert counts == {1, 2}


def test_sigterm_is_a_clean_stop(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kafka_admin_proto", "serve", "--data", str(tmp_path)]
    process = subprocess.Popen([*command, "--topic", "t"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert (process.returncode, (tmp_path / CLEAN_SHUTDOWN).exists()) == (0, True)
