"""What the log of a partition promises: producers, transactions, times, epochs, compaction."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, read_batches, write_batch
from kafka_admin_proto.server.partitions.compaction import compact
from kafka_admin_proto.server.partitions.failures import OffsetOutOfRange, RecordsRefused
from kafka_admin_proto.server.partitions.log import Appended, PartitionLog
from kafka_admin_proto.server.partitions.retention import apply_retention
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.releases import ReleaseNumber

NOW_MS = 1_700_000_000_000
MAX_INT = (1 << 31) - 1


def made(**configs: str) -> PartitionLog:
    given = {name.replace("_", "."): value for name, value in configs.items()}
    return PartitionLog("t", 0, LogSettings.of(given, ReleaseNumber(4, 3)), NOW_MS)


def append(
    log: PartitionLog, *records: tuple[bytes | None, bytes | None], at: int = NOW_MS, **fields: Any
) -> Appended:
    """Append a batch; ``fields`` are those of its header."""
    each = [Record(index, at, *record) for index, record in enumerate(records or [(b"k", b"v")])]
    batch = Batch.of(each)
    for name, value in fields.items():
        setattr(batch, name, value)
    epoch = max(log.epochs.latest, 0)
    found = log.append(write_batch(batch), leader_epoch=epoch, now_ms=at)
    log.high_watermark = log.end_offset
    return found


def produced(sequence: int, producer: int = 1, **fields: Any) -> dict[str, Any]:
    return {"producer_id": producer, "producer_epoch": 0, "base_sequence": sequence, **fields}


def test_the_last_five_batches_are_known_again() -> None:
    log = made()
    for sequence in range(6):
        append(log, **produced(sequence))
    found = [append(log, **produced(sequence)) for sequence in range(1, 6)]
    assert [(each.base_offset, each.duplicate) for each in found] == [
        (n, True) for n in range(1, 6)
    ]
    for sequence in (0, 7):
        with pytest.raises(RecordsRefused, match="5 \\(current end sequence number\\)") as refused:
            append(log, **produced(sequence))
        assert refused.value.code == codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.end_offset == 6


def test_sequences_wrap_around() -> None:
    log = made()
    append(log, (b"a", b""), (b"b", b""), **produced(MAX_INT - 1))
    assert append(log, **produced(0)).base_offset == 2
    assert append(log, (b"a", b""), (b"b", b""), **produced(MAX_INT - 1)).duplicate


def test_open_and_aborted_transactions() -> None:
    log = made()
    append(log)
    append(log, **produced(0, is_transactional=True))
    append(log)
    assert (log.last_stable_offset, log.high_watermark) == (1, 3)
    log.append_marker(1, 0, commit=False, coordinator_epoch=0, leader_epoch=0, now_ms=NOW_MS)
    assert log.last_stable_offset == 1  # until the marker is replicated
    log.high_watermark = 4
    assert log.last_stable_offset == 4
    (aborted,) = log.aborted_transactions(0, 4)
    assert (aborted.producer_id, aborted.first_offset, aborted.last_offset) == (1, 1, 3)
    assert log.producers()[0].current_txn_start_offset == -1


def test_record_errors_have_kafkas_texts() -> None:
    log = made(cleanup_policy="compact")
    with pytest.raises(RecordsRefused) as refused:
        append(log, (b"k", b"v"), (None, b"v"))
    text = "Compacted topic cannot accept message without key in topic partition t-0"
    assert refused.value.record_errors == [(1, text)]
    assert refused.value.code == codes.INVALID_RECORD


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
@pytest.mark.parametrize("level", ["1", "12"])
def test_recompression(compression: str, level: str) -> None:
    configs = {"compression_type": compression, "message_timestamp_type": "LogAppendTime"}
    if compression in ("lz4", "zstd"):
        configs[f"compression_{compression}_level"] = level
    log = made(**configs)
    assert append(log, (b"a", b"1" * 100), at=NOW_MS + 5).log_append_time_ms == NOW_MS + 5
    (batch,) = read_batches(log.read(0, 1, up_to=1))
    assert batch.compression == ("none" if compression == "uncompressed" else compression)
    assert batch.records == [Record(0, NOW_MS + 5, b"a", b"1" * 100)]


def test_segments_go_by_age_and_reads_know_it() -> None:
    log = made(internal_segment_bytes="100", retention_ms="1000")
    for second in range(4):
        append(log, at=NOW_MS + second * 1000)
    apply_retention(log, NOW_MS + 3_000)
    assert (log.start_offset, log.end_offset) == (2, 4)
    with pytest.raises(OffsetOutOfRange, match="log segments starting from offset: 2"):
        log.read(1, 100, up_to=4)
    found = log.offset_for_time(NOW_MS + 2_500, up_to=4)
    assert found is not None
    assert found.offset == 3


def test_compaction_keeps_the_latest_of_each_key() -> None:
    log = made(
        cleanup_policy="compact", internal_segment_bytes="100", min_cleanable_dirty_ratio="0",
        delete_retention_ms="1000",
    )  # fmt: skip
    for key, value in ((b"a", b"1"), (b"b", b"1"), (b"a", None), (b"c", b"1"), (b"c", b"2")):
        append(log, (key, value))

    def kept() -> list[tuple[int, bytes | None]]:
        batches = [each for segment in log.segments for each in segment.batches]
        read = [record for each in batches for record in next(read_batches(each.data)).records]
        return [(each.offset, each.key) for each in read]

    compact(log, NOW_MS)
    # Offset 3 is not cleaned against the last segment, which takes writes.
    assert kept() == [(1, b"b"), (2, b"a"), (3, b"c"), (4, b"c")]
    append(log, (b"d", b""))
    compact(log, NOW_MS + 2_000)
    assert kept() == [(1, b"b"), (4, b"c"), (5, b"d")]


@pytest.mark.parametrize(("segments", "deleted"), [("1", 2), ("3", 3)])
def test_a_log_is_cut_off_before_its_start(segments: str, deleted: int) -> None:
    """A new leader may lack all that the old one has left: the log goes on at its end."""
    log = made(internal_segment_bytes={"1": "1000", "3": "100"}[segments])
    for sequence in range(4):
        append(log, **produced(sequence))
    log.delete_before(deleted)
    if segments == "3":
        log.remove_segments(deleted, NOW_MS)
    assert log.segments[0].base_offset == (deleted if segments == "3" else 0)
    log.truncate(1, NOW_MS)
    assert (log.start_offset, log.high_watermark, log.end_offset) == (1, 1, 1)
    assert log.batches(1, 1 << 20, up_to=1) == []
    assert list(log.producers()) == []
    assert append(log, **produced(0)).base_offset == 1


def test_retention_leaves_an_empty_segment_of_an_old_log() -> None:
    log = made(retention_ms="1000")
    append(log)
    append(log)
    apply_retention(log, NOW_MS + 2000)
    assert (log.start_offset, log.end_offset) == (2, 2)
    assert [(each.base_offset, each.size_bytes) for each in log.segments] == [(2, 0)]


def test_compaction_leaves_the_last_segment_alone() -> None:
    """Though it would fit into one with the segments before it."""
    log = made(cleanup_policy="compact", min_cleanable_dirty_ratio="0")
    append(log)
    log.roll(NOW_MS)
    append(log)
    compact(log, NOW_MS)
    assert [each.base_offset for each in log.segments] == [0, 1]


def test_epochs_end_where_the_next_one_begins() -> None:
    log = made()
    log.begin_epoch(3)
    append(log)
    log.begin_epoch(5)
    append(log)
    assert [log.end_of_epoch(each) for each in (2, 3, 4, 5, 6)] == [
        (2, 0), (3, 1), (3, 1), (5, 2), (-1, -1),
    ]  # fmt: skip
    log.truncate(1, NOW_MS)
    assert (log.epochs.at(0), log.end_of_epoch(3), log.end_of_epoch(5)) == (3, (3, 1), (-1, -1))
