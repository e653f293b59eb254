"""A cluster's folders, found or made: who it is, and what its log says so far.

A cluster of one node has the folder itself as the node's ``log.dirs``, as Kafka would; one of
several nodes has a folder in it for each, named after the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID, uuid4

import msgspec

from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.messages.abort_transaction_record import AbortTransactionRecord
from kafka_admin_proto.records.cluster_state import ClusterState
from kafka_admin_proto.server.log.folder import (
    ClusterLog,
    MetaProperties,
    NodeLog,
    read_meta,
    write_meta,
)


class Opened(msgspec.Struct):
    """A cluster on disk. ``new`` is one without records yet."""

    log: ClusterLog
    state: ClusterState
    cluster_id: str
    directories: dict[int, UUID]
    folders: list[Path]
    new: bool


def node_folders(data: Path, nodes: int) -> list[Path]:
    """The folder of each node."""
    return [data] if nodes == 1 else [data / str(number) for number in range(1, nodes + 1)]


def open_cluster(data: Path, nodes: int, cluster_id: str) -> Opened:
    """Open the cluster in a folder, or make one with that id.

    Raises MetadataLogError for a folder that is another kind of cluster's, or whose log cannot be
    read; OSError where a file cannot be.
    """
    folders = node_folders(data, nodes)
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    if nodes > 1 and read_meta(data) is not None:
        raise MetadataLogError(
            f"{data} is the folder of one node", "--brokers 1, or another folder for several"
        )
    metas = _identities(folders, cluster_id)
    logs = [NodeLog(folder) for folder in folders]
    try:
        ahead = _align(logs)
        directories = {meta.node_id: meta.directory_id for meta in metas}
        if ahead.new:
            log = ClusterLog(logs, epoch=1)
            return Opened(log, ClusterState(), metas[0].cluster_id, directories, folders, True)
        replayed = ahead.replay()
        if replayed.problems:
            raise MetadataLogError(
                f"the log in {ahead.folder} does not read: {replayed.problems[0]}",
                "a log that replays without problems",
            )
        state, end = replayed.state, ahead.end_offset()
        led = -1 if replayed.leader is None else replayed.leader.epoch
        log = ClusterLog(logs, epoch=max(led, state.epoch, 0) + 1)
        if replayed.unfinished_since is not None:
            log.append([AbortTransactionRecord(reason="the cluster was started again")], end)
            end += 1
        state.offset = end - 1
        return Opened(log, state, metas[0].cluster_id, directories, folders, False)
    except BaseException:
        for each in logs:
            each.close()
        raise


def _identities(folders: Sequence[Path], cluster_id: str) -> list[MetaProperties]:
    """The ``meta.properties`` of each node; those that are missing are written."""
    found = [read_meta(folder) for folder in folders]
    known = {meta.cluster_id for meta in found if meta is not None}
    if len(known) > 1:
        raise MetadataLogError(
            f"the folders in {folders[0].parent} are of clusters {', '.join(sorted(known))}",
            "those of one cluster",
        )
    metas = []
    for number, (folder, meta) in enumerate(zip(folders, found, strict=True), 1):
        if meta is None:
            meta = MetaProperties(known.pop() if known else cluster_id, number, uuid4())
            known = {meta.cluster_id}
            write_meta(folder, meta)
        elif len(folders) > 1 and meta.node_id != number:
            raise MetadataLogError(f"{folder} is of node {meta.node_id}", f"node {number}")
        metas.append(meta)
    return metas


def _align(logs: Sequence[NodeLog]) -> NodeLog:
    """Give each node what the one that is ahead has; returns that one.

    A batch was written node by node when a crash came: the last one may be in some logs only. It
    was not acknowledged, and counts all the same.
    """
    ahead = max(logs, key=lambda each: each.end_offset())
    for each in logs:
        if each is not ahead:
            each.follow(ahead)
    return ahead
