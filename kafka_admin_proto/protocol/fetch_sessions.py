"""What the brokers here share of fetch sessions (KIP-227): ``FetchSession`` in Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka_admin_proto.messages.fetch_response import PartitionData

#: The epochs of the first request of a session, and of a request without one.
INITIAL_EPOCH, FINAL_EPOCH = 0, -1
_HIGHEST_EPOCH = (1 << 31) - 1


def next_epoch(epoch: int) -> int:
    """The epoch of the request after one of this epoch, in a session."""
    return 1 if epoch == _HIGHEST_EPOCH else epoch + 1


class LastAnswer:
    """What a session's last answer said of a partition; -1 before any."""

    __slots__ = ("high_watermark", "log_start_offset")

    def __init__(self) -> None:
        self.high_watermark: int = -1
        self.log_start_offset: int = -1

    def differs(self, row: PartitionData) -> bool:
        """Whether an incremental answer has to have this row, which is remembered."""
        differs = self.is_news(row)
        self.remember(row)
        return differs

    def is_news(self, row: PartitionData) -> bool:
        """Whether an incremental answer has to have this row."""
        return (
            bool(row.records)
            or row.high_watermark != self.high_watermark
            or row.log_start_offset != self.log_start_offset
            or row.preferred_read_replica != -1
            or row.error_code != 0
            or row.diverging_epoch.epoch != -1
        )

    def remember(self, row: PartitionData) -> None:
        """Keep what the row says; after one with an error the next one differs."""
        self.high_watermark = -1 if row.error_code else row.high_watermark
        self.log_start_offset = row.log_start_offset
