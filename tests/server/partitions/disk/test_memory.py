"""A log on disk costs memory by its batches, and not by their bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server.partitions.disk.log_dir import CLEAN_SHUTDOWN
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.helpers.memory import traced
from tests.server.partitions.disk.stored import Disk

NOW_MS = 1_700_000_000_000
BATCHES = 400
SETTINGS = LogSettings.of({"segment.bytes": "4194304"}, ReleaseNumber(4, 3))


@pytest.mark.parametrize("is_killed", [False, True])
def test_opening_and_reading(is_killed: bool, tmp_path: Path) -> None:
    data = write_batch(Batch.of([Record(0, NOW_MS, b"key", bytes(60_000))]))
    disk = Disk(tmp_path)
    log = disk.open(SETTINGS, NOW_MS)
    for _ in range(BATCHES):
        log.append(data, leader_epoch=0, now_ms=NOW_MS)
    disk.dir.close(1, NOW_MS)
    if is_killed:
        (tmp_path / CLEAN_SHUTDOWN).unlink()
    with traced() as memory:
        disk = Disk(tmp_path)
        log = disk.open(SETTINGS, NOW_MS)
        log.high_watermark = log.end_offset
        for offset in range(0, BATCHES, 7):
            assert len(log.read(offset, 1, up_to=BATCHES)) == len(data)
    disk.dir.release()
    assert log.size_bytes == BATCHES * len(data) > 20 << 20
    assert memory.kept < BATCHES * 1000
    assert memory.peak < 1 << 20
