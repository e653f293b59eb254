"""Apply the batches of a metadata log, from a file or a controller, and collect what is wrong."""

from __future__ import annotations

import msgspec

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.records.batches.control import read_control_record
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.metadata.records import read_metadata_value
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.records.segments.segments import Gap


class LogProblem(msgspec.Struct, frozen=True):
    """A fault that kept records from being read or applied, in ``file`` at byte ``position``.

    ``offset`` is that of the record, if it is known; offsets in a snapshot count from 0. Offsets
    that are missing between two files have neither file nor position.
    """

    text: str
    file: str = ""
    position: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        places = (
            self.file,
            "" if self.position is None else f"byte {self.position}",
            "" if self.offset is None else f"offset {self.offset}",
        )
        where = ", ".join(filter(None, places))
        return f"{where}: {self.text}" if where else self.text


class BatchReplayer:
    """Applies the records of a file, from offset ``start`` to ``at``, and collects the problems."""

    def __init__(
        self, file: str, replay: MetadataReplay | None = None, at: int | None = None
    ) -> None:
        self.file = file
        self.replay: MetadataReplay = MetadataReplay() if replay is None else replay
        self.at = at
        self.problems: list[LogProblem] = []

    def take(self, batch: Batch | Gap, start: int = 0) -> list[str]:
        """Apply a batch's records from offset ``start`` on; yields the names of the records."""
        if isinstance(batch, Gap):
            if batch.is_problem:
                self.report(batch.text, batch.position)
            return []
        names = []
        for record in batch.records:
            if record.offset < start:
                continue
            if self.at is not None and record.offset > self.at:
                break
            names.append(self._apply(record, batch))
        if batch.error is not None:
            self.report(str(batch.error), batch.offset_in_data)
        return names

    def report(self, text: str, position: int, offset: int | None = None) -> None:
        self.problems.append(LogProblem(text, self.file, position, offset))

    def _apply(self, record: Record, batch: Batch) -> str:
        epoch = batch.partition_leader_epoch
        refused = []
        try:
            if batch.is_control:
                control = read_control_record(record.key, record.value)
                self.replay.skip(record.offset, epoch)
                if control.message is None:
                    return control.name
                self.replay.apply_control(control.message)
                return control.message.message_name
            if record.value is None:
                raise DecodeError("value is null", message="metadata record", expected="a value")
            message, _ = read_metadata_value(record.value)
            refused = self.replay.apply(message, record.offset, epoch)
        except DecodeError as error:
            self.replay.skip(record.offset, epoch)
            self.report(str(error), batch.offset_in_data, record.offset)
            return ""
        for offset, fault in refused:
            self.report(str(fault), batch.offset_in_data, offset)
        return message.message_name
