"""A frame explained to its last byte: each piece of it, with its field, value and meaning.

    explanation = explain(frame.field_rows(), frame.data, message="CreateTopicsRequest")
    for row in explanation.rows: ...       # every byte of the frame is in exactly one of them
    for node in explanation.nodes(): ...   # the same as a tree, structs without bytes included

The rows that `explain` takes may be finer than the wire types: a caller that decodes the inside of
a ``records`` field replaces its row by rows with longer paths (``records.batches[0].crc``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal
from uuid import UUID

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import (
    DecodeError,
    KafkaAdminProtoError,
    TrailingBytesError,
    UnknownMessageError,
)
from kafka_admin_proto.protocol.error_codes import find_error
from kafka_admin_proto.render.fields import FieldRow, masked_hex
from kafka_admin_proto.render.meanings import Meaning, api_name, meaning_of, size
from kafka_admin_proto.render.text import compact_json
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.wire.field_names import is_error_code_field
from kafka_admin_proto.wire.types.fixed import uuid_from_text
from kafka_admin_proto.wire.varint import VARINT_BYTES, varint_at, varint_end

Kind = Literal["field", "fault", "rest", "damage"]
_HEADER = "header."
_INDEX = re.compile(r"\[\d+\]")
_PARTS = re.compile(r"\[\d+\]|[^.\[]+")
#: Types whose value in a row is its bytes in hex.
_BYTES = ("BYTES", "RECORDS", "RAW_TAGGED_FIELD")
#: Types whose bytes are the value and nothing else.
_PLAIN = frozenset(
    row.label for row in SCALARS.values() if row.code and row.python_type is not bool
)


class ExplainedRow(msgspec.Struct, frozen=True, gc=False):
    """Bytes ``start`` to ``end`` (excluded) of a frame, and what they are.

    ``value`` is the field's JSON form, or words for one that is bytes or only a count or marker.
    ``kind`` "fault": the bytes at which decoding stopped, with the reason as ``meaning``. "damage":
    such bytes inside a field, behind which decoding went on. "rest": bytes that no field was read
    from.
    """

    start: int
    end: int
    path: str
    type: str
    value: Any
    meaning: str
    kind: Kind = "field"
    secret: bool = False

    @property
    def shown_value(self) -> str:
        """The value in one line: JSON for fields, words for what is only a count or a marker."""
        if self.kind != "field" and self.value is None:
            return ""
        if type(self.value) is int:
            return str(self.value)
        is_text = _is_container(self.type) or self.type.endswith(_BYTES)
        is_words = self.secret or (isinstance(self.value, str) and is_text)
        return str(self.value) if is_words else compact_json(self.value)


class Node(msgspec.Struct, gc=False):
    """A row in its place in the tree, or (``row`` None) a struct, which has no bytes of its own.

    ``start`` and ``end`` span the children too. ``label`` is the last part of ``path``.
    """

    path: str
    label: str
    depth: int
    start: int
    end: int
    row: ExplainedRow | None


class Explanation(msgspec.Struct, frozen=True):
    """All rows of a frame in the order of its bytes."""

    data: bytes
    rows: tuple[ExplainedRow, ...]

    def nodes(self) -> list[Node]:
        """The rows as a tree, parents before their children."""
        return nodes_of(self.rows)

    def hex(self) -> str:
        """All bytes in hex, those of secrets as ``**``."""
        return masked_hex(self.data, [(row.start, row.end) for row in self.rows if row.secret])

    def row_hex(self, row: ExplainedRow) -> list[str]:
        """The bytes of a row, two digits each."""
        if row.secret:
            return ["**"] * (row.end - row.start)
        return [f"{byte:02x}" for byte in self.data[row.start : row.end]]


def explain(
    rows: Iterable[FieldRow | ExplainedRow],
    data: bytes,
    *,
    message: str = "",
    dialect: str = "kafka",
    error: KafkaAdminProtoError | None = None,
    topic_names: Mapping[UUID, str] | None = None,
) -> Explanation:
    """The rows of a frame with their meanings, and rows for the bytes that they leave out.

    Rows that are explained already stay as they are.
    ``message`` is the name of the body ("" for an unknown one) in ``dialect``, ``error`` why the
    decoding stopped, ``topic_names`` the names of the topic ids that are known.
    """
    words = _Words(message, dialect, {} if topic_names is None else topic_names)
    explained: list[ExplainedRow] = []
    at = 0
    unread: FieldRow | None = None
    for row in rows:
        if isinstance(row, FieldRow) and row.type == "":
            unread = row
            break
        if row.start > at:
            explained.append(_rest(at, row.start, secret=False))
        explained.append(words.explain(row, data) if isinstance(row, FieldRow) else row)
        at = row.end
    if unread is not None and unread.start > at:
        explained.append(_rest(at, unread.start, secret=unread.secret))
        at = unread.start
    secret = unread is not None and unread.secret
    if error is None:
        if at < len(data):
            explained.append(_rest(at, len(data), secret=secret))
        return Explanation(data, tuple(explained))
    start, end = _fault_span(error, data, at)
    if at < start:
        explained.append(_rest(at, start, secret=secret))
    hidden = secret and not _is_quoted(error, data[start:end])
    explained.append(_fault(error, start, end, hidden))
    if end < len(data):
        explained.append(_rest(end, len(data), secret=secret))
    return Explanation(data, tuple(explained))


def _rest(start: int, end: int, *, secret: bool) -> ExplainedRow:
    return ExplainedRow(start, end, "(not decoded)", "", None, size(end - start), "rest", secret)


def _fault(error: KafkaAdminProtoError, start: int, end: int, secret: bool) -> ExplainedRow:
    if not isinstance(error, DecodeError):
        return ExplainedRow(start, end, "(fault)", "", None, str(error), "fault", secret)
    left_over = isinstance(error, TrailingBytesError)
    path = error.path or ("(left over)" if left_over else "(fault)")
    return ExplainedRow(start, end, path, error.expected, None, error.fault, "fault", secret)


def _is_quoted(error: KafkaAdminProtoError, prefix: bytes) -> bool:
    """Whether the reason quotes the length in these bytes: a mask would hide nothing."""
    if not isinstance(error, DecodeError) or not 0 < len(prefix) <= VARINT_BYTES:
        return False
    if error.expected.startswith("COMPACT_"):
        try:
            number = varint_at(prefix, 0)[0] - 1
        except IndexError:  # the length is cut off, so that no reason quotes it
            return False
    else:
        number = int.from_bytes(prefix, "big", signed=True)
    return str(number) in re.findall(r"-?\d+", error.fault)


def _fault_span(error: KafkaAdminProtoError, data: bytes, at: int) -> tuple[int, int]:
    """The bytes to blame: those of a wrong length; for any other fault, all bytes that are left.

    Never before ``at``, where the rows end.
    """
    if not isinstance(error, DecodeError):
        return at, len(data)
    start = min(max(error.offset, at), len(data))
    expected = error.expected
    if expected.startswith("COMPACT_"):
        return start, varint_end(data, start)
    if "ARRAY" in expected or expected.endswith(("BYTES", "RECORDS")):
        return start, min(start + 4, len(data))
    if expected.endswith("STRING"):
        return start, min(start + 2, len(data))
    return start, len(data)


class _Words:
    """Finds the meanings of one frame's rows."""

    def __init__(self, message: str, dialect: str, topic_names: Mapping[UUID, str]) -> None:
        self.message = message
        self.dialect = dialect
        self.topic_names = topic_names
        self._api_key: int | None = None
        #: By path without indices and type.
        self._readers: dict[tuple[str, str], Callable[[Any], str] | None] = {}

    def explain(self, row: FieldRow, data: bytes) -> ExplainedRow:
        value = row.value
        parts = []
        if not row.secret:
            parts = [self._of_field(row), _of_encoding(row, data)]
            if value is not None and row.type.endswith(_BYTES):
                value = size(len(value) // 2)  # the row shows its bytes in hex already
        meaning = "; ".join(filter(None, parts))
        return ExplainedRow(
            row.start, row.end, row.path, row.type, value, meaning, secret=row.secret
        )

    def _of_field(self, row: FieldRow) -> str:
        path = _INDEX.sub("", row.path)
        if row.value is None:
            return ""
        if (path, row.type) not in self._readers:
            self._readers[path, row.type] = self._reader(path, row)
        read = self._readers[path, row.type]
        return "" if read is None else read(row.value)

    def _reader(self, path: str, row: FieldRow) -> Callable[[Any], str] | None:
        """A function that puts the values of a field into words; ``row`` is one of its rows."""
        if _is_container(row.type):
            return None
        if path == "size":
            return lambda value: "1 byte follows" if value == 1 else f"{size(value)} follow"
        if path.startswith(_HEADER):
            return partial(self._of_header, path.removeprefix(_HEADER))
        if is_error_code_field(path) and isinstance(row.value, int):
            return partial(_error_words, dialect=self.dialect)
        meaning = meaning_of(self.message, path)
        if meaning is None:
            return None
        if meaning.form == "api_key":
            return partial(api_name, dialect=self.dialect)
        if meaning.form == "topic_id":
            return partial(self._of_topic_id, meaning)
        return meaning.text

    def _of_topic_id(self, meaning: Meaning, value: str) -> str:
        name = self.topic_names.get(uuid_from_text(value))
        return meaning.text(value) if name is None else f"topic {name}"

    def _of_header(self, name: str, value: Any) -> str:
        if name == "request_api_key":
            self._api_key = value
            return self.message.removesuffix("Request") or api_name(value)
        if name == "request_api_version" and self._api_key is not None and self.message:
            try:
                flexible = catalog().entry(self.message, self.dialect).is_flexible(value)
            except UnknownMessageError:
                return ""
            return "flexible: compact lengths, tagged fields" if flexible else "not flexible"
        if name == "correlation_id":
            return "the same in request and response"
        return ""


def _is_container(type_: str) -> bool:
    return "ARRAY of " in type_ or type_.startswith("NULLABLE ") or "TAGGED_FIELD" in type_


def _of_encoding(row: FieldRow, data: bytes) -> str:
    """The meaning of the bytes of a length, a count, a null marker or a tag."""
    value, kind = row.value, row.type
    if kind in _PLAIN:
        return ""
    if kind == "TAGGED_FIELDS":
        if isinstance(value, int):
            return counted(value, "tagged fields") if value else "no tagged fields"
        name = row.path.rpartition(".")[2]
        known = name != "unknown_tagged_fields"
        return f"the tag of {name}" if known else "a tag that this version does not have"
    if kind == "RAW_TAGGED_FIELD":
        return "kept as it is"
    if kind.startswith("NULLABLE "):
        return "null marker" if value is None else "marker: a struct follows"
    if kind == "BOOLEAN" and data[row.start] > 1:
        return f"{data[row.start]} is read as true"
    if "ARRAY of " in kind:
        return _length("count", row, data, kind.startswith("COMPACT_"), row.end)
    if kind.endswith(("STRING", "BYTES", "RECORDS")):
        compact = kind.startswith("COMPACT_")
        text = _length("length", row, data, compact, prefix_end(row, data))
        wrong = isinstance(value, str) and "\N{REPLACEMENT CHARACTER}" in value
        if wrong and b"\xef\xbf\xbd" not in data[row.start : row.end]:
            text += "; not UTF-8, shown with U+FFFD"
        return text
    return ""


def prefix_end(row: FieldRow, data: bytes) -> int:
    """Where the length in front of a string, bytes or records ends."""
    if not row.type.startswith("COMPACT_"):
        return row.start + (2 if row.type.endswith("STRING") else 4)
    return varint_end(data, row.start)


def _length(what: str, row: FieldRow, data: bytes, compact: bool, end: int) -> str:
    prefix = data[row.start : end]
    if not compact:
        number = int.from_bytes(prefix, "big", signed=True)
        if number < 0:
            return f"{what} {number} is null"
        return "" if what == "count" else f"{what} {number}"
    number, _ = varint_at(prefix, 0)
    return f"{what} 0 is null" if number == 0 else f"{what} {number - 1}, written plus one"


def _error_words(code: int, dialect: str) -> str:
    error = find_error(code, dialect=dialect)
    if error is None:
        return "no error code of Kafka's"
    return error.name if code == 0 else f"{error.name}: {error.meaning}"


def nodes_of(rows: Iterable[ExplainedRow]) -> list[Node]:
    """The tree of rows that are in the order of their bytes, parents before their children."""
    nodes: list[Node] = []
    above: list[Node] = []  # the last node and the nodes around it
    end = 0
    for row in rows:
        path, start = row.path, row.start
        inside = ""
        while above:
            inside = above[-1].path
            within = len(inside)
            if len(path) > within and path[within] in ".[" and path.startswith(inside):
                break
            above.pop().end = end
            inside = ""
        label = path
        if row.kind == "fault":  # stands alone: the struct around it has no more rows
            while above:
                above.pop().end = end
        elif inside and path[within] == "." and path[within + 1 :].isidentifier():
            label = path[within + 1 :]
        else:
            *groups, label = _PARTS.findall(path[len(inside) :])
            for group in groups:
                inside = _joined(inside, group)
                above.append(Node(inside, group, len(above), start, start, None))
                nodes.append(above[-1])
        above.append(Node(path, label, len(above), start, row.end, row))
        nodes.append(above[-1])
        end = row.end
    for node in above:
        node.end = end
    return nodes


def _joined(outside: str, label: str) -> str:
    return outside + label if not outside or label.startswith("[") else f"{outside}.{label}"
