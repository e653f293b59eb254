"""A large cluster's snapshot is written beside its requests, and is that of its moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.messages import CreateTopicsRequest, DeleteTopicsRequest
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.log import FOLDER_NAME, replay
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.log import snapshot_writer
from kafka_admin_proto.server.log.snapshots import Snapshot, snapshot_parts
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic


def test_requests_are_answered_while_a_snapshot_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its writer stands still after its first batch until other requests have been answered."""
    parts = snapshot_parts
    begun, go_on = threading.Event(), threading.Event()

    def slow_parts(state: ClusterState, last_timestamp: int, now_ms: int) -> Iterator[bytes]:
        for part in parts(state, last_timestamp, now_ms):
            yield part
            begun.set()
            assert go_on.wait(30)

    monkeypatch.setattr(snapshot_writer, "snapshot_parts", slow_parts)
    configs = {"metadata.log.max.record.bytes.between.snapshots": "40000"}
    with SyncCluster(data=tmp_path, configs=configs) as cluster:
        with Nodes(cluster.bootstrap_servers) as nodes:
            new = [topic(f"large-{number}") for number in range(500)]
            assert nodes.ask(0, CreateTopicsRequest(new, 1000), 7) is not None
            assert begun.wait(30)
            gone = DeleteTopicsRequest(topic_names=["large-0"], timeout_ms=1000)
            assert nodes.ask(0, gone, 5).responses[0].error_code == 0
            assert nodes.ask(0, CreateTopicsRequest([topic("new")], 1000), 7) is not None
        assert Snapshot.in_folder(tmp_path / FOLDER_NAME) == []
        go_on.set()
    (snapshot,) = Snapshot.in_folder(tmp_path / FOLDER_NAME)
    assert snapshot.is_whole()
    replayed = replay(tmp_path)
    assert not replayed.problems
    names = {each.name for each in replayed.state.topics.values()}
    assert names == {*(f"large-{number}" for number in range(1, 500)), "new"}
