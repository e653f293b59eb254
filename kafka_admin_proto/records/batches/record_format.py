"""The records inside a batch of magic 2 (``DefaultRecord`` in Kafka), whose numbers are varints.

    size, attributes (unused), timestamp delta, offset delta, key, value, headers

One tight loop reads the records. If it fails, `record_steps` reads the record once more, field by
field, and its error says which field is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, EncodeError
from kafka_admin_proto.records.batches.model import Record
from kafka_admin_proto.records.batches.record_steps import (
    INT_BITS,
    LONG_BITS,
    record_length,
    record_parts,
)
from kafka_admin_proto.wire.emit.runtime import Fallback, as_list, plain_bytes
from kafka_admin_proto.wire.engine import compiled
from kafka_admin_proto.wire.types.base import shown
from kafka_admin_proto.wire.varint import VARINT_BYTES, VARLONG_BYTES, encode_varint, varint_at

if TYPE_CHECKING:
    from kafka_admin_proto_speed import RecordEngine

_LOWEST_LONG, _HIGHEST_LONG = -(1 << 63), (1 << 63) - 1
_LOWEST_INT, _HIGHEST_INT = -(1 << 31), (1 << 31) - 1
#: A base timestamp and a delta's zigzag form of less than this make no sum beyond int64.
_FAR = 1 << 62
#: Parts of a record → the field of `Record` in an error's path; "" is the record itself.
_FIELDS = {
    "length": "", "attributes": "", "left_over": "",
    "timestamp_delta": "timestamp", "offset_delta": "offset",
}  # fmt: skip
#: Bytes that each record or header counts at least against the limit for decompressed data: as
#: Python values, many tiny records would take a multiple of the limit.
BYTES_PER_ITEM = 64
#: The compiled engine's reader and writer of records, if the engine is installed.
_ENGINE: RecordEngine | None = compiled and compiled.RecordEngine(Record)


class SkimmedRecords(NamedTuple):
    """What a broker looks at in records that it keeps as they are.

    The lowest and the highest timestamp, whether all records have keys, and whether their offsets
    count up from 0 without a gap.
    """

    lowest_timestamp: int
    highest_timestamp: int
    is_keyed: bool
    is_in_order: bool


def skim_records_v2(
    data: bytes | memoryview, start: int, count: int, base_timestamp: int, max_items: int
) -> SkimmedRecords:
    """Look through the ``count`` records that fill ``data`` from ``start`` on; at least one.

    Raises DecodeError as ``read_records_v2``. The engine makes no records for it.
    """
    if _ENGINE is not None:
        try:
            return SkimmedRecords(*_ENGINE.skim(data, start, count, base_timestamp, max_items))
        except (MemoryError, RecursionError):
            raise
        except Exception:
            pass  # what follows reads the same, and says what is wrong
    records: list[Record] = []
    # Slices of bytes are made in half the time of views.
    read_records_v2(bytes(data), start, count, 0, base_timestamp, None, records, max_items)
    timestamps = [each.timestamp for each in records]
    return SkimmedRecords(
        min(timestamps),
        max(timestamps),
        None not in [each.key for each in records],
        [each.offset for each in records] == list(range(count)),
    )


def read_records_v2(
    data: Any,
    start: int,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None,
    records: list[Record],
    max_items: int,
) -> None:
    """Append the ``count`` records that fill ``data`` from ``start`` on to ``records``.

    ``append_time`` replaces all timestamps; ``max_items`` bounds the number of records and headers.
    If ``data`` is a memoryview, keys and values are views of it. Raises DecodeError, with path and
    offset within the batch; the records before the fault are appended.
    """
    if _ENGINE is not None:
        try:
            _ENGINE.read(
                data, start, count, base_offset, base_timestamp, append_time, records, max_items
            )
        except (MemoryError, RecursionError):
            raise
        except Exception:
            pass  # what follows reads the same, and says what is wrong
        else:
            return
    if count < 0:
        raise DecodeError(f"its count of records is {count}", offset=start, expected="0 or more")
    items = max_items - count
    if items < 0:
        raise _too_many(count, start)
    if count and not _LOWEST_LONG + (1 << 32) < base_offset < _HIGHEST_LONG - (1 << 32):
        raise DecodeError(
            f"base offset {base_offset} leaves no room for records", offset=0, expected="an offset"
        )
    first = len(records)
    # Timestamps are made so in Java, where int64 wraps around.
    wraps = not -_FAR < base_timestamp < _FAR
    add = records.append
    p = start
    record_start = start
    end = len(data)
    try:
        for _ in range(count):
            record_start = p
            n = data[p]
            p += 1
            if n > 127:
                m = data[p]
                if m < 128:
                    n += (m << 7) - 128
                    p += 1
                else:
                    n, p = varint_at(data, p - 1, VARINT_BYTES, INT_BITS)
            stop = p + (n >> 1)
            if n & 1 or stop > end:
                break
            p += 1  # attributes

            n = data[p]
            p += 1
            if n > 127:
                m = data[p]
                if m < 128:
                    n += (m << 7) - 128
                    p += 1
                else:
                    n, p = varint_at(data, p - 1, VARLONG_BYTES, LONG_BITS)
                    wraps = wraps or n > _FAR
            timestamp = base_timestamp + (n >> 1 ^ -(n & 1)) if append_time is None else append_time

            n = data[p]
            p += 1
            if n > 127:
                m = data[p]
                if m < 128:
                    n += (m << 7) - 128
                    p += 1
                else:
                    n, p = varint_at(data, p - 1, VARINT_BYTES, INT_BITS)
            offset = base_offset + (n >> 1 ^ -(n & 1))

            n = data[p]
            p += 1
            if n > 127:
                m = data[p]
                if m < 128:
                    n += (m << 7) - 128
                    p += 1
                else:
                    n, p = varint_at(data, p - 1, VARINT_BYTES, INT_BITS)
            if n & 1:
                key = None
            else:
                q = p + (n >> 1)
                if q > stop:
                    break
                key = data[p:q]
                p = q

            n = data[p]
            p += 1
            if n > 127:
                m = data[p]
                if m < 128:
                    n += (m << 7) - 128
                    p += 1
                else:
                    n, p = varint_at(data, p - 1, VARINT_BYTES, INT_BITS)
            if n & 1:
                value = None
            else:
                q = p + (n >> 1)
                if q > stop:
                    break
                value = data[p:q]
                p = q

            if data[p] == 0:  # no headers
                p += 1
                if p != stop:
                    break
                add(Record(offset, timestamp, key, value))
                continue
            n, p = varint_at(data, p, VARINT_BYTES, INT_BITS)
            items -= n >> 1
            if n & 1 or n >> 1 > stop - p or items < 0:
                break
            headers = _headers(data, p, stop, n >> 1)
            if headers is None:
                break
            add(Record(offset, timestamp, key, value, headers))
            p = stop
        else:
            if p == end or count == 0:  # of an empty batch Kafka does not look further either
                return
            raise DecodeError(
                f"{counted(end - p, 'bytes')} left after its {counted(count, 'records')}",
                offset=p,
                expected="the end of the batch",
            )
    except IndexError:
        pass
    finally:
        if wraps and append_time is None:
            for record in records[first:]:
                record.timestamp = as_int64(record.timestamp)
    _explain(data, record_start, len(records) - first, items)


def _headers(
    data: Any, p: int, stop: int, count: int
) -> tuple[tuple[str, bytes | None], ...] | None:
    """The headers that fill a record to its end. Returns None or raises IndexError otherwise."""
    headers: list[tuple[str, Any]] = []
    for _ in range(count):
        n, p = varint_at(data, p, VARINT_BYTES, INT_BITS)
        q = p + (n >> 1)
        if n & 1 or q > stop:
            return None
        name = bytes(data[p:q]).decode("utf-8", "surrogateescape")
        n, p = varint_at(data, q, VARINT_BYTES, INT_BITS)
        if n & 1:
            headers.append((name, None))
        else:
            q = p + (n >> 1)
            if q > stop:
                return None
            headers.append((name, data[p:q]))
            p = q
    return tuple(headers) if p == stop else None


def _explain(data: Any, start: int, index: int, items: int) -> None:
    """Raise the error of the record at ``start``, which the fast loop could not read.

    ``items`` is the number of records and headers that the limit still has room for.
    """
    try:
        length = record_length(data, start, len(data))
        for part in record_parts(data, length.end, length.end + length.value):
            if part.name == "headers" and items < 0:
                too_many = _too_many(part.value, part.start)
                break
        else:
            raise AssertionError(f"the record at byte {start} has no fault")
    except DecodeError as error:
        field = _FIELDS.get(error.path, error.path.partition(".")[0])
        error.path = f"records[{index}].{field}".rstrip(".")
        raise
    raise too_many


def limit_bytes(record: Record) -> int:
    """The bytes that a record counts against the limit for decompressed data."""
    return BYTES_PER_ITEM + len(record.key or b"") + len(record.value or b"")


def _too_many(count: int, offset: int) -> DecodeError:
    return DecodeError(
        f"{counted(count, 'more records')} or headers than the limit for decompressed data has "
        "room for",
        offset=offset,
        expected="fewer, or a higher limit",
    )


def write_records_v2(
    records: Sequence[Record], base_offset: int, base_timestamp: int, append_time: int | None = None
) -> bytes:
    """Encode records without compression. Raises EncodeError with the path.

    With ``append_time``, all records must have that timestamp; only the batch header has it then,
    and the records have deltas of 0.
    """
    if _ENGINE is not None:
        try:
            return _ENGINE.write(records, base_offset, base_timestamp, append_time)
        except (MemoryError, RecursionError):
            raise
        except Exception:
            pass  # what follows writes the same, and says what is wrong
    parts: list[bytes] = []
    for number, record in enumerate(records):
        try:
            body = _body(record, base_offset, base_timestamp, append_time)
        except (AttributeError, TypeError, ValueError) as error:
            fault = error.fault if isinstance(error, _Fault) else str(error)
            raise cannot_write(record, number, fault) from None
        parts.append(encode_varint(len(body)))
        parts.append(body)
    return b"".join(parts)


def cannot_write(record: Record, number: int, fault: str) -> EncodeError:
    """The error for a record that cannot be written, with its first field of a wrong type.

    ``fault`` is what is wrong where all types are right. Keys, values and headers may be secrets,
    so that their types alone are named.
    """
    path = f"records[{number}]"
    for name, value, expected in _wrong_types(record):
        fault, path = f"expected {expected}, got {shown(value, secret=True)}", f"{path}.{name}"
        break
    return EncodeError(fault, path=path, value=record)


def _wrong_types(record: Any) -> Iterator[tuple[str, Any, str]]:
    """Each field of a wrong type: its path, its value, and what was expected."""
    for name in ("offset", "timestamp"):
        if not hasattr(getattr(record, name), "__index__"):
            yield name, getattr(record, name), "an integer"
    for name in ("key", "value"):
        if not _is_blob(getattr(record, name)):
            yield name, getattr(record, name), "bytes or None"
    if not isinstance(record.headers, tuple | list):
        yield "headers", record.headers, "a tuple of pairs of a name and bytes"
        return
    for position, pair in enumerate(record.headers):
        name = f"headers[{position}]"
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            yield name, pair, "a pair of a name and bytes"
        elif not isinstance(pair[0], str):
            yield f"{name}[0]", pair[0], "a text"
        elif not _is_blob(pair[1]):
            yield f"{name}[1]", pair[1], "bytes or None"


def _is_blob(value: Any) -> bool:
    """Whether a value is bytes of any kind, or None."""
    try:
        memoryview(b"" if value is None else value)
    except TypeError:
        return False
    return True


class _Fault(ValueError):
    """The reason why a record does not fit into its batch."""

    def __init__(self, fault: str) -> None:
        super().__init__(fault)
        self.fault = fault


def _body(record: Record, base_offset: int, base_timestamp: int, append_time: int | None) -> bytes:
    delta = index(record.offset) - base_offset
    timestamp = index(record.timestamp)
    if not _LOWEST_INT <= delta <= _HIGHEST_INT:
        raise _Fault(f"offset {record.offset} is too far from the base offset {base_offset}")
    if not _LOWEST_LONG <= timestamp <= _HIGHEST_LONG:
        raise _Fault(f"timestamp {timestamp} is no int64")
    if append_time is None:
        since = as_int64(timestamp - base_timestamp)
    elif timestamp == append_time:
        since = 0
    else:
        raise _Fault(f"timestamp {timestamp} is not that of the append, {append_time}")
    parts = [b"\0", encode_varint(since), encode_varint(delta)]
    for blob in (record.key, record.value):
        if blob is None:
            parts.append(b"\1")
        else:
            raw = blob if type(blob) is bytes else plain_bytes(blob)
            parts += (encode_varint(len(raw)), raw)
    headers = record.headers if type(record.headers) is tuple else _items(record.headers)
    parts.append(encode_varint(len(headers)))
    for pair in headers:
        name, blob = pair if type(pair) is tuple else _items(pair)
        raw = str.encode(name, "utf-8", "surrogateescape")
        parts += (encode_varint(len(raw)), raw)
        if blob is None:
            parts.append(b"\1")
        else:
            raw = blob if type(blob) is bytes else plain_bytes(blob)
            parts += (encode_varint(len(raw)), raw)
    return b"".join(parts)


def _items(value: Any) -> Sequence[Any]:
    """What is in a tuple or list, without the methods that a subclass has of its own."""
    try:
        return as_list(value)
    except Fallback:
        raise _Fault(f"expected a tuple, got {shown(value)}") from None


def as_int64(number: int) -> int:
    """The number as an int64, which wraps around as Java's long does."""
    return (number + (1 << 63) & (1 << 64) - 1) - (1 << 63)
