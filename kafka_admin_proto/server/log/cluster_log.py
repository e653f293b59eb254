"""The metadata log of all nodes of a cluster: what its ``State`` appends to.

Each node has a folder of its own, all with the same log. A batch is written and synced in each
before ``append`` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.records.metadata.quorum_leader import QUORUM_STATE
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.log import files
from kafka_admin_proto.server.log.batches import (
    control_batch,
    leader_change,
    level_of,
    metadata_batch,
)
from kafka_admin_proto.server.log.folder import NodeLog
from kafka_admin_proto.server.log.settings import LogSettings
from kafka_admin_proto.server.log.snapshot_writer import SnapshotWriter
from kafka_admin_proto.server.log.snapshots import bootstrap_bytes
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message

#: The file of a new cluster's first records, in each node's folder.
BOOTSTRAP = "bootstrap.checkpoint"
_NOBODY = -1


class ClusterLog:
    """The log of the running nodes, led in ``epoch``; ``cluster`` is the state that it makes.

    ``logs`` are those of nodes 1, 2, and so on; all of them run at first.
    """

    def __init__(
        self,
        logs: Sequence[NodeLog],
        locks: Sequence[files.FolderLock],
        epoch: int,
        cluster: ClusterState,
        settings: LogSettings,
        clock: Clock,
    ) -> None:
        self.epoch = epoch
        self._logs = dict(enumerate(logs, 1))
        self._folders = {node: log.folder.parent for node, log in self._logs.items()}
        self._locks = locks
        self._settings = settings
        self._level = cluster.features.get(METADATA_VERSION, 0)
        self._kraft_version = cluster.kraft_version
        self._failed = False
        #: The contents of ``quorum-state`` in each node's folder; empty before the first epoch.
        self._leadership = b""
        self._snapshots = SnapshotWriter()
        self._clock = clock
        self._last_snapshot_s = clock.time_s()

    def append(self, records: Sequence[Message], offset: int) -> None:
        """Write a batch to every node and wait until all disks have it. Raises OSError."""
        level = level_of(records)
        self._level = self._level if level is None else level
        now = self._clock.now_ms()
        data = metadata_batch(records, offset, self.epoch, self._level, now)
        self._write(data, offset, offset + len(records), now)

    def applied(self, cluster: ClusterState) -> None:
        """Write a snapshot of the cluster if the log has grown enough, or the interval is over."""
        age_s = self._clock.time_s() - self._last_snapshot_s
        interval_ms = self._settings.snapshot_interval_ms
        grown = self._first.uncovered_bytes >= self._settings.snapshot_bytes
        if not grown and (not interval_ms or age_s * 1000 < interval_ms):
            return
        if not self._snapshots.is_busy:
            self._last_snapshot_s = self._clock.time_s()
            self._snapshots.write(cluster, list(self._logs.values()), self._clock.now_ms())

    def lead(self, leader: int, voters: Sequence[int], offset: int) -> None:
        """Begin the epoch: ``quorum-state``, then a LEADER_CHANGE record."""
        now = self._clock.now_ms()
        message = leader_change(leader, voters, list(self._logs))
        data = control_batch([("LEADER_CHANGE", message)], offset, self.epoch, now)
        self._leadership = msgspec.json.encode(self._quorum_state(leader, voters))
        for log in self._logs.values():
            files.replace(log.folder / QUORUM_STATE, self._leadership)
        self._write(data, offset, offset + 1, now)

    def detach(self, node: int) -> None:
        """A node has stopped: its log is not written to until it runs again."""
        self._snapshots.wait()
        self._logs.pop(node).close()

    def attach(self, node: int) -> None:
        """A node runs again: logs that lack batches get them, its own or those of the others.

        Raises MetadataLogError if its log cannot be read any more, or is another cluster's.
        """
        self._snapshots.wait()
        log = NodeLog(self._folders[node], self._settings)
        try:
            for other in self._logs.values():
                behind, ahead = (log, other) if log.end < other.end else (other, log)
                behind.follow(ahead)
            if self._leadership:
                files.replace(log.folder / QUORUM_STATE, self._leadership)
        except BaseException:
            log.close()
            raise
        self._logs[node] = log

    def write_bootstrap(self, folder: Path, records: Sequence[Message]) -> None:
        """Write ``bootstrap.checkpoint``, the first records, for nodes that lack it."""
        path = folder / BOOTSTRAP
        if not path.exists():
            files.replace(
                path, bootstrap_bytes(list(records), level_of(records) or 0, self._clock.now_ms())
            )

    @property
    def _first(self) -> NodeLog:
        return next(iter(self._logs.values()))

    def close(self) -> None:
        self._snapshots.wait()
        for log in self._logs.values():
            log.close()
        for lock in self._locks:
            lock.close()

    def _write(self, data: bytes, base: int, end: int, now: int) -> None:
        if self._failed:  # a failed batch may be on some nodes only
            raise OSError("an earlier write to the metadata log failed; start the cluster again")
        try:
            for log in self._logs.values():
                log.write(data, base, end, now)
        except BaseException:
            self._failed = True
            raise

    def _quorum_state(self, leader: int, voters: Sequence[int]) -> dict[str, Any]:
        """As ``QuorumStateData``; version 1 is for dynamic quorums, whose log has the voters."""
        if self._kraft_version:
            return {
                "leaderId": leader, "leaderEpoch": self.epoch, "votedId": _NOBODY,
                "votedDirectoryId": topic_id_to_text(ZERO_UUID), "data_version": 1,
            }  # fmt: skip
        return {
            "clusterId": "", "leaderId": leader, "leaderEpoch": self.epoch, "votedId": _NOBODY,
            "appliedOffset": 0, "currentVoters": [{"voterId": each} for each in voters],
            "data_version": 0,
        }  # fmt: skip
