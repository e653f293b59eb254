"""What a partition's log refuses, batches and records, with Kafka's code and text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.record_format import as_int64
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.settings import LogSettings


class RecordsRefused(ApiFailure):
    """Batches that were not appended; the log is as before.

    ``record_errors`` has the index in the batch and the text of each record that was refused, for
    the field of that name in a Produce response from version 8 on. Without any, Kafka's response
    has no message either: the text is for logs and tests then.
    """

    def __init__(
        self, code: int, message: str | None, record_errors: Sequence[tuple[int, str]] = ()
    ) -> None:
        super().__init__(code, message)
        self.record_errors: list[tuple[int, str]] = list(record_errors)


class OffsetOutOfRange(ApiFailure):
    """An offset before the log's first or behind its end."""

    def __init__(self, message: str) -> None:
        super().__init__(codes.OFFSET_OUT_OF_RANGE, message)


#: The code, the record's index in its batch, and the text.
RecordError = tuple[int, int, str]
_SHOWN_ERRORS = 3


class RecordRules(NamedTuple):
    """What a topic demands of each record. ``name`` is the topic and partition for texts."""

    name: str
    settings: LogSettings
    now_ms: int

    def error_of(
        self,
        index: int,
        *,
        offset: int,
        timestamp: int,
        is_keyed: bool,
        is_log_append: bool,
        shown: Callable[[], str],
    ) -> RecordError | None:
        """What is wrong with a record.

        ``is_log_append`` is of its batch, ``shown`` gives the record as Java's toString of it.
        """
        settings = self.settings
        if settings.is_compacted and not is_keyed:
            text = "Compacted topic cannot accept message without key in topic partition"
            return codes.INVALID_RECORD, index, f"{text} {self.name}"
        if not settings.is_log_append_time and timestamp != -1:
            before, after = settings.timestamp_before_max_ms, settings.timestamp_after_max_ms
            since = as_int64(self.now_ms - timestamp)
            if since > before or as_int64(-since) > after:
                return (
                    codes.INVALID_TIMESTAMP,
                    index,
                    f"Timestamp {timestamp} of message with offset {offset} is out "
                    f"of range. The timestamp should be within [{as_int64(self.now_ms - before)}, "
                    f"{as_int64(self.now_ms + after)}]",
                )
        elif is_log_append:
            return (
                codes.INVALID_TIMESTAMP,
                index,
                f"Invalid timestamp type in message {shown()}. "
                "Producer should not set timestamp type to LogAppendTime.",
            )
        return None


def check_rejected(errors: Sequence[RecordError]) -> None:
    """Raises RecordsRefused if any record is refused (``LogValidator.processRecordErrors``)."""
    if not errors:
        return
    record_errors = [(index, text) for _, index, text in errors]
    if any(code == codes.INVALID_TIMESTAMP for code, _, _ in errors):
        raise RecordsRefused(
            codes.INVALID_TIMESTAMP,
            "One or more records have been rejected due to invalid timestamp",
            record_errors,
        )
    shown = ", ".join(
        f"RecordError(batchIndex={index}, message='{text}')"
        for index, text in record_errors[:_SHOWN_ERRORS]
    )
    raise RecordsRefused(
        codes.INVALID_RECORD,
        f"One or more records have been rejected due to {len(errors)} record errors in total, "
        f"and only showing the first three errors at most: [{shown}]",
        record_errors,
    )


def check_timestamp(timestamp: int) -> None:
    """Raises RecordsRefused for what no record of a new batch may have."""
    if timestamp < -1:
        raise RecordsRefused(codes.UNKNOWN_SERVER_ERROR, f"Invalid negative timestamp {timestamp}")
