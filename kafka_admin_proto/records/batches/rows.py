"""Rows that explain the bytes of record batches, field by field.

    for row in BatchRows(data).rows(40, 140, "records"): ...   # bytes 40 to 140, each in one row

Behind a damaged record, the rows continue with the next record by the damaged one's length, and
behind a damaged batch with the next batch.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, MissingExtraError
from kafka_admin_proto.records.batches import layout as layouts
from kafka_admin_proto.records.batches.batches import read_records
from kafka_admin_proto.records.batches.layout import LOG_OVERHEAD, SMALLEST, Layout
from kafka_admin_proto.records.batches.model import COMPRESSIONS, DEFAULT_DECOMPRESSED_LIMIT
from kafka_admin_proto.records.batches.record_fields import RecordFields
from kafka_admin_proto.records.batches.record_format import limit_bytes
from kafka_admin_proto.records.batches.record_steps import record_length
from kafka_admin_proto.records.compression.lz4_frames import has_linked_blocks
from kafka_admin_proto.render.explain import ExplainedRow, Kind
from kafka_admin_proto.render.meanings import size, timestamp

_FLAGS = {
    layouts.TRANSACTIONAL: "transactional",
    layouts.CONTROL: "control",
    layouts.DELETE_HORIZON: "with a delete horizon",
}
_OFFSETS = range(-(1 << 63) + (1 << 32) + 1, (1 << 63) - 1 - (1 << 32))


class BatchRows:
    """Explains the batches in ``data``, a whole frame.

    ``limit`` bounds the decompressed size of all compressed records together.
    """

    def __init__(self, data: bytes, *, limit: int = DEFAULT_DECOMPRESSED_LIMIT) -> None:
        self.data = data
        self.left: int = limit

    def rows(
        self,
        start: int,
        end: int,
        path: str,
        *,
        topic: str | None = None,
        secret: bool = False,
        mask: bool = True,
    ) -> Iterator[ExplainedRow]:
        """The rows of the batches in ``data[start:end]``, their paths below ``path``.

        ``topic``, ``secret`` and ``mask`` are those of ``RecordFields``. It never raises.
        """
        self._fields = RecordFields(self.data, topic, secret=secret, mask=mask)
        self._secret = secret
        return self._batches(start, end, path)

    def _batches(self, at: int, end: int, outside: str) -> Iterator[ExplainedRow]:
        index = 0
        while at < end:
            path = f"{outside}.batches[{index}]"
            length = int.from_bytes(self.data[at + 8 : min(at + 12, end)], "big", signed=True)
            magic = self.data[at + layouts.MAGIC_AT] if end - at > layouts.MAGIC_AT else None
            stop = at + LOG_OVERHEAD + length
            fault = ""
            if end - at >= LOG_OVERHEAD and length < SMALLEST:
                fault = f"its length is {length}, and {SMALLEST} least"
                stop = end
            elif magic is not None and magic > 2:
                fault = f"its magic is {magic}, and not 0, 1 or 2"
                stop = min(stop, end)
            if fault:
                yield self._damage(path, at, stop, self._masked_fault(fault))
            elif magic is None or stop > end:
                yield from self._cut_short(path, at, end, magic)
                return
            else:
                yield from self._batch(path, at, stop, magic)
            at = stop
            index += 1

    def _masked_fault(self, fault: str) -> str:
        """The fault, or for secret records a text without numbers, as these may be record bytes."""
        return "no batch begins here, or it is damaged" if self._secret else fault

    def _batch(self, path: str, at: int, end: int, magic: int) -> Iterator[ExplainedRow]:
        layout = layouts.layout_of(magic)
        if end - at < layouts.layout_size(layout):
            fault = f"it has {size(end - at)}, too few for magic {magic}"
            yield self._damage(path, at, end, self._masked_fault(fault))
            return
        crc, computed = layouts.checksums(self.data, at, end, magic)
        if self._secret and crc != computed:
            # Its fields may be any bytes, those of a value too.
            yield self._damage(path, at, end, "its checksum is wrong")
            return
        values = dict(layouts.read_fields(self.data, at, end, layout))
        start = at
        for row in self._header(path, at, values, layout, computed):
            yield row
            at = row.end
        if magic == 2:
            yield from self._records(path, start, at, end, values)
        else:
            yield from self._message(path, start, at, end, values)

    def _cut_short(self, path: str, at: int, end: int, magic: int | None) -> Iterator[ExplainedRow]:
        """The complete header fields of a batch that is cut short, then a row for the rest."""
        if not self._secret:
            layout = layouts.layout_of(magic)
            values = dict(layouts.read_fields(self.data, at, end, layout))
            for row in self._header(path, at, values, layout, None):
                yield row
                at = row.end
        meaning = "a batch that is cut short, as brokers send at the end"
        yield self._fields.row(f"{path}.cut_short", at, end, "", None, meaning, "rest")

    def _header(
        self, path: str, at: int, values: dict[str, int], layout: Layout, computed: int | None
    ) -> Iterator[ExplainedRow]:
        """The header fields that have values; ``computed`` is the checksum of a complete batch.

        The meaning of a field depends only on fields before it, so a header may be cut off.
        """
        for name, kind, form in layout:
            if name not in values:
                return
            stop = at + struct.calcsize(form)
            value: Any = values[name]
            meaning = _field_meaning(name, values)
            wrong = False
            if name == "records":
                value = counted(value, "items")
            elif name == "crc" and computed is not None:
                wrong = value != computed
                what = layouts.checksum_name(2 if layout[-1][0] == "records" else 0)
                meaning = f"{what} {value:08x}, as computed"
                if wrong:
                    meaning = f"the batch's {what} is {computed:08x}, and it says {value:08x}"
            row_kind: Kind = "damage" if wrong else "field"
            yield ExplainedRow(at, stop, f"{path}.{name}", kind, value, meaning, row_kind)
            at = stop

    def _records(
        self, path: str, start: int, at: int, end: int, values: dict[str, int]
    ) -> Iterator[ExplainedRow]:
        count = values["records"]
        if count < 0:
            yield self._damage(f"{path}.records[0]", at, end, f"the count of records is {count}")
            return
        if count == 0:
            if at < end:
                words = "Kafka does not read these: the count of records is 0"
                yield self._fields.row(f"{path}.left_over", at, end, "", None, words, "rest")
            return
        if values["attributes"] & layouts.COMPRESSION:
            yield self._compressed(path, at, end, self.data[start:end], values["attributes"])
            return
        if values["base_offset"] not in _OFFSETS:
            fault = f"base offset {values['base_offset']} leaves no room for records"
            yield self._damage(f"{path}.records[0]", at, end, fault)
            return
        index = 0
        while index < count and at < end:
            record = f"{path}.records[{index}]"
            try:
                length = record_length(self.data, at, end)
            except DecodeError as error:
                yield self._damage(f"{record}.{error.path}", at, end, error.fault)
                return
            meaning = f"{size(length.value)} follow"
            yield ExplainedRow(at, length.end, f"{record}.length", "VARINT", length.value, meaning)
            at = length.end + length.value
            yield from self._fields.record(record, length.end, at, values)
            index += 1
        if index < count:
            fault = (
                f"the batch says that it has {counted(count, 'records')}, and it ends after {index}"
            )
            yield self._damage(f"{path}.records[{index}]", end, end, fault)
        elif at < end:
            yield self._damage(
                f"{path}.left_over", at, end, f"left after its {counted(count, 'records')}"
            )

    def _message(
        self, path: str, start: int, at: int, end: int, values: dict[str, int]
    ) -> Iterator[ExplainedRow]:
        """Key and value of a message of magic 0 or 1, which begins at ``start``."""
        try:
            if not values["attributes"] & layouts.COMPRESSION:
                for row in self._fields.message(path, at, end):
                    yield row
                    at = row.end
            else:
                parts = self._fields.message_parts(at, end)
                key = next(parts)
                yield self._fields.blob(path, key, "BYTES")
                at = key.end
                value = next(parts)
                if value.value is None:
                    raise DecodeError("a compressed message set is null", path="value")
                length = len(value.value)
                meaning = f"length {length}"
                yield ExplainedRow(at, at + 4, f"{path}.value", "BYTES", size(length), meaning)
                batch = self.data[start:end]
                yield self._compressed(path, at + 4, value.end, batch, values["attributes"])
                at = value.end
        except DecodeError as error:
            yield self._damage(f"{path}.{error.path}", at, end, error.fault)
            return
        if at < end:
            yield self._damage(f"{path}.left_over", at, end, "left after the message's value")

    def _compressed(
        self, path: str, at: int, end: int, batch: bytes, attributes: int
    ) -> ExplainedRow:
        """One row for compressed records, with a summary; ``batch`` has the bytes of the batch."""
        path = f"{path}.compressed_records"
        (read,) = read_records(batch, limit=self.left).batches
        self.left = max(self.left - sum(map(limit_bytes, read.records)), 0)
        number = attributes & layouts.COMPRESSION
        holds: str = COMPRESSIONS[number] if number < len(COMPRESSIONS) else ""
        if read.records:
            first, last = read.records[0], read.records[-1]
            count = len(read.records)
            payload = sum(len(each.key or b"") + len(each.value or b"") for each in read.records)
            holds += (
                f": {counted(count, 'records')}, offsets {first.offset} to {last.offset}, "
                f"keys and values {size(payload)}"
            )
        if holds.startswith("lz4") and has_linked_blocks(self.data[at:end]):
            holds += "; its blocks are linked, which Kafka's Java classes refuse"
        if isinstance(read.error, MissingExtraError):
            return self._fields.row(path, at, end, "BYTES", size(end - at), str(read.error))
        if read.error is not None:
            error = read.error
            fault = error.fault if isinstance(error, DecodeError) else str(error)
            if self._secret:
                fault = "not read whole"
            return self._damage(path, at, end, f"{holds}; {fault}" if read.records else fault)
        return self._fields.row(path, at, end, "BYTES", size(end - at), holds)

    def _damage(self, path: str, at: int, end: int, fault: str) -> ExplainedRow:
        return self._fields.damage(path, at, end, fault)


def _field_meaning(name: str, values: dict[str, int]) -> str:
    """The meaning of a field; ``values`` are the values of all fields that were read."""
    value = values[name]
    match name:
        case "batch_length" | "message_size":
            return f"{size(value)} follow" if value >= 0 else ""
        case "magic":
            return "a record batch" if value == 2 else "a message of the older formats"
        case "attributes":
            return _attributes_meaning(value, values["magic"])
        case "last_offset_delta":
            return f"last offset {values['base_offset'] + value}"
        case "base_timestamp" if values["attributes"] & layouts.DELETE_HORIZON:
            return f"delete horizon: tombstones may go from {timestamp(value)} on"
        case "base_timestamp" | "max_timestamp" | "timestamp":
            return "none" if value == -1 else timestamp(value)
        case "partition_leader_epoch":
            return "not known" if value == -1 else ""
        case "producer_id" | "producer_epoch" | "base_sequence":
            return "none: no idempotent producer" if value == -1 else ""
    return ""


def _attributes_meaning(value: int, magic: int) -> str:
    number = value & layouts.COMPRESSION
    words = [COMPRESSIONS[number] if number < len(COMPRESSIONS) else f"compression {number}?"]
    if number == 0:
        words = ["not compressed"]
    if magic > 0:
        words.append("log append time" if value & layouts.LOG_APPEND else "create time")
    if magic == 2:
        words += [name for bit, name in _FLAGS.items() if value & bit]
    return ", ".join(words)
