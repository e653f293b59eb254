"""Messages within the bytes of other messages: subscriptions and assignments of consumers.

    message_json(codec, body, mask=True)["protocols"][0]["metadata"]
    # {"message": "ConsumerProtocolSubscription", "version": 3, "data": {"topics": [...], ...}}

The bytes are in JoinGroup, SyncGroup and DescribeGroups, and in records of groups. The protocol
type beside them says whether they are a consumer's. Old versions of these messages have no protocol
type: there the bytes are read as a consumer's if they are one message to their end. Empty bytes
(the member has none) and those of other protocol types (Connect's) stay as they are. If the
assignor is that of Kafka Streams, ``stream``, the ``userData`` of a subscription is read as a
SubscriptionInfoData.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, TrailingBytesError
from kafka_admin_proto.protocol.consumer_protocol import (
    ASSIGNMENT,
    CONSUMER,
    SUBSCRIPTION,
    VERSION_BYTES,
    codec_of,
)
from kafka_admin_proto.render.explain import ExplainedRow, prefix_end
from kafka_admin_proto.render.field_scan import has_invalid_utf8
from kafka_admin_proto.render.fields import FieldRow, field_rows
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.values import Message

#: Message → the paths of its fields with such bytes, as in JSON, and what they are.
_PLACES: dict[str, dict[str, str]] = {
    "JoinGroupRequest": {"protocols.metadata": SUBSCRIPTION},
    "JoinGroupResponse": {"members.metadata": SUBSCRIPTION},
    "SyncGroupRequest": {"assignments.assignment": ASSIGNMENT},
    "SyncGroupResponse": {"assignment": ASSIGNMENT},
    "DescribeGroupsResponse": {
        "groups.members.memberMetadata": SUBSCRIPTION,
        "groups.members.memberAssignment": ASSIGNMENT,
    },
    "GroupMetadataValue": {"members.subscription": SUBSCRIPTION, "members.assignment": ASSIGNMENT},
    "ConsumerGroupMemberMetadataValue": {
        "classicMemberMetadata.supportedProtocols.metadata": SUBSCRIPTION
    },
}
#: Assignors are named in a struct around, by one of these.
_ASSIGNOR = ("name", "protocolName", "protocolData", "protocol")
_ASSIGNOR_ROWS = tuple(map(python_name, _ASSIGNOR))
#: The assignor of Kafka Streams, and what its subscriptions have as ``userData``.
_STREAMS, _STREAMS_INFO = "stream", "SubscriptionInfoData"
_STREAMS_VERSION_BYTES = 4
#: The numbers of Streams' ``AssignorError``, which are no error codes of the protocol.
_STREAMS_ERRORS = (
    "NONE", "INCOMPLETE_SOURCE_TOPIC_METADATA", "VERSION_PROBING", "ASSIGNMENT_ERROR",
    "SHUTDOWN_REQUESTED",
)  # fmt: skip
#: The name of a row for the bytes behind the last field.
_LEFT_OVER = "left_over"
_INVALID_UTF8 = "text that is not UTF-8 is shown with U+FFFD; base64 has the bytes"
_INDEX = re.compile(r"\[\d+\]")


class _Group(msgspec.Struct, frozen=True):
    """The protocol type beside the bytes, "" if it is not known, and the assignor."""

    kind: str = ""
    assignor: str = ""

    @property
    def may_be_consumers(self) -> bool:
        return self.kind in ("", CONSUMER)


class _Embedded(msgspec.Struct, frozen=True):
    """A message that was read; ``version`` is what the bytes say, the codec's what was read."""

    codec: Codec[Any]
    version: int
    value: Message
    problem: str = ""


def has_embedded(name: str) -> bool:
    """Whether a message has fields with other messages in their bytes."""
    return name in _PLACES


def message_json(reader: Codec[Any], value: Any, *, mask: bool) -> dict[str, Any]:
    """The JSON of a message, with the messages in its bytes as ``{"message", "version", "data"}``.

    A fault in one is a ``problem`` beside these. ``base64`` has its bytes if the data does not give
    all of them back. Bytes that should be a message and cannot be read are ``{"base64": …,
    "problem": …}``.
    """
    shown = reader.to_json(value, mask=mask)
    show_embedded(reader.name, shown)
    return shown


def show_embedded(name: str, shown: dict[str, Any]) -> None:
    """Replace the bytes in the JSON of a message by the messages in them, see `message_json`."""
    for path, inner in _PLACES.get(name, {}).items():
        for owner, field, group in _fields(shown, path.split("."), _Group()):
            owner[field] = _in_place(owner[field], inner, group)


