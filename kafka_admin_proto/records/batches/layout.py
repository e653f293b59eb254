"""The fields before the records of a batch or in a message: where they stand, what they mean."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.model import COMPRESSIONS
from kafka_admin_proto.render.meanings import size, timestamp

#: Name, type and format of each field before the records, in order.
Layout = tuple[tuple[str, str, str], ...]
_START: Layout = (("base_offset", "INT64", ">q"), ("batch_length", "INT32", ">i"))
_BATCH: Layout = (
    *_START,
    ("partition_leader_epoch", "INT32", ">i"),
    ("magic", "INT8", ">b"),
    ("crc", "UINT32", ">I"),
    ("attributes", "INT16", ">h"),
    ("last_offset_delta", "INT32", ">i"),
    ("base_timestamp", "INT64", ">q"),
    ("max_timestamp", "INT64", ">q"),
    ("producer_id", "INT64", ">q"),
    ("producer_epoch", "INT16", ">h"),
    ("base_sequence", "INT32", ">i"),
    ("records", "ARRAY of RECORD", ">i"),
)
_MESSAGE: Layout = (
    ("offset", "INT64", ">q"),
    ("message_size", "INT32", ">i"),
    ("crc", "UINT32", ">I"),
    ("magic", "INT8", ">b"),
    ("attributes", "INT8", ">b"),
)
_MESSAGE_1: Layout = (*_MESSAGE, ("timestamp", "INT64", ">q"))
MAGIC_AT = 16
COMPRESSION, LOG_APPEND, CONTROL, DELETE_HORIZON = 7, 8, 32, 64
_FLAGS = {16: "transactional", CONTROL: "control", DELETE_HORIZON: "with a delete horizon"}


def layout_of(magic: int | None) -> Layout:
    """The fields of a batch of that magic, those that all have where it is not known."""
    return (_MESSAGE, _MESSAGE_1, _BATCH)[magic] if magic in (0, 1, 2) else _START


def layout_size(layout: Layout) -> int:
    """How many bytes the fields are."""
    return sum(struct.calcsize(form) for _, _, form in layout)


def read_fields(data: bytes, at: int, end: int, layout: Layout) -> Iterator[tuple[str, int]]:
    """Name and value of each field that ends at ``end`` or before."""
    for name, _, form in layout:
        stop = at + struct.calcsize(form)
        if stop > end:
            return
        (value,) = struct.unpack_from(form, data, at)
        yield name, value
        at = stop


def checksums(data: bytes, at: int, end: int, magic: int) -> tuple[int, int]:
    """The checksum that a batch says, and the one it has."""
    view = memoryview(data)
    if magic == 2:
        place, computed = at + 17, crc32c(view[at + 21 : end])
    else:
        place, computed = at + 12, zlib.crc32(view[at + MAGIC_AT : end])
    return int.from_bytes(view[place : place + 4], "big"), computed


def checksum_name(magic: int) -> str:
    return "CRC-32C" if magic == 2 else "CRC-32"


def field_meaning(name: str, values: dict[str, int]) -> str:
    """What a field says; ``values`` are those of all fields that are there."""
    value = values[name]
    match name:
        case "batch_length" | "message_size":
            return f"{size(value)} follow" if value >= 0 else ""
        case "magic":
            return "a record batch" if value == 2 else "a message of the older formats"
        case "attributes":
            return _of_attributes(value, values["magic"])
        case "last_offset_delta":
            return f"last offset {values['base_offset'] + value}"
        case "base_timestamp" if values["attributes"] & DELETE_HORIZON:
            return f"delete horizon: tombstones may go from {timestamp(value)} on"
        case "base_timestamp" | "max_timestamp" | "timestamp":
            return "none" if value == -1 else timestamp(value)
        case "partition_leader_epoch":
            return "not known" if value == -1 else ""
        case "producer_id" | "producer_epoch" | "base_sequence":
            return "none: no idempotent producer" if value == -1 else ""
    return ""


def _of_attributes(value: int, magic: int) -> str:
    number = value & COMPRESSION
    words = [COMPRESSIONS[number] if number < len(COMPRESSIONS) else f"compression {number}?"]
    if number == 0:
        words = ["not compressed"]
    if magic > 0:
        words.append("log append time" if value & LOG_APPEND else "create time")
    if magic == 2:
        words += [name for bit, name in _FLAGS.items() if value & bit]
    return ", ".join(words)
