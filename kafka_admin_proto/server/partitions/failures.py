"""What a partition's log refuses, with Kafka's code and text."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure


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