def embedded_messages(reader: Codec[Any], value: Any) -> Iterator[tuple[Codec[Any], Message]]:
    """The subscriptions and assignments of consumers in a message that can be read."""
    places = _PLACES.get(reader.name, {})
    shown = reader.to_json(value, mask=True) if places else {}
    for path, name in places.items():
        for owner, field, group in _fields(shown, path.split("."), _Group()):
            if group.may_be_consumers and owner[field]:
                with contextlib.suppress(DecodeError, binascii.Error, TypeError):
                    inner = _read(base64.b64decode(owner[field], validate=True), name, group)
                    yield inner.codec, inner.value


def embedded_problems(name: str, shown: dict[str, Any]) -> Iterator[str]:
    """The problems that `message_json` has put into a message, each behind the path of its field.

    ``name`` is the message's, ``shown`` the JSON that `message_json` has made of it.
    """
    for path in _PLACES.get(name, {}):
        for owner, field, _ in _fields(shown, path.split("."), _Group()):
            inner = owner[field]
            while isinstance(inner, dict):
                if "problem" in inner:
                    yield f"{path}: {inner['problem']}"
                inner = inner.get("data", {}).get("userData")


def with_embedded(
    name: str, rows: Iterable[FieldRow | ExplainedRow], data: bytes
) -> Iterator[FieldRow | ExplainedRow]:
    """The rows of a frame with the message ``name``: a row whose bytes are another message is
    replaced by rows for the fields of that message.
    """
    places = {
        ".".join(map(python_name, path.split("."))): inner
        for path, inner in _PLACES.get(name, {}).items()
    }
    if not places:  # no row of a long frame is looked at
        yield from rows
        return
    kind = assignor = ""
    for row in rows:
        inner = None
        if isinstance(row, FieldRow) and not row.secret:
            inner = places.get(_INDEX.sub("", row.path))
            field = row.path.rpartition(".")[2]
            if field == "protocol_type":
                kind = row.value or ""
            elif field in _ASSIGNOR_ROWS:
                assignor = row.value or ""
        if inner is not None and isinstance(row, FieldRow):
            yield from _rows(row, inner, _Group(kind, assignor), data)
        else:
            yield row


def _fields(
    shown: Any, path: list[str], group: _Group
) -> Iterator[tuple[dict[str, Any], str, _Group]]:
    """The structs around the fields of a path, the field's name, and what is said of the group."""
    for owner in shown if isinstance(shown, list) else [shown]:
        if not isinstance(owner, dict) or path[0] not in owner:
            continue
        names = [owner[each] for each in _ASSIGNOR if owner.get(each)]
        there = _Group(owner.get("protocolType") or group.kind, (*names, group.assignor)[0])
        if len(path) == 1:
            yield owner, path[0], there
        else:
            yield from _fields(owner[path[0]], path[1:], there)


def _in_place(text: Any, name: str, group: _Group) -> Any:
    """The JSON for the base64 of a field: the message in its bytes, or the text itself."""
    if not isinstance(text, str) or not text or not group.may_be_consumers:
        return text
    try:
        embedded = _read(base64.b64decode(text, validate=True), name, group)
    except binascii.Error:  # a loaded definition of the message has text there
        return text
    except DecodeError as error:
        return {"base64": text, "problem": str(error)} if group.kind else text
    data = embedded.codec.to_json(embedded.value)
    if name == SUBSCRIPTION and group.assignor == _STREAMS:
        data["userData"] = _in_place(data["userData"], _STREAMS_INFO, group)
    shown = {"message": name, "version": embedded.version, "data": data}
    problem = embedded.problem
    if not problem and has_invalid_utf8(embedded.codec, embedded.value):
        problem = _INVALID_UTF8
    if problem or embedded.version != embedded.codec.version:
        shown["base64"] = text
    return shown | {"problem": problem} if problem else shown


def _codec_of(data: bytes, name: str) -> Codec[Any]:
    """Raises DecodeError."""
    if name != _STREAMS_INFO:
        return codec_of(data, name)
    if len(data) < _STREAMS_VERSION_BYTES:
        fault = f"its version takes {_STREAMS_VERSION_BYTES} bytes, and it has {len(data)}"
        raise DecodeError(fault, message=name)
    version = int.from_bytes(data[:_STREAMS_VERSION_BYTES], "big", signed=True)
    known = catalog().entry(name).versions
    if version not in known:
        raise DecodeError(f"it has versions {known}, not {version}", message=name)
    return codec(name, version)


