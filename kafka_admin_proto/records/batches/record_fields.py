"""The bytes of one record beside its fields, and what Kafka's own records say."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.records.batches.control import read_control_key, read_control_record
from kafka_admin_proto.records.batches.layout import CONTROL, LOG_APPEND
from kafka_admin_proto.records.segments.known_topics import KNOWN_TOPICS, read_known_record
from kafka_admin_proto.render.explain import ExplainedRow, Kind
from kafka_admin_proto.render.meanings import size, timestamp
from kafka_admin_proto.render.text import compact_json
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.secrets import MASK
from kafka_admin_proto.wire.varint import VARINT_BYTES, VARLONG_BYTES, unzigzag, varint_at

_INT64 = range(-(1 << 63), 1 << 63)


class Damage(Exception):
    """Reading a record ends in the field of that name."""

    def __init__(self, field: str, fault: str) -> None:
        self.field = field
        self.fault = fault


class RecordFields:
    """Explains records in ``data``.

    With ``secret`` keys, values and headers are masked, and all of what cannot be told apart.
    ``topic`` makes the records of Kafka's own topics readable, the secrets in them masked if
    ``mask``.
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
        except Damage as damage:
            yield self.damage(f"{path}.{damage.field}", at, end, damage.fault)
            return
        if at < end:
            yield self.damage(f"{path}.left_over", at, end, "left after the record's headers")

    def _fields(
        self, path: str, at: int, end: int, values: dict[str, int]
    ) -> Iterator[ExplainedRow]:
        if at >= end:
            raise Damage("attributes", "the record ends before its attributes")
        number = self.data[at]
        yield ExplainedRow(at, at + 1, f"{path}.attributes", "INT8", number, "not used")
        at += 1
        own_time = not values["attributes"] & LOG_APPEND
        number, stop = self.number(at, end, "timestamp_delta", most=VARLONG_BYTES)
        time = values["base_timestamp"] + number if own_time else values["max_timestamp"]
        if time not in _INT64:
            raise Damage("timestamp_delta", f"its timestamp is {time}, beyond an int64")
        words = "none" if time == -1 else timestamp(time)
        if not own_time:
            words += ", that of the append"
        yield ExplainedRow(at, stop, f"{path}.timestamp_delta", "VARLONG", number, words)
        at = stop
        number, stop = self.number(at, end, "offset_delta")
        words = f"offset {values['base_offset'] + number}"
        yield ExplainedRow(at, stop, f"{path}.offset_delta", "VARINT", number, words)
        at = stop
        is_control = bool(values["attributes"] & CONTROL)
        for row in self.key_and_value(path, at, end, is_control=is_control):
            yield row
            at = row.end
        count, stop = self.number(at, end, "headers")
        if not 0 <= count <= end - stop:
            raise Damage("headers", f"their count is {count}, {size(end - stop)} left")
        shown = f"{count} item{'s' * (count != 1)}"
        yield ExplainedRow(at, stop, f"{path}.headers", "ARRAY of HEADER", shown, "")
        at = stop
        for index in range(count):
            header = f"headers[{index}]"
            for name in ("key", "value"):
                row, blob = self.blob(path, f"{header}.{name}", at, end)
                if name == "key" and blob is None:
                    raise Damage(f"{header}.key", "its length is negative, and it cannot be null")
                yield row
                at = row.end

    def key_and_value(
        self, path: str, at: int, end: int, *, is_control: bool = False, fixed: bool = False
    ) -> Iterator[ExplainedRow]:
        """Two rows, with what they say in words; raises Damage after those that are good."""
        key_row, key = self.blob(path, "key", at, end, fixed=fixed)
        try:
            value_row, value = self.blob(path, "value", key_row.end, end, fixed=fixed)
        except Damage:
            yield key_row
            raise
        words: Callable[[bytes | None, bytes | None], tuple[str, str]] | None = None
        if is_control:
            words = self._of_control
        elif self.topic in KNOWN_TOPICS:
            words = self._of_known
        of_key, of_value = words(key, value) if words is not None else ("", "")
        yield _also(key_row, of_key)
        yield _also(value_row, of_value)

    def _of_control(self, key: bytes | None, value: bytes | None) -> tuple[str, str]:
        try:
            found = read_control_key(key)
            name = found.name or f"control type {found.type}, which Kafka does not have"
        except DecodeError as error:
            return error.fault, ""
        try:
            found = read_control_record(key, value)
        except DecodeError as error:
            return name, error.fault
        return name, self._message(found.message, found.version)

    def _of_known(self, key: bytes | None, value: bytes | None) -> tuple[str, str]:
        found = read_known_record(self.topic or "", key, value)
        of_value = self._message(found.value, found.value_version)
        if found.problem is not None:
            # The problem may quote what it stumbled over.
            fault = "not read whole" if self.secret else found.problem
            of_value = "; ".join(filter(None, (of_value, fault)))
        return self._message(found.key, 0), of_value

    def _message(self, message: Message | None, version: int) -> str:
        """Name, version and fields; only what is known to be a secret is masked in them."""
        if message is None:
            return ""
        shown = codec(type(message), version).to_json(message, mask=self.mask)
        return f"{message.message_name} v{version} {compact_json(shown)}"

    def number(self, at: int, end: int, field: str, *, most: int = VARINT_BYTES) -> tuple[int, int]:
        """A signed varint of ``most`` bytes at most, and where it ends."""
        bits = (1 << (32 if most == VARINT_BYTES else 64)) - 1  # the others fall away in Java
        with contextlib.suppress(IndexError):
            value, behind = varint_at(self.data, at, most, bits)
            if behind <= end:
                return unzigzag(value), behind
        cut = end - at < most
        raise Damage(field, "it ends too early" if cut else f"a varint beyond {most} bytes")

    def blob(
        self, path: str, field: str, at: int, end: int, *, fixed: bool = False
    ) -> tuple[ExplainedRow, bytes | None]:
        """Length and bytes of a key or value: text as JSON, else how many they are."""
        if not fixed:
            length, start = self.number(at, end, field)
        elif end - at < 4:
            raise Damage(field, "it ends too early")
        else:
            start = at + 4
            length = int.from_bytes(self.data[at:start], "big", signed=True)
        kind = "BYTES" if fixed else "VARINT_BYTES"
        path = f"{path}.{field}"
        if length < 0:
            meaning = f"length {length} is null"
            return ExplainedRow(at, start, path, kind, None, meaning), None
        if length > end - start:
            raise Damage(field, f"it needs {size(length)}, {end - start} left")
        stop = start + length
        data = self.data[start:stop]
        if self.secret:
            return self.row(path, at, stop, kind, None, ""), data
        return ExplainedRow(at, stop, path, kind, _text(data), f"length {length}"), data

    def row(
        self, path: str, at: int, end: int, type_: str, value: Any, meaning: str,
        kind: Kind = "field",
    ) -> ExplainedRow:  # fmt: skip
        """A row of bytes that are masked if the records are secret."""
        shown = MASK if self.secret else value
        return ExplainedRow(at, end, path, type_, shown, meaning, kind, self.secret)

    def damage(self, path: str, at: int, end: int, fault: str) -> ExplainedRow:
        return self.row(path, at, end, "", None, fault, "damage")


def _also(row: ExplainedRow, words: str) -> ExplainedRow:
    """The row with words after its meaning."""
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
