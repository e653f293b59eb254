"""Opening or creating a cluster's folders: its identity and its metadata log.

A cluster of one node has the folder itself as the node's ``log.dirs``, as Kafka would; one of
several nodes has a folder in it for each, named after the node.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID, uuid4

import msgspec

from kafka_admin_proto.errors import DecodeError, MetadataLogError
from kafka_admin_proto.kept_files import refuse_link
from kafka_admin_proto.messages import AbortTransactionRecord
from kafka_admin_proto.records.batches.model import Batch
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.log import Replayed, replay
from kafka_admin_proto.records.metadata.names import METADATA_VERSION, version_name
from kafka_admin_proto.records.metadata.records import read_metadata_value
from kafka_admin_proto.records.segments.segments import read_segment
from kafka_admin_proto.server.brokers.registration import first_records
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.log.cluster_log import BOOTSTRAP, ClusterLog
from kafka_admin_proto.server.log.files import FolderLock
from kafka_admin_proto.server.log.folder import NodeLog
from kafka_admin_proto.server.log.meta import MetaProperties, read_meta, write_meta
from kafka_admin_proto.server.log.settings import LogSettings
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message

#: Epochs are int32 in batches.
_LAST_EPOCH = (1 << 31) - 1


class Opened(msgspec.Struct):
    """A cluster on disk.

    ``new`` is a cluster without records, and ``bootstrap`` the first records in its folder, if
    any. ``notes`` are sentences about repairs of the files.
    """

    log: ClusterLog
    state: ClusterState
    cluster_id: str
    directories: dict[int, UUID]
    folders: list[Path]
    new: bool
    bootstrap: list[Message]
    notes: list[str]

    def lead(self, state: State) -> None:
        """Begin the active controller's epoch; a new cluster gets its first records."""
        state.quorum.epoch = self.log.epoch
        self.log.lead(state.controller, list(self.directories), state.end_offset)
        state.pass_offset()
        if self.new:
            records = self.bootstrap or first_records(state.release)
            for folder in self.folders:
                self.log.write_bootstrap(folder, records)
            state.append(records)


def node_folders(data: Path, nodes: int) -> list[Path]:
    return [data] if nodes == 1 else [data / str(number) for number in range(1, nodes + 1)]


def records_folder(data: Path, nodes: int) -> Path:
    """The folder of the partitions' logs, which all replicas share: that of a single node."""
    return data if nodes == 1 else data / "records"


def open_cluster(
    data: Path, nodes: int, cluster_id: str, settings: LogSettings, clock: Clock
) -> Opened:
    """Open the cluster in a folder, or make one with that id.

    Raises MetadataLogError for the folder of another cluster, one that another process has, and
    one whose log cannot be read; KeptFileError for links in the place of its files; and OSError for
    a file that cannot be read or written.
    """
    folders = node_folders(data, nodes)
    for folder in folders:
        if folder != data:
            refuse_link(folder)
        folder.mkdir(parents=True, exist_ok=True)
        refuse_link(folder / BOOTSTRAP)
    if nodes > 1 and read_meta(data) is not None:
        raise MetadataLogError(
            f"{data} is the folder of one node", "--brokers 1, or another folder for several"
        )
    with contextlib.ExitStack() as opened:
        locks = [opened.enter_context(contextlib.closing(FolderLock(each))) for each in folders]
        metas = _identities(folders, cluster_id)
        logs = [
            opened.enter_context(contextlib.closing(NodeLog(each, settings))) for each in folders
        ]
        ahead = _align(logs)
        replayed = replay(ahead.folder)
        _check(ahead, replayed)
        state = replayed.state
        led = -1 if replayed.leader is None else replayed.leader.epoch
        epoch = max(led, state.epoch, 0) + 1
        if epoch > _LAST_EPOCH:
            raise MetadataLogError(
                f"the log in {ahead.folder} has reached leader epoch {_LAST_EPOCH}, after which "
                "there is none",
                "an earlier one, in quorum-state too; another copy may have it",
            )
        log = ClusterLog(logs, locks, epoch, state, settings, clock)
        if replayed.unfinished_since is not None:
            log.append([AbortTransactionRecord(reason="the cluster was started again")], ahead.end)
        state.offset = ahead.end - 1
        for each in logs:
            each.clean(clock.now_ms())
        opened.pop_all()
    new = not (state.features or state.brokers or state.topics)
    return Opened(
        log=log,
        state=state,
        cluster_id=metas[0].cluster_id,
        directories={meta.node_id: meta.directory_id for meta in metas},
        folders=folders,
        new=new,
        bootstrap=_bootstrap(folders[0]) if new else [],
        notes=[note for each in logs for note in each.notes],
    )


