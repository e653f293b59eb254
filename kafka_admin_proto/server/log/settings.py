"""The settings of segments and snapshots, by the broker's configs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.configs.parsing import ConfigFailure, parse
from kafka_admin_proto.server.configs.values import check
from kafka_admin_proto.server.releases import ReleaseNumber

_SEGMENT_BYTES = "metadata.log.segment.bytes"
#: Kafka 4 has this config for tests, in place of the former, whose lowest value is 8 MiB.
_SEGMENT_BYTES_IN_TESTS = "internal.metadata.log.segment.bytes"
#: 3.9 has this config for tests: the lowest value of the first.
_SEGMENT_MIN_BYTES = "metadata.log.segment.min.bytes"


class LogSettings(msgspec.Struct, frozen=True):
    """Sizes in bytes, times in milliseconds.

    A snapshot is written when the log has grown by ``snapshot_bytes`` since the last one, or
    ``snapshot_interval_ms`` after it (0: never). Old snapshots and the segments before them are
    removed while log and snapshots take more than ``retention_bytes`` or are older than
    ``retention_ms`` (below 0: never); the newest snapshot stays.
    """

    segment_bytes: int
    segment_ms: int
    snapshot_bytes: int
    snapshot_interval_ms: int
    retention_bytes: int
    retention_ms: int


def log_settings(configs: Mapping[str, str], release: ReleaseNumber) -> LogSettings:
    """The settings in a broker's configs. Raises MetadataLogError, which names the config."""

    def number(name: str) -> int:
        config = definitions(release).in_properties[name]
        try:
            value: int = parse(config, configs.get(name, config.default))
            check(config, value)
        except ConfigFailure as error:
            raise MetadataLogError(str(error.message), "a value that Kafka takes") from None
        return value

    return LogSettings(
        segment_bytes=_segment_bytes(configs, release, number),
        segment_ms=number("metadata.log.segment.ms"),
        snapshot_bytes=number("metadata.log.max.record.bytes.between.snapshots"),
        snapshot_interval_ms=number("metadata.log.max.snapshot.interval.ms"),
        retention_bytes=number("metadata.max.retention.bytes"),
        retention_ms=number("metadata.max.retention.ms"),
    )


def _segment_bytes(
    configs: Mapping[str, str], release: ReleaseNumber, number: Callable[[str], int]
) -> int:
    if _SEGMENT_BYTES_IN_TESTS in configs and release >= (4,):
        return number(_SEGMENT_BYTES_IN_TESTS)
    size = number(_SEGMENT_BYTES)
    if release < (4,):
        least = number(_SEGMENT_MIN_BYTES)
        if size < least:
            raise MetadataLogError(
                f"Cannot set {_SEGMENT_BYTES} below {least}: {size}",
                f"{least} or more, or a lower {_SEGMENT_MIN_BYTES}",
            )
    return size
