"""Arguments of the offset commands: times, and offsets of partitions, also from a file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from kafka_admin_proto.cli.admin.common.files import read_text

if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.partitions.records import OffsetSpec

#: What --time may name, as Kafka's script spells it.
_TIMES: dict[str, OffsetSpec] = {
    "earliest": "earliest", "latest": "latest", "max-timestamp": "max_timestamp",
    "earliest-local": "earliest_local", "latest-tiered": "latest_tiered",
    "-2": "earliest", "-1": "latest", "-3": "max_timestamp",
}  # fmt: skip


TopicPartition = tuple[str, int]


def time_or_end(text: str) -> OffsetSpec | int:
    """What --time says: a name, or milliseconds since 1970. Raises click.UsageError."""
    if text in _TIMES:
        return _TIMES[text]
    if text.isdecimal():
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(
            f"--time {text}: expected {', '.join(list(_TIMES)[:5])}, milliseconds since 1970, or a "
            "time like 2026-01-31T12:00:00"
        ) from None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return round(time.timestamp() * 1000)


def partition_offset(text: str) -> tuple[TopicPartition, int]:
    parts = text.rsplit(":", 2)
    try:
        topic, partition, offset = parts
        placed = (topic, int(partition)), int(offset)
    except ValueError:
        raise click.UsageError(
            f"{text!r}: expected TOPIC:PARTITION:OFFSET, as in orders:0:4711"
        ) from None
    if placed[1] < -1 or placed[0][1] < 0 or not topic:
        raise click.UsageError(f"{text!r}: offsets are 0 or more, or -1 for the end of the log")
    return placed


def offsets_in_file(file: str) -> dict[TopicPartition, int]:
    text = read_text(file)
    try:
        rows = json.loads(text)["partitions"]
        return {(row["topic"], int(row["partition"])): int(row["offset"]) for row in rows}
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise click.UsageError(
            f"{file}: {error!r}; expected "
            '{"partitions": [{"topic": "orders", "partition": 0, "offset": 4711}]}'
        ) from None
