"""The settings of a partition's log, which follow from its topic's configs (``LogConfig``)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kafka_admin_proto.records.batches.model import CompressionName
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.configs.parsing import parse
from kafka_admin_proto.server.releases import ReleaseNumber


class LogSettings(msgspec.Struct, frozen=True):
    """The configs of a topic that its logs follow, parsed; most fields have the config's name.

    ``compression`` is None for compression.type=producer. A retention of -1 has no bound.
    ``down_converts`` is whether consumers from before magic 2 get records; 4.x has none.
    """

    release: ReleaseNumber
    message_timestamp_type: str
    compression: CompressionName | None
    compression_level: int | None
    max_message_bytes: int
    timestamp_before_max_ms: int
    timestamp_after_max_ms: int
    cleanup_policy: frozenset[str]
    retention_ms: int
    retention_bytes: int
    segment_bytes: int
    segment_ms: int
    segment_jitter_ms: int
    segment_index_bytes: int
    index_interval_bytes: int
    flush_messages: int
    flush_ms: int
    file_delete_delay_ms: int
    delete_retention_ms: int
    min_compaction_lag_ms: int
    max_compaction_lag_ms: int
    min_cleanable_dirty_ratio: float
    min_insync_replicas: int
    down_converts: bool
    producer_id_expiration_ms: int = 86_400_000

    @classmethod
    def of(cls, configs: Mapping[str, str | None], release: ReleaseNumber) -> LogSettings:
        """The settings for a topic's configs, texts that have been checked; others are defaults."""
        known = definitions(release)
        value = {
            each.name: parse(each, configs.get(each.name, each.default)) for each in known.topic
        }
        compression = {"producer": None, "uncompressed": "none"}.get(
            value["compression.type"], value["compression.type"]
        )
        before, after = _timestamp_bounds(value)
        same = {
            each: value[name]
            for each in cls.__struct_fields__
            if (name := each.replace("_", ".")) in value
        }
        return cls(**{
            **same,
            "release": release,
            "compression": compression,
            "compression_level": value.get(f"compression.{compression}.level"),
            "timestamp_before_max_ms": before,
            "timestamp_after_max_ms": after,
            "cleanup_policy": frozenset(value["cleanup.policy"]),
            "segment_bytes": value.get("internal.segment.bytes") or value["segment.bytes"],
            "down_converts": value.get("message.downconversion.enable", True),
        })  # fmt: skip

    @property
    def is_compacted(self) -> bool:
        return "compact" in self.cleanup_policy

    @property
    def is_log_append_time(self) -> bool:
        return self.message_timestamp_type == "LogAppendTime"


def _timestamp_bounds(value: Mapping[str, int]) -> tuple[int, int]:
    """The most milliseconds that a record's timestamp may lie before and after the time.

    In 3.9 a difference that is set holds for each bound that is not set itself.
    """
    most = (1 << 63) - 1
    before = value["message.timestamp.before.max.ms"]
    after = value["message.timestamp.after.max.ms"]
    difference = value.get("message.timestamp.difference.max.ms", most)
    return difference if before == most else before, difference if after == most else after
