"""Snapshots say the state that they were made of, in the records that Kafka writes for it."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    FeatureLevelRecord,
    VotersRecord,
)
from kafka_admin_proto.messages.voters_record import Endpoint, KRaftVersionFeature, Voter
from kafka_admin_proto.records import ClusterState, replay
from kafka_admin_proto.records.metadata.log import FOLDER_NAME
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.records.segments.rows import segment_rows
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.log import snapshot_writer
from kafka_admin_proto.server.log.snapshots import (
    Snapshot,
    snapshot_bytes,
    snapshot_name,
    snapshot_parts,
)
from tests.helpers.profile import EXHAUSTIVE, draws
from tests.records.make_metadata_log import FOLDER
from tests.records.random_metadata import random_log
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic

_NOW_MS = 1_700_000_000_000


def written(folder: Path, state: ClusterState, last_timestamp: int = 1) -> Path:
    """The file of the state's snapshot, in a folder for it."""
    folder.mkdir(exist_ok=True)
    path = folder / snapshot_name(state.offset + 1, state.epoch)
    path.write_bytes(snapshot_bytes(state, last_timestamp, _NOW_MS))
    return path


def said(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The kinds of records in a snapshot, and the records in an order of our own.

    Kafka's order within a kind is that of its maps.
    """
    rows = list(segment_rows(path, mask=False))
    assert not any(row["problem"] or row["note"] for row in rows)
    assert [row["offset"] for row in rows] == list(range(len(rows)))
    found = [(row["type"], row["version"], settled(row["fields"]), row["epoch"]) for row in rows]
    return list(dict.fromkeys(each[0] for each in found)), sorted(found, key=repr)


def settled(value: Any) -> Any:
    """A JSON value with lists of named things in the order of their texts."""
    if isinstance(value, dict):
        return {name: settled(each) for name, each in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return sorted((settled(each) for each in value), key=repr)
    return value


@pytest.mark.parametrize("name", [path.name for path in FOLDER.glob("*.checkpoint")])
def test_the_records_are_those_that_a_real_node_wrote(tmp_path: Path, name: str) -> None:
    theirs = FOLDER / name
    (snapshot,) = (each for each in Snapshot.in_folder(FOLDER) if each.path == theirs)
    assert snapshot.is_whole()
    if not snapshot.end:
        return  # a new quorum's voters alone
    timestamp = snapshot.timestamp()
    assert timestamp is not None
    state = replay(FOLDER, snapshot.end - 1).state
    ours = written(tmp_path, state, timestamp)
    assert ours.name == theirs.name
    assert said(ours) == said(theirs)


def grown(seed: int, level: int) -> ClusterState:
    """A state that random records made, of nodes that write metadata.version ``level``."""
    made = MetadataReplay()
    offset = 0
    for batch in random_log(random.Random(seed), batches=60, transactions=False):
        for record, _ in batch:
            made.apply(record, offset, 7)
            offset += 1
    made.apply(FeatureLevelRecord(METADATA_VERSION, level), offset, 7)
    return made.state


@given(seed=st.integers(0, 1 << 30), voters=st.booleans())
@settings(max_examples=draws(160))
def test_what_is_read_back_is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, seed: int, voters: bool
) -> None:
    state = grown(seed, 30)
    if voters:
        quorum = MetadataReplay(state)
        row = Voter(1, UUID(int=9), [Endpoint("CONTROLLER", "h", 9)], KRaftVersionFeature(0, 1))
        quorum.apply_control(VotersRecord(voters=[row]))
        state.kraft_version = 1
    folder = tmp_path_factory.mktemp("snapshot")
    path = written(folder, state)
    again = replay(folder)
    assert not again.problems
    assert again.state.compared() == state.compared()
    assert (again.state.offset, again.state.epoch) == (state.offset, state.epoch)
    assert Snapshot(state.offset + 1, 7, path).is_whole()


def test_large_states_take_many_batches(tmp_path: Path) -> None:
    state = grown(1, 30)
    for number in range(5000):
        state.configs[(2, f"t{number}")] = type(next(iter(state.configs.values())))(a="b")
    written(tmp_path, state)
    again = replay(tmp_path)
    assert not again.problems
    assert again.state.compared() == state.compared()


def damages(data: bytes, chooser: random.Random) -> Iterable[bytes]:
    for size in [*(chooser.randrange(len(data)) for _ in range(40 if EXHAUSTIVE else 5)), 0]:
        yield data[:size]
    for _ in range(40 if EXHAUSTIVE else 5):
        at = chooser.randrange(len(data))
        yield data[:at] + bytes([data[at] ^ 1 << chooser.randrange(8)]) + data[at + 1 :]


def test_a_damaged_one_is_not_whole_or_says_the_same(tmp_path: Path) -> None:
    """What no checksum covers, a batch's base offset and epoch, says nothing in a snapshot."""
    state = grown(2, 30)
    path = written(tmp_path, state)
    whole = path.read_bytes()
    for data in damages(whole, random.Random(3)):
        path.write_bytes(data)
        if Snapshot(state.offset + 1, 7, path).is_whole():
            assert replay(tmp_path).state.compared() == state.compared()


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
