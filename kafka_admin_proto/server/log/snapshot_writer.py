"""Writes snapshots of a large cluster in a thread of their own, while it answers requests.

A working thread holds Python's interpreter lock, for which a request would wait some milliseconds
each time. So the thread pauses after some records.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from kafka_admin_proto.errors import EncodeError
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.server.log.folder import NodeLog
from kafka_admin_proto.server.log.snapshots import snapshot_parts

#: Clusters with fewer topics are written at once.
_SMALL_TOPICS = 200
#: The pause between two batches of a snapshot, in which requests are answered.
_TURN_S = 0.001


class SnapshotWriter:
    """Writes one snapshot at a time."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def write(self, cluster: ClusterState, logs: Sequence[NodeLog], now_ms: int) -> None:
        """Write a snapshot of the cluster as it is now to the folders of nodes.

        The log has all records of the snapshot. If it cannot be written, the logger SERVER
        says so, and the next snapshot is written as if it had been.
        """
        last_timestamp = logs[0].last_timestamp
        for log in logs:
            log.uncovered_bytes = 0
        if len(cluster.topics) < _SMALL_TOPICS:
            _written(cluster, logs, last_timestamp, now_ms, 0)
            return
        self._thread = threading.Thread(
            target=_written,
            args=(cluster.copied(), logs, last_timestamp, now_ms, _TURN_S),
            name="kafka-snapshot",
        )
        self._thread.start()

    def wait(self) -> None:
        """Wait until no snapshot is being written."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None


def _written(
    cluster: ClusterState, logs: Sequence[NodeLog], last_timestamp: int, now_ms: int, turn_s: float
) -> None:
    try:
        parts = []
        for part in snapshot_parts(cluster, last_timestamp, now_ms):
            parts.append(part)
            if turn_s:
                time.sleep(turn_s)
        data = b"".join(parts)
        for log in logs:
            log.write_snapshot(cluster.offset + 1, cluster.epoch, data)
            log.clean(now_ms)
    except (OSError, EncodeError) as error:
        SERVER.warning("no snapshot of the metadata log was written: %s", error)