def _read(data: bytes, name: str, group: _Group) -> _Embedded:
    """Raises DecodeError; where the protocol type is not known, also for bytes left over."""
    reader = _codec_of(data, name)
    start = _fields_at(name)
    version = int.from_bytes(data[:start], "big") if start else reader.version
    try:
        return _Embedded(reader, version, reader.decode_at(data, start))
    except TrailingBytesError as error:
        if not group.kind:
            raise
        problem = ""
        if version == reader.version:
            problem = f"{counted(len(error.rest), 'bytes')} left over, which Kafka passes over"
        return _Embedded(reader, version, error.value, problem)
    except DecodeError:
        older = None if name == _STREAMS_INFO else _read_as_older(data, name, reader)
        if older is None:
            raise
        return msgspec.structs.replace(older, version=version)


def _fields_at(name: str) -> int:
    """The bytes in front of the fields: Streams' have their version as a field."""
    return 0 if name == _STREAMS_INFO else VERSION_BYTES


def _read_as_older(data: bytes, name: str, newer: Codec[Any]) -> _Embedded | None:
    """Bytes that end where an older version than theirs does."""
    for version in range(newer.version - 1, -1, -1):
        reader = codec(name, version)
        try:
            value = reader.decode_at(data, VERSION_BYTES)
        except DecodeError:
            continue
        known = _attributes(reader)
        missing = [each for each in _attributes(newer) if each not in known]
        if not missing:
            return None
        problem = (
            f"it says version {newer.version}, and ends where version {version} does: "
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing, without "
            "which Kafka's Java classes do not read it"
        )
        return _Embedded(reader, version, value, problem)
    return None


def _attributes(reader: Codec[Any]) -> list[str]:
    """The fields that this version has on the wire."""
    return [each.attribute for each in reader.grammar.members if each.wire_type is not None]


def _rows(
    row: FieldRow, name: str, group: _Group, data: bytes
) -> Iterator[FieldRow | ExplainedRow]:
    """The rows of the bytes in a field: its length, the version, the fields and what is left."""
    start = min(prefix_end(row, data), row.end)
    inside = data[start : row.end]
    if not inside or not group.may_be_consumers:
        yield row
        return
    at, where, problem = 0, _LEFT_OVER, ""
    reader: Codec[Any] | None = None
    try:
        embedded = _read(inside, name, group)
        reader, problem = embedded.codec, embedded.problem
    except DecodeError as error:
        if not group.kind:
            yield row
            return
        where, problem = error.path or where, error.fault
        with contextlib.suppress(DecodeError):
            reader = _codec_of(inside, name)
    yield msgspec.structs.replace(row, end=start, value=inside.hex())
    if reader is not None:
        at = _fields_at(name)
        if at:
            version = int.from_bytes(inside[:at], "big")
            yield ExplainedRow(start, start + at, f"{row.path}.version", "INT16", version, name)
        for inner in field_rows(reader, inside, at, mask=False)[0]:
            if inner.type:  # the others are the bytes behind a fault
                at = inner.end
                path = f"{row.path}.{inner.path}"
                yield from _inner(
                    msgspec.structs.replace(
                        inner, start=start + inner.start, end=start + at, path=path
                    ),
                    name, inner.path, group, data,
                )  # fmt: skip
    if where == _LEFT_OVER and start + at == row.end:
        where = "missing"
    path = f"{row.path}.{where}"
    if problem:
        yield ExplainedRow(start + at, row.end, path, "", None, problem, "damage")
    elif start + at < row.end:
        newer = "fields of a newer version"
        yield ExplainedRow(start + at, row.end, path, "", None, newer, "rest")


def _inner(
    row: FieldRow, name: str, field: str, group: _Group, data: bytes
) -> Iterator[FieldRow | ExplainedRow]:
    """The row of a field within, or its rows where it has a message in its bytes."""
    if (name, field) == (SUBSCRIPTION, "user_data") and group.assignor == _STREAMS:
        yield from _rows(row, _STREAMS_INFO, group, data)
    elif (name, field) == (_STREAMS_INFO, "error_code"):
        known = 0 <= row.value < len(_STREAMS_ERRORS)
        words = _STREAMS_ERRORS[row.value] if known else ""
        yield ExplainedRow(row.start, row.end, row.path, row.type, row.value, words)
    else:
        yield row
