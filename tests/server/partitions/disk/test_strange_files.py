"""Damaged, strange and linked files in a log directory; nothing outside of it changes."""

from __future__ import annotations

import errno
import itertools
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_admin_proto.kept_files import KeptFileError
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, read_segment, write_batch
from kafka_admin_proto.records.metadata.entities import Partition
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.disk import log_dir
from kafka_admin_proto.server.partitions.failures import RecordsRefused
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.replication.lags import Lags
from kafka_admin_proto.server.replication.replicas import ReplicatedLog
from tests.helpers.profile import SEED, draws
from tests.server.partitions.disk.stored import TOPIC_ID, Disk
from tests.server.served import Served

SETTINGS = LogSettings.of(
    {"internal.segment.bytes": "400", "index.interval.bytes": "0"}, ReleaseNumber(4, 3)
)
NOW_MS = 1_700_000_000_000
LAST = 30


def fill(log: PartitionLog) -> None:
    """Records of idempotent and transactional producers, in segments of four batches."""
    for offset in range(LAST):
        epoch = offset // 10
        if offset in (6, 17):
            log.append_marker(
                2, 0, commit=False, coordinator_epoch=0, leader_epoch=epoch, now_ms=NOW_MS
            )
            continue
        batch = Batch.of([Record(0, NOW_MS + offset, b"k%d" % offset, b"v" * 10)])
        is_transactional = offset in (5, 16)
        batch.producer_id, batch.producer_epoch = (2, 0) if is_transactional else (1, 0)
        sent = [each for each in log.producers() if each.producer_id == batch.producer_id]
        batch.base_sequence = sent[0].last_sequence + 1 if sent else 0
        batch.is_transactional = is_transactional
        log.append(write_batch(batch), leader_epoch=epoch, now_ms=NOW_MS)
    log.high_watermark = log.end_offset


@pytest.fixture(scope="module", params=["stopped", "killed"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp(request.param) / request.param
    disk = Disk(folder)
    fill(disk.open(SETTINGS, NOW_MS))
    if request.param == "stopped":
        disk.dir.close(1, NOW_MS)
    else:
        for name in disk.dir.checkpoints.values():
            disk.dir.write(name)
        disk.dir.release()
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / filled.name))


def opened(folder: Path) -> tuple[PartitionLog, list[str]]:
    disk = Disk(folder)
    return disk.open(SETTINGS, NOW_MS), disk.dir.notes


def facts(log: PartitionLog) -> list[object]:
    return [
        [each.data for part in log.segments for each in part.batches],
        [each for part in log.segments for each in part.aborted],
        log.epochs.entries,
        sorted((each.producer_id, each.last_sequence) for each in log.producers()),
    ]


def test_all_is_there(folder: Path) -> None:
    log, notes = opened(folder)
    assert notes == []
    assert (log.end_offset, len(log.segments) > 5) == (LAST, True)
    assert len(log.aborted_transactions(0, LAST)) == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "pattern",
    [
        "*.index",
        "*.timeindex",
        "*.txnindex",
        "*.snapshot",
        "leader-epoch-checkpoint",
        "../*-checkpoint",
    ],
)
@pytest.mark.parametrize("damage", ["cut", "grown", "flipped", "emptied", "removed", "huge"])
def test_what_follows_from_the_batches_is_made_anew(
    folder: Path, pattern: str, damage: str
) -> None:
    expected = facts(opened(folder)[0])
    for path in sorted((folder / "t-0").glob(pattern)):
        data = path.read_bytes()
        match damage:
            case "removed":
                path.unlink()
            case "huge":
                os.truncate(path, 1 << 40)
            case _:
                path.write_bytes({
                    "cut": data[:-1], "grown": data + b"\xff", "emptied": b"",
                    "flipped": bytes(each ^ 255 for each in data),
                }[damage])  # fmt: skip
    try:
        log, _ = opened(folder)
    except KeptFileError as error:
        assert (damage, "of at most" in str(error)) == ("huge", True)
        return
    found = facts(log)
    if pattern == "*.txnindex" and damage in ("removed", "emptied"):
        del expected[1], found[1]  # as in Kafka, the same as a segment without aborted transactions
    assert found == expected


@pytest.mark.exhaustive
@pytest.mark.parametrize("at", [0, 10, 61, 90, 150, 330])
@pytest.mark.parametrize("damage", ["cut", "flipped", "zeros", "grown"])
def test_a_damaged_tail_is_cut_off(folder: Path, damage: str, at: int) -> None:
    path = max((folder / "t-0").glob("*.log"))
    whole = [each.base_offset for each in opened(folder)[0].segments[-1].batches]
    (folder / log_dir.CLEAN_SHUTDOWN).unlink(missing_ok=True)
    data = path.read_bytes()
    at = min(at, len(data) - 5)
    path.write_bytes({
        "cut": data[:at], "flipped": data[:at] + bytes([data[at] ^ 64]) + data[at + 1 :],
        "zeros": data[:at] + bytes(len(data) - at), "grown": data + data[: at + 1],
    }[damage])  # fmt: skip
    log, notes = opened(folder)
    left = [each.base_offset for each in log.segments[-1].batches]
    assert left == whole[: len(left)]
    assert sum(each.size_bytes for each in log.segments[-1].batches) == path.stat().st_size
    assert [each for each in notes if str(path) in each] or path.stat().st_size == at
    log.append(write_batch(Batch.of([Record(0, 1, b"k", b"v")])), leader_epoch=9, now_ms=NOW_MS)
    assert opened(folder)[0].end_offset == log.end_offset


