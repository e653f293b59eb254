"""Message sets of magic 0 and 1 as old producers send them, and what is wrong with some of them."""

from __future__ import annotations

import struct
import zlib
from typing import Any

from hypothesis import strategies as st

from kafka_admin_proto.records.batches.batches import write_batch
from kafka_admin_proto.records.batches.model import COMPRESSIONS, Batch, Record
from kafka_admin_proto.records.compression import codecs

_LOG_APPEND = 8
_FAULTS = [
    "crc", "inner_crc", "magic", "inner_compressed", "inner_unknown", "key_length", "value_length",
    "behind", "small", "cut_inner", "empty", "null", "zstd", "unknown_compression", "twice",
    "plain_behind", "magic_2_behind", "other_magic_behind", "cut", "short_behind", "flip",
]  # fmt: skip
_messages = st.lists(
    st.fixed_dictionaries({
        "since": st.sampled_from([*[0] * 12, -900, -5_000, 40, 3_600_001, -(1 << 62), None, "low"]),
        "key": st.sampled_from([b"a", b"b", b"c", b"", b"key", None]),
        "value": st.sampled_from([None, b"", b"1", b"22", bytes(40)]),
        "offset": st.sampled_from([*["count"] * 8, 0, 5, -1]),
        "magic": st.sampled_from([*[None] * 30, 0, 1, 2, 5]),
    }),
    min_size=1,
    max_size=4,
)  # fmt: skip
SETS = st.fixed_dictionaries({
    "messages": _messages,
    "magic": st.sampled_from([0, 1]),
    "compression": st.sampled_from([*COMPRESSIONS[:4], "none"]),
    "attributes": st.sampled_from([0, 0, 0, _LOG_APPEND, 16]),
    "base": st.sampled_from([0, 0, 7]),
    "offset": st.sampled_from(["last", "last", "last", 0, 0, 1, 1000]),
    "fault": st.sampled_from([*[None] * 30, *_FAULTS]),
    "at": st.integers(0, 400),
    "leader_epoch": st.integers(0, 4),
})  # fmt: skip


def message(
    magic: int, key: bytes | None, value: bytes | None,
    *, offset: int = 0, attributes: int = 0, timestamp: int = -1, behind: bytes = b"",
) -> bytearray:  # fmt: skip
    """The bytes of one message."""
    body = struct.pack(">bB", magic, attributes)
    if magic:
        body += struct.pack(">q", timestamp)
    for blob in (key, value):
        body += struct.pack(">i", -1 if blob is None else len(blob)) + (blob or b"")
    body += behind
    return sealed(bytearray(struct.pack(">qii", offset, len(body) + 4, 0) + body))


def sealed(data: bytearray) -> bytearray:
    """The message with its checksum."""
    data[12:16] = struct.pack(">I", zlib.crc32(data[16:]))
    return data


def message_set(drawn: dict[str, Any], now_ms: int) -> bytes:
    """The bytes of a drawn set; without compression the attributes are those of its messages."""
    fault, at, magic = drawn["fault"], drawn["at"], drawn["magic"]
    compression: Any = drawn["compression"]
    is_plain = compression == "none"
    inner = [
        _message(drawn, number, now_ms, drawn["attributes"] if is_plain else 0)
        for number in range(len(drawn["messages"]))
    ]
    _damage(inner, fault, at)
    if is_plain:
        return _behind(b"".join(inner), drawn)
    data = b"".join(inner)
    if fault == "cut_inner":
        data = data[: -1 - at % 20]
    elif fault == "small":
        data += struct.pack(">qi", 3, at % 14) + bytes(30)
    elif fault == "empty":
        data = data[: at % 12]
    last = struct.unpack_from(">q", inner[-1])[0]
    packed = None if fault == "null" else codecs.compress(compression, data, magic=magic)
    number = COMPRESSIONS.index(compression)
    if fault in ("zstd", "unknown_compression"):
        number = 4 if fault == "zstd" else 5 + at % 3
    wrapper = message(
        magic, None, packed,
        offset=last if drawn["offset"] == "last" else drawn["offset"],
        attributes=number | drawn["attributes"], timestamp=now_ms - at,
    )  # fmt: skip
    if fault == "crc":
        wrapper[12] ^= 1
    return _behind(bytes(wrapper), drawn)


def _message(drawn: dict[str, Any], number: int, now_ms: int, attributes: int) -> bytearray:
    each = drawn["messages"][number]
    since = each["since"]
    timestamp = -1 if since is None else max(now_ms + since, 0) if since != "low" else -5
    return message(
        drawn["magic"] if each["magic"] is None else each["magic"],
        each["key"],
        each["value"],
        offset=drawn["base"] + number if each["offset"] == "count" else each["offset"],
        attributes=attributes,
        timestamp=timestamp,
        behind=b"more" if drawn["fault"] == "behind" else b"",
    )


def _damage(messages: list[bytearray], fault: str | None, at: int) -> None:
    """Put a fault into one of the messages."""
    data = messages[at % len(messages)]
    key_at = 26 if data[16] else 18
    if fault in ("crc", "inner_crc"):
        data[12] ^= 1
    elif fault in ("inner_compressed", "inner_unknown"):
        data[17] |= 1 if fault == "inner_compressed" else 7
    elif fault == "key_length":
        data[key_at : key_at + 4] = struct.pack(">i", (1 << 31) - 1 if at % 2 else -7)
    elif fault == "value_length":
        data[-4:] = struct.pack(">i", 1 + at)
    elif fault == "flip":
        data[18 + at % (len(data) - 18)] ^= 1 + at % 254
    if fault not in ("crc", "inner_crc"):
        sealed(data)


def _behind(data: bytes, drawn: dict[str, Any]) -> bytes:
    """The set, and more behind it."""
    fault, magic = drawn["fault"], drawn["magic"]
    if fault == "twice":
        return data * 2
    if fault == "cut":
        return data[: drawn["at"] % len(data)]
    if fault == "plain_behind":
        return data + message(magic, b"k", b"v")
    if fault == "other_magic_behind":
        return data + message(1 - magic, b"k", b"v")
    if fault == "magic_2_behind":
        return data + write_batch(Batch.of([Record(0, -1, b"k")]))
    if fault == "short_behind":
        return data + struct.pack(">qi", 0, drawn["at"] % 14) + bytes(20)
    return data
