"""Messages within the bytes of other messages: subscriptions and assignments of consumers.

    message_json(codec, body, mask=True)["protocols"][0]["metadata"]
    # {"message": "ConsumerProtocolSubscription", "version": 3, "data": {"topics": [...], ...}}

They stand in JoinGroup, SyncGroup and DescribeGroups, and in records of groups. The protocol type
beside them says whether the bytes are a consumer's. Old versions have none: there the bytes are
read as a consumer's where they fit whole. No bytes at all are a member without any, and stay as
they are; so do those of other protocol types (Connect's).
"""

from __future__ import annotations

import base64
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
    NEWEST,
    SUBSCRIPTION,
    VERSION_BYTES,
    codec_of,
)
from kafka_admin_proto.render.explain import ExplainedRow, prefix_end
from kafka_admin_proto.render.fields import FieldRow, field_rows
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
_INDEX = re.compile(r"\[\d+\]")


class _Embedded(msgspec.Struct, frozen=True):
    """A message that was read; ``version`` is what the bytes say, the codec's what was read."""

    codec: Codec[Any]
    version: int
    value: Message
    problem: str = ""


def has_embedded(name: str) -> bool:
    """Whether a message has fields with other messages in their bytes."""
    return name in _PLACES


def message_json(found: Codec[Any], value: Any, *, mask: bool) -> dict[str, Any]:
    """The JSON of a message, with the messages in its bytes as ``{"message", "version", "data"}``.

    What is wrong with one is a ``problem`` beside these. Bytes that should be one and are not are
    ``{"base64": …, "problem": …}``.
    """
    shown = found.to_json(value, mask=mask)
    for path, name in _PLACES.get(found.name, {}).items():
        for owner, field, kind in _fields(shown, path.split("."), ""):
            owner[field] = _in_place(owner[field], name, kind)
    return shown


def embedded_problems(found: Codec[Any], value: Any) -> Iterator[str]:
    """The problems that `message_json` has of a message, each behind the path of its field."""
    places = _PLACES.get(found.name, {})
    shown = message_json(found, value, mask=True) if places else {}
    for path in places:
        for owner, field, _ in _fields(shown, path.split("."), ""):
            if isinstance(owner[field], dict) and "problem" in owner[field]:
                yield f"{path}: {owner[field]['problem']}"


def with_embedded(
    name: str, rows: Iterable[FieldRow | ExplainedRow], data: bytes
) -> Iterator[FieldRow | ExplainedRow]:
    """The rows of a frame with the message ``name``; those with other messages in their bytes have
    rows for all fields of these.
    """
    places = {
        ".".join(map(python_name, path.split("."))): inner
        for path, inner in _PLACES.get(name, {}).items()
    }
    kind = ""
    for row in rows:
        inner = places.get(_INDEX.sub("", row.path)) if isinstance(row, FieldRow) else None
        if isinstance(row, FieldRow) and row.path.endswith("protocol_type"):
            kind = row.value or ""
        if inner is None or row.secret or not isinstance(row, FieldRow):
            yield row
        else:
            yield from _rows(row, inner, kind, data)


def _fields(shown: Any, path: list[str], kind: str) -> Iterator[tuple[dict[str, Any], str, str]]:
    """The structs around the fields of a path, the field's name, and the protocol type there."""
    for owner in shown if isinstance(shown, list) else [shown]:
        if not isinstance(owner, dict) or path[0] not in owner:
            continue
        there = owner.get("protocolType") or kind
        if len(path) == 1:
            yield owner, path[0], there
        else:
            yield from _fields(owner[path[0]], path[1:], there)


def _in_place(text: Any, name: str, kind: str) -> Any:
    """What stands in the place of the base64 of a field."""
    if not isinstance(text, str) or not text or kind not in ("", CONSUMER):
        return text
    try:
        found = _read(base64.b64decode(text), name, kind)
    except DecodeError as error:
        return {"base64": text, "problem": str(error)} if kind else text
    data = found.codec.to_json(found.value)
    shown = {"message": name, "version": found.version, "data": data}
    return shown | {"problem": found.problem} if found.problem else shown


def _read(data: bytes, name: str, kind: str) -> _Embedded:
    """Raises DecodeError; where the protocol type is not known, also for bytes left over."""
    found = codec_of(data, name)
    version = int.from_bytes(data[:VERSION_BYTES], "big")
    try:
        return _Embedded(found, version, found.decode_at(data, VERSION_BYTES))
    except TrailingBytesError as error:
        if not kind:
            raise
        problem = ""
        if version <= NEWEST:
            problem = f"{counted(len(error.rest), 'bytes')} left over, which Kafka passes over"
        return _Embedded(found, version, error.value, problem)
    except DecodeError:
        older = _read_as_older(data, name, found)
        if older is None:
            raise
        return msgspec.structs.replace(older, version=version)


def _read_as_older(data: bytes, name: str, newer: Codec[Any]) -> _Embedded | None:
    """Bytes that end where an older version than theirs does."""
    for version in range(newer.version - 1, -1, -1):
        found = codec(name, version)
        try:
            value = found.decode_at(data, VERSION_BYTES)
        except DecodeError:
            continue
        known = _attributes(found)
        missing = [each for each in _attributes(newer) if each not in known]
        if not missing:
            return None
        problem = (
            f"it says version {newer.version}, and ends where version {version} does: "
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing, without "
            "which Kafka's Java classes do not read it"
        )
        return _Embedded(found, version, value, problem)
    return None


def _attributes(found: Codec[Any]) -> list[str]:
    """The fields that this version has on the wire."""
    return [each.attribute for each in found.grammar.members if each.wire_type is not None]


def _rows(row: FieldRow, name: str, kind: str, data: bytes) -> Iterator[FieldRow | ExplainedRow]:
    """The rows of the bytes in a field: its length, the version, the fields and what is left."""
    start = min(prefix_end(row, data), row.end)
    inside = data[start : row.end]
    if not inside or kind not in ("", CONSUMER):
        yield row
        return
    at, where, problem = 0, "left_over", ""
    found: Codec[Any] | None = None
    try:
        embedded = _read(inside, name, kind)
        found, problem = embedded.codec, embedded.problem
    except DecodeError as error:
        if not kind:
            yield row
            return
        where, problem = error.path or where, error.fault
        with contextlib.suppress(DecodeError):
            found = codec_of(inside, name)
    yield msgspec.structs.replace(row, end=start, value=inside.hex())
    if found is not None:
        at = VERSION_BYTES
        version = int.from_bytes(inside[:at], "big")
        yield ExplainedRow(start, start + at, f"{row.path}.version", "INT16", version, name)
        for each in field_rows(found, inside, at, mask=False)[0]:
            if each.type:  # the others are the bytes behind a fault
                at = each.end
                path = f"{row.path}.{each.path}"
                yield msgspec.structs.replace(
                    each, start=start + each.start, end=start + at, path=path
                )
    path = f"{row.path}.{where}"
    if problem:
        yield ExplainedRow(start + at, row.end, path, "", None, problem, "damage")
    elif start + at < row.end:
        newer = "fields of a newer version"
        yield ExplainedRow(start + at, row.end, path, "", None, newer, "rest")