@pytest.mark.parametrize("at", [3, 10, 16, 23, 61, 90, 120])
def test_damage_before_the_recovery_point_is_refused(folder: Path, at: int) -> None:
    path = sorted((folder / "t-0").glob("*.log"))[1]
    data = path.read_bytes()
    path.write_bytes(data[:at])
    before = {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    with pytest.raises(KeptFileError, match="fault at byte") as raised:
        opened(folder)
    assert str(path) in str(raised.value)
    assert {each: each.read_bytes() for each in before} == before


def test_a_flipped_bit_before_a_checksum_takes_no_record_away_in_silence(
    filled: Path, tmp_path: Path
) -> None:
    """What is no next batch is refused, or is cut off with a line as the end of the log.

    As in Kafka, a leader epoch is believed, and a base offset behind the next one is a gap, as
    compaction leaves them; that can only be seen where a batch follows.
    """
    logs = sorted((filled / "t-0").glob("*.log"))
    flips = [
        (path.name, batch.offset_in_data + byte, bit)
        for path in logs
        for batch in read_segment(path)
        if isinstance(batch, Batch)
        for byte in range(17)
        for bit in range(8)
    ]
    log, _ = opened(Path(shutil.copytree(filled, tmp_path / "whole")))
    whole = [each.data[17:] for part in log.segments for each in part.batches]
    for number, (name, at, bit) in enumerate(random.Random(SEED).sample(flips, draws(120))):
        folder = Path(shutil.copytree(filled, tmp_path / str(number)))
        path = folder / "t-0" / name
        data = bytearray(path.read_bytes())
        data[at] ^= 1 << bit
        path.write_bytes(data)
        disk = Disk(folder)
        try:
            log = disk.open(SETTINGS, NOW_MS)
            found = [each.data[17:] for part in log.segments for each in part.batches]
        except KeptFileError as error:
            assert str(path.parent) in str(error)
            continue
        finally:
            disk.dir.release()
        assert found == whole[: len(found)], (name, at, bit)
        assert len(found) == len(whole) or disk.dir.notes, (name, at, bit)


def to_link(path: Path, outside: Path) -> None:
    shutil.move(path, outside / "target")
    path.symlink_to(outside / "target")


def to_pipe(path: Path, outside: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_folder(path: Path, outside: Path) -> None:
    path.unlink()
    path.mkdir()


FILES = (
    "t-0/*0.log", "t-0/*.index", "t-0/*.txnindex", "t-0/*.snapshot", "t-0/leader-epoch-checkpoint",
    "t-0/partition.metadata", log_dir.HIGH_WATERMARKS, log_dir.CLEAN_SHUTDOWN,
)  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "change"),
    [*itertools.product(FILES, [to_link, to_pipe, to_folder]), ("t-0", to_link)],
)
def test_links_pipes_and_folders(
    folder: Path, tmp_path: Path, pattern: str, change: Callable[[Path, Path], None]
) -> None:
    (folder / log_dir.CLEAN_SHUTDOWN).touch()
    path, outside = sorted(folder.glob(pattern))[0], tmp_path / "outside"
    outside.mkdir()
    change(path, outside)
    before = {str(x): x.read_bytes() for x in outside.rglob("*") if x.is_file()}
    with pytest.raises((KeptFileError, OSError)) as raised:
        opened(folder)
    assert str(path) in str(raised.value)
    assert {str(x): x.read_bytes() for x in outside.rglob("*") if x.is_file()} == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t-0/notes.txt", "no file of a log"),
        ("t-0/5.log", "no file of a log"),
        ("t-0/other.log.swap", "no file of a log"),
        ("t-0/other.part", "no file of a log"),
        ("t-0/00000000000000000005.backup", "no file of a log"),
        ("lost+found/x", "no partition's folder"),
        ("t-007/x", "no partition's folder"),
    ],
)
def test_strange_names_are_left_alone(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"mine")
    log, notes = opened(folder)
    assert log.end_offset == LAST
    assert [each for each in notes if text in each]
    assert path.read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("name", "text"),
    [("99999999999999999999.log", "no offset"), ("00000000000000000003.log", "begins before")],
)
def test_segments_that_cannot_be(folder: Path, name: str, text: str) -> None:
    (folder / "t-0" / name).write_bytes(b"")
    with pytest.raises(KeptFileError, match=text):
        opened(folder)


