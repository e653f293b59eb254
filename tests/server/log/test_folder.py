"""Segments roll and old files go when the configs say so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from kafka_admin_proto.messages import NoOpRecord
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.log import FOLDER_NAME, replay
from kafka_admin_proto.server.log.batches import metadata_batch
from kafka_admin_proto.server.log.folder import NodeLog
from kafka_admin_proto.server.log.settings import LogSettings
from kafka_admin_proto.server.log.snapshots import snapshot_bytes

_BATCH_BYTES = len(metadata_batch([NoOpRecord()], 0, 1, 30, 0))
_NEVER = -1


@contextmanager
def opened(folder: Path, **settings: int) -> Iterator[NodeLog]:
    limits = {
        "segment_bytes": 1 << 30, "segment_ms": 1 << 40, "snapshot_bytes": 1,
        "snapshot_interval_ms": 0, "retention_bytes": _NEVER, "retention_ms": _NEVER,
    }  # fmt: skip
    with closing(NodeLog(folder, LogSettings(**{**limits, **settings}))) as log:
        yield log


def write(log: NodeLog, *times: int) -> None:
    """A batch at each time, in milliseconds."""
    for now in times:
        data = metadata_batch([NoOpRecord()], log.end, 1, 30, now)
        log.write(data, log.end, log.end + 1, now)


def snapshot(log: NodeLog, now: int) -> None:
    state = ClusterState(offset=log.end - 1, epoch=1)
    log.write_snapshot(log.end, 1, snapshot_bytes(state, now, now))


def names(folder: Path, suffix: str) -> list[int]:
    """The offsets that segments (".log") or snapshots (".checkpoint") have in their names."""
    return sorted(int(path.name[:20]) for path in (folder / FOLDER_NAME).glob(f"*{suffix}"))


@pytest.mark.parametrize(
    ("settings", "starts"),
    [
        ({"segment_bytes": 3 * _BATCH_BYTES}, [0, 3, 6]),
        ({"segment_bytes": 1}, [0, 1, 2, 3, 4, 5, 6]),  # a batch is larger: one for each
        ({"segment_ms": 20}, [0, 3, 6]),
    ],
)
def test_segments_roll(tmp_path: Path, settings: dict[str, int], starts: list[int]) -> None:
    with opened(tmp_path, **settings) as log:
        write(log, 10, 20, 30, 40)
    with opened(tmp_path, **settings) as log:  # the age is that of the segment, whoever began it
        write(log, 50, 60, 70)
    assert names(tmp_path, ".log") == starts
    assert replay(tmp_path).state.offset == 6


@pytest.mark.parametrize(
    ("settings", "snapshots", "start"),
    [
        ({}, [2, 4, 6], 0),
        ({"retention_ms": 50}, [2, 4, 6], 0),
        ({"retention_ms": 40}, [4, 6], 4),
        ({"retention_ms": 0}, [6], 6),
        ({"retention_bytes": 0}, [6], 6),
        ({"retention_bytes": 1 << 20}, [2, 4, 6], 0),
    ],
)
def test_what_is_old_goes_but_for_the_newest_snapshot(
    tmp_path: Path, settings: dict[str, int], snapshots: list[int], start: int
) -> None:
    with opened(tmp_path, segment_bytes=2 * _BATCH_BYTES, **settings) as log:
        for now in (10, 30, 50):
            write(log, now - 10, now)
            snapshot(log, now)
        write(log, 55)
        log.clean(60)
        assert names(tmp_path, ".checkpoint") == snapshots
        assert log.start == start
    assert not replay(tmp_path).problems


def test_indexes_of_a_real_node_go_with_their_segments(tmp_path: Path) -> None:
    with opened(tmp_path, segment_bytes=1, retention_bytes=0) as log:
        write(log, 1, 2)
        for suffix in ("index", "timeindex", "snapshot"):
            (log.folder / f"{0:020}.{suffix}").touch()
        snapshot(log, 2)
        write(log, 3)
        snapshot(log, 3)
        log.clean(3)
        assert {path.name[:20] for path in log.folder.glob("0*")} == {f"{2:020}", f"{3:020}"}