def check_release(state: ClusterState, release: ReleaseNumber, data: Path) -> None:
    """Raise MetadataLogError for a metadata.version that the release does not know."""
    newest = definitions(release).metadata_version
    level = state.features.get(METADATA_VERSION, newest)
    if level > newest:
        raise MetadataLogError(
            f"the cluster in {data} has metadata.version {version_name(level)}, which Kafka "
            f"{release} does not know",
            f"at most {version_name(newest)}, or --release of a newer one",
        )


def _check(log: NodeLog, replayed: Replayed) -> None:
    """Check that the log is complete; damaged snapshots are set aside.

    A damaged snapshot is no loss if an older one, or the log from its start, has all records.
    """
    damaged: dict[str, str] = {}
    for problem in replayed.problems:
        if not problem.file.endswith(".checkpoint") or problem.file == replayed.snapshot:
            raise MetadataLogError(
                f"the log in {log.folder} does not read: {problem}",
                "a log that replays without problems; another copy may have it whole",
            )
        damaged.setdefault(problem.file, problem.text)
    if replayed.state.offset + 1 != log.end:
        raise MetadataLogError(
            f"the log in {log.folder} ends before offset {log.end}, and it reads up to "
            f"{replayed.state.offset}",
            "all offsets, in a snapshot or a segment; another copy may have them",
        )
    for name, text in damaged.items():
        log.set_aside(name)
        log.notes.append(f"{log.folder / name}: {text}; it was renamed, and the rest says as much")


def _identities(folders: Sequence[Path], cluster_id: str) -> list[MetaProperties]:
    """The ``meta.properties`` of each node; missing ones are written."""
    read = [read_meta(folder) for folder in folders]
    known = {meta.cluster_id for meta in read if meta is not None}
    if len(known) > 1:
        raise MetadataLogError(
            f"the folders in {folders[0].parent} are of clusters {', '.join(sorted(known))}",
            "those of one cluster",
        )
    metas = []
    for number, (folder, meta) in enumerate(zip(folders, read, strict=True), 1):
        if meta is None:
            meta = MetaProperties(known.pop() if known else cluster_id, number, uuid4())
            known = {meta.cluster_id}
            write_meta(folder, meta)
        elif len(folders) > 1 and meta.node_id != number:
            raise MetadataLogError(f"{folder} is of node {meta.node_id}", f"node {number}")
        metas.append(meta)
    return metas


def _align(logs: Sequence[NodeLog]) -> NodeLog:
    """Append batches that only some logs have to the others; returns the longest log.

    A batch is written node by node, so after a crash the last one may be in some logs only. It was
    not acknowledged, and is kept nevertheless.
    """
    ahead = max(logs, key=lambda each: each.end)
    for each in logs:
        if each is not ahead:
            each.follow(ahead)
    return ahead


def _bootstrap(folder: Path) -> list[Message]:
    """The records of ``bootstrap.checkpoint``, which Kafka's StorageTool writes; [] without one.

    Raises MetadataLogError if they cannot be read.
    """
    path, records = folder / BOOTSTRAP, []
    if not path.exists():
        return []
    for batch in read_segment(path):
        if not isinstance(batch, Batch) or batch.error is not None:
            raise MetadataLogError(f"{path} does not read", "a whole snapshot, or no such file")
        for record in () if batch.is_control else batch.records:
            try:
                records.append(read_metadata_value(record.value or b"")[0])
            except DecodeError as error:
                raise MetadataLogError(f"{path}: {error}", "metadata records") from None
    return records
