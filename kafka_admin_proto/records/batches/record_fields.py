"""Rows that explain the bytes of one record, with the contents of Kafka's own records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.codec import codec
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.records.batches.control import read_control_key, read_control_record
from kafka_admin_proto.records.batches.layout import CONTROL, LOG_APPEND
from kafka_admin_proto.records.batches.record_format import as_int64
from kafka_admin_proto.records.batches.record_steps import RecordPart, message_blob, record_parts
from kafka_admin_proto.records.segments.known_topics import KNOWN_TOPICS, read_known_record
from kafka_admin_proto.render.embedded import message_json
from kafka_admin_proto.render.explain import ExplainedRow, Kind
from kafka_admin_proto.render.meanings import size, timestamp
from kafka_admin_proto.render.text import compact_json
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.secrets import MASK

#: The type of keys and values in a record of magic 2.
_BLOB = "VARINT_BYTES"


class RecordFields:
    """Explains records in ``data``.

    With ``secret``, keys, values and headers are masked, and so are bytes that could not be read.
    If ``topic`` is one of Kafka's own, the meaning of a key or value is its message; the secrets in
    the message are masked with ``mask``.
    """

    def __init__(self, data: bytes, topic: str | None, *, secret: bool, mask: bool) -> None:
        self.data = data
        self.topic = topic
        self.secret = secret
        self.mask = mask

    def record(
        self, path: str, at: int, end: int, values: dict[str, int]
    ) -> Iterator[ExplainedRow]:
        """The fields of a record of magic 2 that ends at ``end``; ``values`` are the batch's."""
        try:
            for row in self._fields(path, at, end, values):
                yield row
                at = row.end
        except DecodeError as error:
            yield self.damage(f"{path}.{error.path}", at, end, error.fault)

    def _fields(
        self, path: str, at: int, end: int, values: dict[str, int]
    ) -> Iterator[ExplainedRow]:
        parts = record_parts(self.data, at, end)
        for part in parts:
            field, value = f"{path}.{part.name}", part.value
            match part.name:
                case "attributes":
                    yield ExplainedRow(part.start, part.end, field, "INT8", value, "not used")
                case "timestamp_delta":
                    words = _timestamp_meaning(part, values)
                    yield ExplainedRow(part.start, part.end, field, "VARLONG", value, words)
                case "offset_delta":
                    words = f"offset {values['base_offset'] + value}"
                    yield ExplainedRow(part.start, part.end, field, "VARINT", value, words)
                case "key":
                    is_control = bool(values["attributes"] & CONTROL)
                    yield from self._key_and_value(path, part, parts, is_control=is_control)
                case "headers":
                    items = counted(value, "items")
                    yield ExplainedRow(part.start, part.end, field, "ARRAY of HEADER", items, "")
                case _:
                    yield self.blob(path, part)

    def message(self, path: str, at: int, end: int) -> Iterator[ExplainedRow]:
        """Key and value of a message of magic 0 or 1. Raises DecodeError after what is good."""
        parts = self.message_parts(at, end)
        return self._key_and_value(path, next(parts), parts, kind="BYTES")

    def message_parts(self, at: int, end: int) -> Iterator[RecordPart]:
        """Key and value of a message of magic 0 or 1 as parts. Raises DecodeError."""
        for name in ("key", "value"):
            value, stop = message_blob(self.data, at, end, name)
            yield RecordPart(name, at, stop, value)
            at = stop

    def _key_and_value(
        self, path: str, key: RecordPart, parts: Iterator[RecordPart], *,
        is_control: bool = False, kind: str = _BLOB,
    ) -> Iterator[ExplainedRow]:  # fmt: skip
        """Rows for the key and the value, which is the next of ``parts``, with their meanings.

        Raises DecodeError after the key's row if the value is damaged.
        """
        key_row = self.blob(path, key, kind)
        try:
            value = next(parts)
        except DecodeError:
            yield key_row
            raise
        meanings = ("", "")
        if is_control:
            meanings = self._of_control(key.value, value.value)
        elif self.topic in KNOWN_TOPICS:
            meanings = self._of_known(key.value, value.value)
        yield _also(key_row, meanings[0])
        yield _also(self.blob(path, value, kind), meanings[1])

    def _of_control(self, key: bytes | None, value: bytes | None) -> tuple[str, str]:
        try:
            control = read_control_key(key)
            name = control.name or f"control type {control.type}, which Kafka does not have"
        except DecodeError as error:
            return error.fault, ""
        try:
            control = read_control_record(key, value)
        except DecodeError as error:
            return name, error.fault
        return name, self._message(control.message, control.version)

    def _of_known(self, key: bytes | None, value: bytes | None) -> tuple[str, str]:
        known = read_known_record(self.topic or "", key, value)
        of_value = self._message(known.value, known.value_version)
        if known.problem is not None:
            # The problem may quote what it stumbled over.
            fault = "not read whole" if self.secret else known.problem
            of_value = "; ".join(filter(None, (of_value, fault)))
        return self._message(known.key, 0), of_value

    def _message(self, message: Message | None, version: int) -> str:
        """Name, version and fields; only what is known to be a secret is masked in them."""
        if message is None:
            return ""
        shown = message_json(codec(type(message), version), message, mask=self.mask)
        return f"{message.message_name} v{version} {compact_json(shown)}"

    def blob(self, path: str, part: RecordPart, kind: str = _BLOB) -> ExplainedRow:
        """The row of a key or value: text as JSON, other bytes by their number."""
        data: bytes | None = part.value
        path = f"{path}.{part.name}"
        if data is None:
            return ExplainedRow(part.start, part.end, path, kind, None, "a negative length is null")
        if self.secret:
            return self.row(path, part.start, part.end, kind, None, "")
        meaning = f"length {len(data)}"
        return ExplainedRow(part.start, part.end, path, kind, _text(data), meaning)

    def row(
        self, path: str, at: int, end: int, type_: str, value: Any, meaning: str,
        kind: Kind = "field",
    ) -> ExplainedRow:  # fmt: skip
        """A row of bytes that are masked if the records are secret."""
        shown = MASK if self.secret else value
        return ExplainedRow(at, end, path, type_, shown, meaning, kind, self.secret)

    def damage(self, path: str, at: int, end: int, fault: str) -> ExplainedRow:
        return self.row(path, at, end, "", None, fault, "damage")


def _timestamp_meaning(part: RecordPart, values: dict[str, int]) -> str:
    """The timestamp of a record, by its delta and its batch; it wraps around as in Java."""
    own_time = not values["attributes"] & LOG_APPEND
    time = values["base_timestamp"] + part.value if own_time else values["max_timestamp"]
    time = as_int64(time)
    words = "none" if time == -1 else timestamp(time)
    return words if own_time else f"{words}, that of the append"


def _also(row: ExplainedRow, words: str) -> ExplainedRow:
    meaning = "; ".join(filter(None, (row.meaning, words)))
    return ExplainedRow(
        row.start, row.end, row.path, row.type, row.value, meaning, secret=row.secret
    )


def _text(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return size(len(data))
    return compact_json(text) if text.isprintable() else size(len(data))
