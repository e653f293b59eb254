"""``.snapshot`` files: the producers of a log at the offset in the file's name."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from pathlib import Path

from kafka_admin_proto.kept_files import read_kept
from kafka_admin_proto.messages.producer_snapshot import ProducerEntry
from kafka_admin_proto.records.segments.files_beside import producers_bytes, read_producers
from kafka_admin_proto.server.log import files
from kafka_admin_proto.server.partitions.producers import BatchMetadata, ProducerState

SUFFIX = ".snapshot"
_MOST_BYTES = 1 << 30


def snapshot_bytes(states: list[ProducerState]) -> bytes:
    """The file with these producers, of each the last batch."""
    entries = [
        ProducerEntry(
            each.producer_id,
            each.producer_epoch,
            each.last_sequence,
            each.batches[-1].last_offset if each.batches else -1,
            each.batches[-1].offset_delta if each.batches else 0,
            each.last_timestamp,
            each.coordinator_epoch,
            each.current_txn_start_offset,
        )
        for each in states
    ]
    return producers_bytes(entries)


def read_snapshot(data: bytes) -> list[ProducerState]:
    """The producers in a file. Raises ValueError."""
    return [_state(each) for each in read_producers(data)]


def _state(entry: ProducerEntry) -> ProducerState:
    state = ProducerState(
        entry.producer_id, entry.epoch, entry.coordinator_epoch, entry.timestamp,
        entry.current_txn_first_offset,
    )  # fmt: skip
    if entry.last_offset >= 0:
        state.batches.append(
            BatchMetadata(
                entry.last_sequence, entry.last_offset, entry.offset_delta, entry.timestamp
            )
        )
    return state


class SnapshotFiles(MutableMapping[int, list[ProducerState]]):
    """The snapshots in a partition's folder, by their offsets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        names = folder.glob("[0-9]" * 20 + SUFFIX)
        self._offsets = {int(path.stem): None for path in sorted(names)}

    def path(self, offset: int) -> Path:
        return self.folder / f"{offset:020}{SUFFIX}"

    def __getitem__(self, offset: int) -> list[ProducerState]:
        """Raises KeyError, OSError, and ValueError for a file that Kafka did not write."""
        if offset not in self._offsets:
            raise KeyError(offset)
        return read_snapshot(read_kept(self.path(offset), _MOST_BYTES))

    def __setitem__(self, offset: int, states: list[ProducerState]) -> None:
        # Not waited for: without it the batches say as much.
        files.replace(self.path(offset), snapshot_bytes(states), is_synced=False)
        self._offsets[offset] = None

    def __delitem__(self, offset: int) -> None:
        del self._offsets[offset]
        self.path(offset).unlink(missing_ok=True)

    def __iter__(self) -> Iterator[int]:
        return iter(list(self._offsets))

    def __len__(self) -> int:
        return len(self._offsets)
