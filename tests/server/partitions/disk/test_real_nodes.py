"""A real node on a folder of ours, ours on its folder, a real one again; stopped or killed."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_admin_proto.admin import NewRecord, NewTopic, SyncAdminClient
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.state import State
from tests.helpers.requirements import require_oracle
from tests.records.dumped import check_beside, dump
from tests.server.releases import RELEASES
from tools.clusters import kraft

#: Topic and partition → its first offset, and offset, key and value of each committed record.
Records = dict[tuple[str, int], tuple[int, list[tuple[int, bytes | None, bytes | None]]]]
#: What DumpLogSegments says of files that do not fit each other.
_COMPLAINTS = ("mismatch", "Non-consecutive", "out of order", "orrupt", "Invalid", "isvalid: false")
_ABORTING = 4242
_GROUP = "billing"


def produce(bootstrap: str, release: str, topic: str, *, deletes: bool = True) -> None:
    """A topic with many segments and index entries; some of its records are deleted.

    A group has an offset in it.
    """
    segment_bytes = "internal.segment.bytes" if release >= "4" else "segment.bytes"
    configs: dict[str, str | None] = {segment_bytes: "900", "index.interval.bytes": "100"}
    with SyncAdminClient(bootstrap) as admin:
        admin.create_topics([NewTopic(topic, 2, 1, configs=configs)])
        for turn in range(12):
            rows = [NewRecord(key=b"%d-%d" % (turn, n), value=b"x" * 40 * n) for n in range(5)]
            written = admin.produce(topic, rows, compression="gzip" if turn % 2 else "none")
            assert [each.error for each in written] == [None] * len(written)
        altered = admin.alter_group_offsets(_GROUP, {(topic, 1): 3})
        assert [each.error for each in altered] == [None]
        if deletes:
            admin.delete_records({(topic, 0): 7})


def abort(state: State, name: str) -> None:
    """Two transactional batches of a producer, and the marker that aborts them."""
    topic = state.topic(name)
    assert topic is not None
    log = state.partitions.log(topic, 0).log
    epoch, now_ms = topic.partitions[0].leader_epoch, state.clock.now_ms()
    for sequence in range(2):
        batch = Batch.of([Record(0, now_ms, b"aborted", bytes(40))])
        batch.producer_id, batch.producer_epoch, batch.base_sequence = _ABORTING, 0, sequence
        batch.is_transactional = True
        log.append(write_batch(batch), leader_epoch=epoch, now_ms=now_ms)
    log.append_marker(
        _ABORTING, 0, commit=False, coordinator_epoch=0, leader_epoch=epoch, now_ms=now_ms
    )
    log.high_watermark = log.end_offset


def committed(bootstrap: str, topics: list[str]) -> Records:
    with SyncAdminClient(bootstrap) as admin:
        plan = admin.plan_reading(topics, isolation="read_committed")
        assert not plan.failed
        at = dict(plan.offsets)
        found: Records = {each: (start, []) for each, start in plan.offsets.items()}
        while left := {each: at[each] for each in at if at[each] < plan.ends[each]}:
            for each in admin.fetch(left, isolation="read_committed"):
                assert each.error is None
                place = each.topic, each.partition
                found[place][1].extend((row.offset, row.key, row.value) for row in each.records)
                at[place] = each.next_offset
    return found


def topics_of_group(bootstrap: str) -> list[str]:
    """The topics in which the group has its offset."""
    with SyncAdminClient(bootstrap) as admin:
        (found,) = admin.list_group_offsets({_GROUP: None})
    assert found.error is None
    assert {(each.partition, each.offset) for each in found.offsets} == {(1, 3)}
    return [each.topic for each in found.offsets]


def check_with_kafka(data: Path, topics: list[str]) -> None:
    """Kafka's tool reads every file of the topics' partitions, and finds that they fit."""
    folders = [data / f"{topic}-{number}" for topic in topics for number in range(2)]
    for suffix, option in [
        ("log", "--deep-iteration"), ("index", "--index-sanity-check"),
        ("timeindex", "--index-sanity-check"), ("index", "--verify-index-only"),
    ]:  # fmt: skip
        paths = sorted(path for each in folders for path in each.glob(f"*.{suffix}"))
        assert paths, suffix
        said = dump(paths, option)
        assert not [line for line in said.splitlines() if any(x in line for x in _COMPLAINTS)]
        if option == "--index-sanity-check":
            assert said.count("passed sanity check") == len(paths)
    beside = {
        suffix: [path for each in folders for path in sorted(each.glob(f"*.{suffix}"))]
        for suffix in ("index", "timeindex", "txnindex", "snapshot")
    }
    assert all(beside.values())
    check_beside([path for paths in beside.values() for path in paths])


def ours(
    data: Path, release: str, topic: str, act: Callable[[Cluster], None], *, is_killed: bool
) -> None:
    """A cluster of ours on the folder; killed, it leaves the files as they are while it runs."""
    runs_on = data.with_name("runs") if is_killed else data

    async def run() -> None:
        async with Cluster(release=release.rpartition(".")[0], data=runs_on) as cluster:
            await asyncio.to_thread(act, cluster)
            abort(cluster.state, topic)
            if is_killed:
                shutil.copytree(runs_on, data)

    if data.exists() and is_killed:
        data.rename(runs_on)
    asyncio.run(run())


@pytest.mark.exhaustive
@pytest.mark.xdist_group("real nodes on records")
@pytest.mark.parametrize(
    "is_killed",
    [pytest.param(False, marks=pytest.mark.explore, id="stopped"), pytest.param(True, id="killed")],
)
@pytest.mark.parametrize("release", RELEASES)
def test_there_and_back(
    release: str, is_killed: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    require_oracle()
    first, second = (tmp_path / each / "node1" / "data" for each in ("one", "two"))
    found: dict[str, Records] = {}

    def begin(cluster: Cluster) -> None:
        produce(cluster.bootstrap_servers, release, "a")
        found["ours"] = committed(cluster.bootstrap_servers, ["a"])

    def go_on(cluster: Cluster) -> None:
        assert committed(cluster.bootstrap_servers, ["a", "b"]) == found["theirs"]
        assert topics_of_group(cluster.bootstrap_servers) == ["a", "b"]
        produce(cluster.bootstrap_servers, release, "c")
        found["again"] = committed(cluster.bootstrap_servers, ["a", "b", "c"])

    ours(first, release, "a", begin, is_killed=is_killed)
    if not is_killed:
        check_with_kafka(first, ["a"])
    with kraft(tmp_path / "one", release) as real:
        assert committed(real.bootstrap, ["a"]) == found["ours"]
        assert topics_of_group(real.bootstrap) == ["a"]
        # A real node forgets deletions that were not written to its checkpoint yet, each minute.
        produce(real.bootstrap, release, "b", deletes=not is_killed)
        found["theirs"] = committed(real.bootstrap, ["a", "b"])
        (real.crash if is_killed else real.end)(1)
    shutil.copytree(first, second)
    ours(second, release, "c", go_on, is_killed=is_killed)
    if not is_killed:
        check_with_kafka(second, ["a", "b", "c"])
    with kraft(tmp_path / "two", release) as real:
        assert committed(real.bootstrap, ["a", "b", "c"]) == found["again"]
        assert topics_of_group(real.bootstrap) == ["a", "b", "c"]
    assert "goes on without" not in caplog.text, "a coordinator left out a record of the real node"
