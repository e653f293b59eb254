"""A log on disk is the log in memory, and whole after kill -9 at any change of a file."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server.partitions.disk.log_dir import HIGH_WATERMARKS, RECOVERY_POINTS
from kafka_admin_proto.server.partitions.log import PartitionLog
from tests.helpers.profile import draws
from tests.server.partitions.disk.stored import Disk, Killed, OnDisk, killed_at
from tests.server.partitions.steps import ANY, COMPACTED, Ours, usable

RELEASE = "4.4"
Drawn = tuple[dict[str, str], list[tuple[str, Any]]]


@pytest.fixture(autouse=True, scope="module")
def no_disk() -> Iterator[None]:
    """What is written is seen by all processes at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs") / "data"


def emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def rising(done: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The steps with leader epochs that do not fall, as those of leaders do."""
    epoch, found = 0, []
    for name, argument in done:
        if name == "append":
            epoch = max(epoch, argument["leader_epoch"])
            argument = {**argument, "leader_epoch": epoch}
        elif name == "marker":
            epoch = max(epoch, argument[4])
            argument = (*argument[:4], epoch, *argument[5:])
        elif name == "epoch":
            argument = epoch = max(epoch, argument)
        found.append((name, argument))
    return found


def batches(log: PartitionLog) -> set[tuple[int, bytes]]:
    found = [(each.base_offset, each.data) for part in log.segments for each in part.batches]
    assert found == sorted(found)
    return {each for each in found if each[0] >= log.segments[0].base_offset}


def facts(log: PartitionLog) -> list[object]:
    """What follows from the batches: epochs, producers, and transactions.

    As in Kafka a start from the batches that are left may forget producers and parts of
    transactions whose records were deleted.
    """
    producers = sorted(
        (each.producer_id, each.producer_epoch, each.last_sequence)
        for each in log.producers()
        if each.batches and each.batches[-1].last_offset >= log.start_offset
    )
    transactions: list[object] = []
    if not log.start_offset:
        transactions += [each for part in log.segments for each in part.aborted]
        open_ones = {each.producer_id: each.current_txn_start_offset for each in log.producers()}
        transactions.append(open_ones)
    epochs = [each for each in log.epochs.entries if each[1] < log.end_offset]
    return [log.start_offset, log.end_offset, epochs, producers, transactions]


@pytest.mark.exhaustive
@pytest.mark.parametrize("steps", [ANY, COMPACTED], ids=["any", "compacted"])
@settings(max_examples=draws(200), deadline=None)
@given(data=st.data())
def test_as_in_memory(folder: Path, steps: st.SearchStrategy[Drawn], data: st.DataObject) -> None:
    drawn, done = data.draw(steps)
    configs = usable(drawn, RELEASE)
    memory = Ours(configs, RELEASE)
    disk = OnDisk(configs, RELEASE, emptied(folder), deletes=data.draw(st.booleans()))
    for name, argument in [("now", 0), *rising(done)]:
        assert disk.do(name, argument) == memory.do(name, argument)
        assert disk.state() == memory.state()
        if data.draw(st.integers(0, 15)) == 0:
            disk.reopen(is_stopped=data.draw(st.booleans()))
            for each in (disk, memory):
                each.log.expire_producers(memory.now)
            assert batches(disk.log) == batches(memory.log)
            assert facts(disk.log) == facts(memory.log)
            return
    assert batches(disk.log) == batches(memory.log)


@pytest.mark.parametrize("steps", [ANY, COMPACTED], ids=["any", "compacted"])
@settings(max_examples=draws(400), deadline=None)
@given(data=st.data())
@pytest.mark.exhaustive
def test_kills(folder: Path, steps: st.SearchStrategy[Drawn], data: st.DataObject) -> None:
    """What was done before the kill is there, and what was being done is there or not."""
    drawn, done = data.draw(steps)
    configs = usable(drawn, RELEASE)
    before, after = Ours(configs, RELEASE), Ours(configs, RELEASE)
    disk = OnDisk(configs, RELEASE, emptied(folder))
    # A producer may be forgotten at a start, and known again by its next batch, as in Kafka.
    disk.settings = replace(disk.settings, producer_id_expiration_ms=1 << 60)
    for each in (disk, before, after):
        each.log.settings = disk.settings
    kills = data.draw(st.tuples(st.integers(1, 120), st.floats(0, 1)))
    try:
        with killed_at(*kills):
            for name, argument in [("now", 0), *rising(done)]:
                answer = after.do(name, argument)
                assert disk.do(name, argument) == answer
                disk.disk.dir.write(RECOVERY_POINTS)
                disk.disk.dir.write(HIGH_WATERMARKS)
                before.do(name, argument)
    except Killed:
        pass
    try:
        with killed_at(*data.draw(st.tuples(st.integers(1, 30), st.floats(0, 1)))):
            disk.reopen(is_stopped=False)
    except Killed:
        disk.reopen(is_stopped=False)
    check_recovered(disk, before, after)
    check_goes_on(disk)


@pytest.mark.exhaustive
def test_a_kill_at_any_change_of_a_compaction(tmp_path: Path) -> None:
    """Once all files of a cleaned segment are named .swap it is in the place of the others.

    A start that is killed in turn leaves the rest to the next one.
    """
    configs = usable({
        "cleanup.policy": "compact", "segment.bytes": "300", "min.cleanable.dirty.ratio": "0",
    }, RELEASE)  # fmt: skip
    drawn = {
        "records": [(0, b"a", b"1", ()), (0, b"b", b"2", ())], "compression": "none",
        "producer": 1, "epoch": 0, "sequence": "next", "transactional": True, "fault": None,
        "at": 0, "leader_epoch": 0,
    }  # fmt: skip
    before, after = Ours(configs, RELEASE), Ours(configs, RELEASE)
    disk = OnDisk(configs, RELEASE, tmp_path / "filled")
    steps = [
        ("now", 0), *[("append", drawn)] * 4, ("marker", (1, 0, False, 0, 0, 0)),
        *[("append", drawn)] * 4, ("marker", (1, 0, True, 0, 0, 0)),
        *[("append", drawn | {"transactional": False})] * 3, ("high", -1),
    ]  # fmt: skip
    for step in steps:
        for each in (before, after, disk):
            each.do(*step)
    disk.settings = replace(disk.settings, segment_bytes=2000)  # cleaned into one
    after.log.settings = disk.settings
    after.do("compact", None)
    disk.disk.dir.write(RECOVERY_POINTS)
    disk.disk.dir.release()

    is_after = []
    for change in itertools.count(1):
        disk.disk = Disk(Path(shutil.copytree(tmp_path / "filled", tmp_path / str(change))))
        disk.log = disk.disk.open(disk.settings, disk.now)
        disk.log.high_watermark = before.log.high_watermark
        try:
            with killed_at(change, 0.5):
                disk.do("compact", None)
            break
        except Killed:
            pass
        with killed_at(1 + change % 5, 0.5), contextlib.suppress(Killed):
            disk.reopen(is_stopped=False)
        disk.reopen(is_stopped=False)
        check_recovered(disk, before, after)
        assert disk.disk.dir.notes == []
        is_after.append(batches(disk.log) == batches(after.log))
    assert is_after == sorted(is_after)
    assert {*is_after} == {False, True}


def check_recovered(disk: OnDisk, before: Ours, after: Ours) -> None:
    found, first, second = (batches(each.log) for each in (disk, before, after))
    assert first & second <= found <= first | second
    if found == second and disk.log.start_offset == after.log.start_offset:
        before = after
    if found in (first, second) and disk.log.end_offset == before.log.end_offset:
        assert facts(disk.log)[2:] == facts(before.log)[2:]


def check_goes_on(disk: OnDisk) -> None:
    """Records are appended, and are there after a clean stop too."""
    data = write_batch(Batch.of([Record(0, disk.now, b"k", b"v")]))
    disk.log.append(data, leader_epoch=9, now_ms=disk.now)
    expected = batches(disk.log), facts(disk.log)
    disk.reopen(is_stopped=True)
    assert (batches(disk.log), facts(disk.log)) == expected
    assert disk.disk.dir.notes == []
    disk.disk.dir.release()
