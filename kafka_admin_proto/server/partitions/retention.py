"""Which segments of a log go by retention (``UnifiedLog.deleteOldSegments``)."""

from __future__ import annotations

from collections.abc import Callable

from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.partitions.segments import Segment


def apply_retention(log: PartitionLog, now_ms: int) -> None:
    """Remove segments before the log's start, and for cleanup.policy=delete also by size and age.

    No segment above the high watermark goes. If all go, the log has a new, empty one.
    """
    _remove(log, now_ms, lambda place, _: _next_base(log, place) <= log.start_offset)
    settings = log.settings
    if "delete" not in settings.cleanup_policy:
        return
    if 0 <= settings.retention_bytes <= log.size_bytes:
        excess = log.size_bytes - settings.retention_bytes

        def is_excess(_: int, segment: Segment) -> bool:
            nonlocal excess
            excess -= segment.size_bytes
            return excess >= 0

        _remove(log, now_ms, is_excess)
    if settings.retention_ms >= 0:
        _remove(
            log,
            now_ms,
            lambda _, segment: now_ms - segment.largest_timestamp > settings.retention_ms,
        )


def _next_base(log: PartitionLog, place: int) -> float:
    """The base offset of the segment behind a place; none follows the last one."""
    return log.segments[place + 1].base_offset if place + 1 < len(log.segments) else float("inf")


def _remove(log: PartitionLog, now_ms: int, is_old: Callable[[int, Segment], bool]) -> None:
    """Remove the first segments that are old, up to the first one that is not."""
    count = 0
    for place, segment in enumerate(log.segments):
        is_last = place + 1 == len(log.segments)
        end = log.end_offset if is_last else _next_base(log, place)
        if log.high_watermark < end or not is_old(place, segment):
            break
        if is_last and not segment.batches:
            break
        count += 1
    if count:
        log.remove_segments(count, now_ms)
