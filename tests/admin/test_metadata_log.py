"""The metadata log of a real quorum, followed while its active controllers are killed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient, ConfigChange, ConfigResource, NewTopic
from kafka_admin_proto.admin.operations.metadata_log import (
    MetadataRecords,
    MetadataSnapshot,
    QuorumLeader,
)
from kafka_admin_proto.records import replay
from kafka_admin_proto.records.metadata.batch_replay import BatchReplayer
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.records.segments.rows import record_row
from tests.helpers.kap import ended, run_kap
from tests.helpers.requirements import require_oracle
from tests.records.dumped import camel, dumped, names_in
from tools.clusters import Cluster, kraft

pytestmark = [pytest.mark.explore, pytest.mark.xdist_group("live metadata log")]

#: Segments and snapshots of a few kilobytes, so that an observer that comes late needs a snapshot.
_SMALL = {
    "internal.metadata.log.segment.bytes": "8000",
    "internal.metadata.max.batch.size.in.bytes": "8000",
    "metadata.log.max.record.bytes.between.snapshots": "4000",
    "metadata.max.retention.bytes": "8000",
}
_WAIT_S = 60
_KILLS = 2


class _Followed:
    """What an observer was given, and the state that follows from it."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.leaders: list[QuorumLeader] = []
        self.snapshots: list[MetadataSnapshot] = []
        self.end = -1
        self.replayer = BatchReplayer("followed")
        self.moved = asyncio.Event()

    async def run(self, client: AdminClient) -> None:
        async for event in client.follow_metadata():
            if isinstance(event, QuorumLeader):
                self.leaders.append(event)
            else:
                self._take(event)
            self.moved.set()

    def _take(self, event: MetadataSnapshot | MetadataRecords) -> None:
        for batch in event.batches:
            self.replayer.take(batch)
        if isinstance(event, MetadataSnapshot):
            self.snapshots.append(event)
            self.end = event.end_offset
            return
        assert event.next_offset <= event.high_watermark
        self.end = event.next_offset
        for batch in event.batches:
            for record in batch.records:
                row = record_row(record, batch, METADATA_TOPIC, mask=False)
                assert row["problem"] is None
                self.rows.append((
                    batch.partition_leader_epoch, record.offset, camel(row["type"]),
                    row["version"], row["fields"],
                ))  # fmt: skip

    async def reach(self, offset: int) -> None:
        async with asyncio.timeout(_WAIT_S):
            while self.end < offset:
                self.moved.clear()
                await self.moved.wait()


@asynccontextmanager
async def _following(cluster: Cluster) -> AsyncIterator[tuple[_Followed, AdminClient]]:
    async with AdminClient(bootstrap_controllers=cluster.address("CONTROLLER")) as client:
        followed = _Followed()
        task = asyncio.create_task(followed.run(client))
        try:
            yield followed, client
            assert not task.done(), task.exception()
        finally:
            task.cancel()


async def _story(cluster: Cluster) -> tuple[_Followed, _Followed]:
    """Topics, configs, and active controllers killed; one observer from the start on."""
    async with (
        _following(cluster) as (early, controllers),
        AdminClient(cluster.bootstrap, timeout=_WAIT_S) as admin,
    ):
        for turn in range(_KILLS):
            await admin.create_topics([NewTopic(f"t{turn}-{n}", 3, 1) for n in range(15)])
            leader = (await controllers.describe_quorum()).leader
            await asyncio.to_thread(cluster.crash, leader)
            resource = ConfigResource("topic", f"t{turn}-1")
            change = ConfigChange(resource=resource, set={"retention.ms": str(turn + 1)})
            await admin.change_configs([change])
            await admin.delete_topics([f"t{turn}-2"])
            await asyncio.to_thread(cluster.start_again, leader)
        async with _following(cluster) as (late, _):
            quorum = await controllers.describe_quorum()
            assert quorum.high_watermark is not None
            await early.reach(quorum.high_watermark)
            await late.reach(quorum.high_watermark)
            shown = await asyncio.to_thread(_kap, cluster, quorum.high_watermark - 1)
    assert shown == [row for row in early.rows if row[1] < quorum.high_watermark][-len(shown) :]
    return early, late


def _kap(cluster: Cluster, until: int) -> list[tuple[Any, ...]]:
    """The records up to an offset by ``kap metadata --follow``, from an offset a bit before it."""
    address = cluster.address("CONTROLLER")
    command = f"metadata --follow --bootstrap-controller {address} --output jsonl"
    done = ended(run_kap(f"{command} --from {until - 4} --until {until}"))
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["offset"] for row in rows if row["type"] != "NoOpRecord"]
    return [
        (row["epoch"], row["offset"], camel(row["type"]), row["version"], row["fields"])
        for row in rows
        if "snapshot" not in row
    ]


def test_observers_of_a_quorum_whose_controllers_are_killed(tmp_path: Path) -> None:
    require_oracle()
    with kraft(tmp_path, nodes=3, properties=_SMALL) as cluster:
        early, late = asyncio.run(_story(cluster))
    folder = tmp_path / "node1" / "data" / "__cluster_metadata-0"
    files = dumped(folder)
    theirs = {
        row[2]: row[1:3] + row[4:]
        for name in names_in(folder)
        if name.endswith(".log")
        for row in files[name]
    }
    ours = [row for row in early.rows if row[1] >= min(theirs)]
    # Each committed record once, in order, as Kafka's own tool reads it from a controller's disk.
    assert [row[1] for row in early.rows] == list(range(early.end))
    assert ours == [theirs[row[1]] for row in ours]
    assert len({leader.epoch for leader in early.leaders}) > 2
    assert not early.snapshots
    # The one that came late has begun with a snapshot, and both have the same state.
    assert late.snapshots
    assert late.snapshots[0].end_offset > 0
    states = [each.replayer.replay.state for each in (early, late)]
    assert not [*early.replayer.problems, *late.replayer.problems]
    on_disk = replay(folder, min(each.end for each in (early, late)) - 1).state
    for state, followed in zip(states, (early, late), strict=True):
        if followed.end - 1 == on_disk.offset:
            assert state.compared() == on_disk.compared()
