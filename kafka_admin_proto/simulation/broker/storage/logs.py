"""All logs of a broker: read at the start, made, moved between log directories, deleted later."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kafka_admin_proto.simulation.broker.storage.disk import Disk, live_name, marked_name
from kafka_admin_proto.simulation.broker.storage.log import Log
from kafka_admin_proto.simulation.node import NodeContext
from kafka_admin_proto.simulation.rules import Rules
from kafka_admin_proto.topic_ids import topic_id_to_text

Partition = tuple[str, int]


class Logs:
    """The live logs by (topic, partition); Kafka's LogManager."""

    def __init__(self, context: NodeContext, disk: Disk, rules: Rules) -> None:
        self._context = context
        self._disk = disk
        self._rules = rules
        self._logs: dict[Partition, Log] = {}
        #: Partition → the log directory that it is to be made in, asked for before it is there.
        self._preferred: dict[Partition, str] = {}

    def load(self) -> None:
        """Read all folders. Raises PartitionMetadataError where a file does not read."""
        for folder in self._disk.folders():
            if folder.kind == "deleting":
                self._remove_later(folder.log_dir, folder.name)
            elif folder.kind == "future":  # a copy that was not finished begins anew when asked for
                self._disk.remove(folder.log_dir, folder.name)
            elif folder.kind == "live":
                log = Log(self._disk, folder.log_dir, folder.name, folder.topic, folder.partition)
                log.load(read_id=self._rules.ids_read_back)
                self._logs[folder.topic, folder.partition] = log

    def get(self, partition: Partition) -> Log | None:
        return self._logs.get(partition)

    def __iter__(self) -> Iterator[tuple[Partition, Log]]:
        return iter(sorted(self._logs.items()))

    def get_or_create(self, partition: Partition, topic_id: UUID | None) -> Log:
        """The log, made in the preferred log directory, else the one with the fewest logs.

        A log without an id takes the given one; one with an id keeps it.
        """
        log = self._logs.get(partition)
        if log is None:
            log_dir = self._preferred.pop(partition, None) or self._emptiest()
            name = live_name(*partition)
            self._disk.make(log_dir, name)
            log = self._logs[partition] = Log(self._disk, log_dir, name, *partition)
            self._note("log made", log)
        log.keep_high_watermark(log.high_watermark)
        if log.topic_id is None and topic_id is not None and self._rules.missing_file_written:
            log.assign_id(topic_id)
            self._note("partition.metadata written", log)
        return log

    def delete(self, partition: Partition) -> None:
        """Move the log to the deleting folder, which is emptied later. No matter if it is gone."""
        log = self._set_aside(partition, "delete")
        if log is not None:
            self._remove_later(log.log_dir, log.folder)

    def set_stray(self, partition: Partition) -> None:
        """Move a log aside that no controller knows, to where the rules say."""
        if self._rules.stray_folder == "delete":
            self.delete(partition)
        else:
            self._set_aside(partition, "stray")

    def prefer(self, partition: Partition, log_dir: str) -> None:
        """Where the log is to be made."""
        self._preferred[partition] = log_dir

    def move(self, partition: Partition, log_dir: str) -> None:
        """Copy a log to another log directory; the old folder is deleted when the copy is whole."""
        log = self._logs[partition]
        if log.log_dir == log_dir:
            return
        future = marked_name(*partition, self._hex_digits(), "future")
        self._disk.make(log_dir, future)
        copy = Log(self._disk, log_dir, future, *partition)
        if log.topic_id is not None:
            copy.assign_id(log.topic_id)
        self._context.call_later(0, lambda: self._finish_move(log, copy))

    def _finish_move(self, log: Log, copy: Log) -> None:
        """The copy has caught up: it takes the log's place."""
        if self._logs.get((log.topic, log.partition)) is not log:  # deleted in between
            self._disk.remove(copy.log_dir, copy.folder)
            return
        for batch in log.batches:
            copy.append_from_leader(batch.data)
        self.delete((log.topic, log.partition))
        name = live_name(log.topic, log.partition)
        self._disk.rename(copy.log_dir, copy.folder, name)
        # Replicas hold the log, so that it is the copy from here on. Epochs without records are
        # lost: the copy knows those of its batches, as shipped.
        log.log_dir, log.folder, log.epochs = copy.log_dir, name, copy.epochs
        log.keep_high_watermark(log.high_watermark)
        self._logs[log.topic, log.partition] = log
        self._note("log moved", log)

    def _set_aside(self, partition: Partition, ending: str) -> Log | None:
        log = self._logs.pop(partition, None)
        if log is None:
            return None
        name = marked_name(*partition, self._hex_digits(), ending)
        self._disk.rename(log.log_dir, log.folder, name)
        gone = Log(self._disk, log.log_dir, name, *partition, log.topic_id)
        self._note(f"log closed, its folder now ends in -{ending}", gone)
        return gone

    def _remove_later(self, log_dir: str, name: str) -> None:
        def remove() -> None:
            self._disk.remove(log_dir, name)
            self._context.note("deleting folder emptied", log_dir=log_dir, folder=name)

        self._context.call_later(self._rules.deleting_delay_ms, remove)

    def _emptiest(self) -> str:
        counts = dict.fromkeys(self._disk.log_dirs, 0)
        for log in self._logs.values():
            counts[log.log_dir] += 1
        return min(counts, key=lambda each: counts[each])

    def _hex_digits(self) -> str:
        return f"{self._context.random.getrandbits(128):032x}"

    def _note(self, text: str, log: Log) -> None:
        topic_id = topic_id_to_text(log.topic_id) if log.topic_id else None
        self._context.note(text, log_dir=log.log_dir, folder=log.folder, topic_id=topic_id)
