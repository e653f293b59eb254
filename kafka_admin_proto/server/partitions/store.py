"""Where a log keeps its segments, its epochs and the snapshots of its producers: in memory.

``disk/folder.py`` keeps them in files.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

import msgspec

from kafka_admin_proto.server.partitions.producers import ProducerState
from kafka_admin_proto.server.partitions.segments import Segment
from kafka_admin_proto.server.partitions.settings import LogSettings


class Stored(msgspec.Struct):
    """What there is of a log when it is opened.

    The transaction indexes of segments from ``recovered_from`` on have to be made anew.
    """

    segments: list[Segment]
    epochs: list[tuple[int, int]] = []
    start_offset: int = 0
    high_watermark: int = 0
    cleaned_to: int = 0
    recovered_from: float = float("inf")


class LogStore:
    """The store of a log in memory.

    What the log does with its segments it says here; all methods may raise OSError where the store
    is on disk.
    """

    def __init__(self) -> None:
        #: The producers of the log at some offsets.
        self.snapshots: MutableMapping[int, list[ProducerState]] = {}
        #: The offset up to which the log would survive the end of the machine.
        self.recovery_point: int = 0

    def open(self, settings: LogSettings, now_ms: int) -> Stored:
        """What there is of the log; one segment at least."""
        return Stored([self.segment(0, settings, now_ms)])

    def segment(
        self, base_offset: int, settings: LogSettings, now_ms: int, *, is_cleaned: bool = False
    ) -> Segment:
        """A new segment: the log's last one, or a cleaned one, which `replace` puts into it."""
        return Segment(base_offset, settings, now_ms)

    def flush(self, segments: Sequence[Segment], end_offset: int) -> None:
        """Let the log up to an offset survive the end of the machine; these segments have it."""
        self.recovery_point = end_offset

    def remove(self, segments: Sequence[Segment], settings: LogSettings) -> None:
        """The log has these segments no longer."""

    def replace(self, cleaned: Segment, segments: Sequence[Segment], settings: LogSettings) -> None:
        """The log has a cleaned segment in the place of these."""

    def start_moved(self) -> None:
        """The log begins at another offset than before, other than by removed segments."""

    def truncated(self, end_offset: int) -> None:
        self.recovery_point = min(self.recovery_point, end_offset)

    def write_epochs(self, entries: Sequence[tuple[int, int]]) -> None:
        """The log's leader epochs and their first offsets are these."""
