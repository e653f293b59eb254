"""``kap metadata --follow``: the log of a real cluster, as a controller on a socket gives it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import kafka_admin_proto.messages as m
from kafka_admin_proto import Message
from kafka_admin_proto.loop_thread import LoopThread
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import read_batches, replay
from kafka_admin_proto.records.segments.rows import segment_rows
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from kafka_admin_proto.wire.secrets import MASK
from tests.admin.scripted_broker import ScriptedBroker, ScriptedCluster
from tests.helpers.kap import ended, run_kap
from tests.records.make_metadata_log import FOLDER

_LOG = (FOLDER / f"{0:020}.log").read_bytes()
#: Offset → where its batch begins in the log.
_PLACES = {batch.base_offset: batch.offset_in_data for batch in read_batches(_LOG)}
_END = replay(FOLDER).state.offset + 1
_PIECE = 1500


class _Controller:
    """Leads the quorum in epoch 1; the log begins at ``start``, with a snapshot before it."""

    start = 0
    refusal = 0

    def __init__(self) -> None:
        self.cluster = ScriptedCluster([1])
        self.cluster.on(m.DescribeClusterRequest, self._describe)
        self.cluster.on(m.FetchRequest, self._fetch)
        self.cluster.on(m.FetchSnapshotRequest, self._fetch_snapshot)

    def _describe(self, request: m.DescribeClusterRequest, broker: ScriptedBroker) -> Message:
        row = m.DescribeClusterResponse.DescribeClusterBroker(broker.id, broker.host, broker.port)
        return m.DescribeClusterResponse(controller_id=broker.id, brokers=[row])

    def _fetch(self, request: m.FetchRequest, broker: ScriptedBroker) -> Message:
        (asked,) = request.topics[0].partitions
        row = m.FetchResponse.PartitionData(high_watermark=_END, records=b"")
        row.current_leader = m.FetchResponse.LeaderIdAndEpoch(1, 1)
        if asked.current_leader_epoch < 1:
            row.error_code = codes.FENCED_LEADER_EPOCH
        elif asked.fetch_offset < self.start:
            row.snapshot_id = m.FetchResponse.SnapshotId(self.start, 1)
        elif asked.fetch_offset < _END:
            place = _PLACES[asked.fetch_offset]
            row.records = _LOG[place : place + _PIECE]
        topic = m.FetchResponse.FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[row])
        return m.FetchResponse(responses=[topic], error_code=self.refusal)

    def _fetch_snapshot(self, request: m.FetchSnapshotRequest, broker: ScriptedBroker) -> Message:
        (asked,) = request.topics[0].partitions
        data = (FOLDER / f"{asked.snapshot_id.end_offset:020}-{1:010}.checkpoint").read_bytes()
        row = m.FetchSnapshotResponse.PartitionSnapshot(
            size=len(data), position=asked.position,
            unaligned_records=data[asked.position : asked.position + _PIECE],
        )  # fmt: skip
        topic = m.FetchSnapshotResponse.TopicSnapshot("__cluster_metadata", [row])
        return m.FetchSnapshotResponse(topics=[topic])


@pytest.fixture
def controller() -> Iterator[_Controller]:
    controller = _Controller()
    thread = LoopThread("controller", "controller", RuntimeError)
    thread.run(controller.cluster.__aenter__())
    yield controller
    thread.run(controller.cluster.__aexit__())
    thread.stop()


def _run(controller: _Controller | None, *arguments: str) -> Result:
    where = () if controller is None else ("--bootstrap-controller", controller.cluster.bootstrap)
    return run_kap("metadata --follow", *where, *arguments)


def test_changes_as_they_are_committed(controller: _Controller) -> None:
    done = ended(_run(controller, "--from", "0", "--until", str(_END - 1)))
    lines = done.stdout.splitlines()
    assert lines[0] == "epoch 1: controller 1 is the active controller"
    assert "offset 22: topic fruit added: topicId=" in done.stdout
    assert any("broker 2 changed: " in line and "fenced no → yes" in line for line in lines)
    assert "partition fruit-0 changed: leader 2 → 1, isr 2,1 → 1, " in done.stdout
    assert "password - → ********" in done.stdout
    assert "- → -" not in done.stdout
    assert lines[-1].startswith(f"offset {_END - 1}, epoch 1, metadata.version 4.3-IV0")
    assert not any("NoOp" in line for line in lines)


def test_without_an_offset_only_what_comes_is_shown(controller: _Controller) -> None:
    done = ended(_run(controller, "--until", str(_END - 1)))
    assert done.stdout.splitlines() == [
        "epoch 1: controller 1 is the active controller",
        f"offset {_END - 1}, epoch 1, metadata.version 4.3-IV0",
    ]


@pytest.mark.parametrize("flags", [(), ("--show-secrets",)], ids=["masked", "shown"])
def test_records_as_kap_decode_has_them(controller: _Controller, flags: tuple[str, ...]) -> None:
    done = _run(controller, "--from", "5", "--until", str(_END - 1), "--output", "jsonl", *flags)
    assert done.exit_code == 0, done.output
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [row for row in segment_rows(FOLDER / f"{0:020}.log", mask=not flags)]
    assert shown == [{name: row[name] for name in shown[0]} for row in rows if row["offset"] >= 5]
    assert (MASK in done.stdout) is not bool(flags)


def test_a_snapshot_in_place_of_the_first_records(controller: _Controller) -> None:
    controller.start = 76
    done = ended(_run(controller, "--from", "0", "--until", str(_END - 1)))
    assert f"snapshot {76:020}-{1:010}: topic fruit added: topicId=" in done.stdout
    records = _run(controller, "--from", "0", "--until", str(_END - 1), "--output", "jsonl")
    shown = [json.loads(line) for line in records.stdout.splitlines()]
    in_snapshot = [row for row in shown if row["offset"] is None]
    assert {row["snapshot"] for row in in_snapshot} == {f"snapshot {76:020}-{1:010}"}
    assert "no active controller" not in done.stdout
    assert [row["offset"] for row in shown[len(in_snapshot) :]] == list(range(76, _END))


def test_who_may_not(controller: _Controller) -> None:
    controller.refusal = codes.CLUSTER_AUTHORIZATION_FAILED
    assert "needs ClusterAction" in ended(_run(controller), 1).stderr


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--follow"], "no quorum is named: give --bootstrap-controller"),
        (["--follow", "{folder}"], "it goes without DIR"),
        (["--follow", "--at", "3"], "--at does not go with --follow"),
        (["--follow", "--diff", "3", "4"], "--diff does not go with --follow"),
        (["--follow", "--output", "json"], "take jsonl"),
        (["--follow", "--from", "5", "--until", "4"], "--until 4 is before --from 5"),
        (["{folder}", "--from", "5"], "--from does not go with a folder"),
        (["{folder}", "--until", "5"], "--until does not go with a folder"),
        (["{folder}", "--output", "jsonl"], "--output jsonl is for --follow"),
        (["{folder}", "--bootstrap-controller", "h:1"], "--bootstrap-controller does not go"),
        (["{folder}", "--trace"], "--trace does not go"),
        ([], "Missing argument 'DIR', or --follow"),
    ],
)
def test_what_has_no_effect_is_refused(
    arguments: list[str], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KAP_BOOTSTRAP_CONTROLLER", raising=False)
    filled = [each.format(folder=FOLDER) for each in arguments]
    done: Any = run_kap("metadata", *filled)
    assert done.exit_code == 2
    assert fault in done.stderr