@pytest.mark.parametrize("is_last", [True, False])
def test_a_log_that_says_to_be_huge_costs_nothing(folder: Path, is_last: bool) -> None:
    (folder / log_dir.CLEAN_SHUTDOWN).unlink(missing_ok=True)
    path = (max if is_last else min)((folder / "t-0").glob("*.log"))
    os.truncate(path, 1 << 40)
    if is_last:
        assert opened(folder)[0].end_offset == LAST
        return
    (folder / log_dir.RECOVERY_POINTS).write_text("0\n1\nt 0 20\n")
    with pytest.raises(KeptFileError, match="there is a batch of magic 0"):
        opened(folder)


def test_what_was_being_written_or_removed_goes(folder: Path) -> None:
    for name in ("0.index.cleaned.part", "0.log.cleaned", "3.log.deleted", "9.snapshot.part"):
        (folder / "t-0" / name.zfill(len(name) + 19)).touch()
    (folder / "t-0" / "leader-epoch-checkpoint.part").touch()
    before = len(list((folder / "t-0").iterdir()))
    assert opened(folder)[1] == []
    assert len(list((folder / "t-0").iterdir())) in (before - 5, before - 4)  # a new snapshot


def test_a_cleaned_segment_that_does_not_read_replaces_nothing(folder: Path) -> None:
    path = folder / "t-0" / f"{0:020}.log.swap"
    path.write_bytes(b"cut")
    before = {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    with pytest.raises(KeptFileError, match="no whole batch is in the last 3 bytes") as raised:
        opened(folder)
    assert str(path) in str(raised.value)
    assert {each: each.read_bytes() for each in before} == before


def test_message_sets_are_refused(folder: Path) -> None:
    path = folder / "t-0" / f"{LAST:020}.log"
    batch = Batch.of([Record(LAST, NOW_MS, b"k", b"v" * 40)])
    batch.magic = 1
    path.write_bytes(write_batch(batch))
    with pytest.raises(KeptFileError, match="is of Kafka before"):
        opened(folder)


@pytest.mark.parametrize(
    ("key", "text"), [(b"", "does not read"), (b"\0\0\0\2", "does not read"),
                      (b"\0\0\0\x63", "is no marker of a transaction")],
)  # fmt: skip
def test_a_control_record_that_is_no_marker_is_refused(folder: Path, key: bytes, text: str) -> None:
    batch = Batch.of([Record(LAST, NOW_MS, key, None)])
    batch.is_control = batch.is_transactional = True
    batch.producer_id, batch.producer_epoch = 2, 0
    (folder / "t-0" / f"{LAST:020}.log").write_bytes(write_batch(batch))
    with pytest.raises(KeptFileError, match=f"the control record of offset {LAST} {text}"):
        opened(folder)


@pytest.mark.parametrize(
    ("damage", "code"), [(0, codes.KAFKA_STORAGE_ERROR), (200, codes.CORRUPT_MESSAGE)]
)
def test_records_that_are_damaged_later_have_kafkas_codes(
    folder: Path, damage: int, code: int
) -> None:
    log, _ = opened(folder)
    path = min((folder / "t-0").glob("*.log"))
    data = path.read_bytes()
    path.write_bytes(data[:damage] + b"\xff" * (len(data) - damage) * bool(damage))
    with pytest.raises(ApiFailure) as raised:
        log.offset_for_time(NOW_MS + 3, up_to=LAST)
    assert raised.value.code == code


def test_a_full_disk_refuses_records_and_keeps_the_log(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, _ = opened(folder)
    partition = Partition([1], [TOPIC_ID], [1], [], [], 1, 0, 5, 0, [], [])
    replicas = ReplicatedLog(log, partition, Lags(Served().state), lambda: None)
    data = write_batch(Batch.of([Record(0, NOW_MS, b"k", b"v" * 50)]))

    def write(file: int, data: memoryview, at: int) -> int:
        if at > 250:
            raise OSError(errno.ENOSPC, "No space left on device")
        return pwrite(file, data[:30], at)

    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", write)
    refused = 0
    for _ in range(20):
        before = log.end_offset
        try:
            replicas.append(data, leader_epoch=5, now_ms=NOW_MS)
        except RecordsRefused as failure:
            assert (failure.code, log.end_offset) == (codes.KAFKA_STORAGE_ERROR, before)
            refused += 1
    assert refused
    monkeypatch.undo()
    replicas.append(data, leader_epoch=5, now_ms=NOW_MS)
    expected = log.read(0, 1 << 20, up_to=log.end_offset), log.end_offset
    again, _ = opened(folder)
    assert (again.read(0, 1 << 20, up_to=log.end_offset), again.end_offset) == expected


def test_deleted_folders_go_and_what_links_in_them_name_stays(folder: Path, tmp_path: Path) -> None:
    gone = folder / f"u-3.{'0' * 32}-delete"
    gone.mkdir()
    (tmp_path / "kept").write_text("mine")
    (gone / "link").symlink_to(tmp_path / "kept")
    (gone / "to").symlink_to(tmp_path)
    opened(folder)
    assert not gone.exists()
    assert (tmp_path / "kept").read_text() == "mine"
