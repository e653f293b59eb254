"""Read the packets of a part of a file, as tuples or as the Arrow batches of the data source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Protocol

import msgspec
import pyarrow as pa

from kafka_admin_proto.capture.files.buffered import BufferedSource
from kafka_admin_proto.capture.files.splits import read_split
from kafka_admin_proto.capture.request_log_lines import DAMAGE, DAMAGED, NO_REQUEST, logged_lines
from kafka_admin_proto.capture.tcp.segments import (
    FOREIGN,
    FRAGMENTS,
    LINK_TYPES,
    read_segment,
    reversed_key,
)
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.tables.ingest.files import POSITION_BITS, Part, open_part, open_stream
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: One row for each TCP packet, line of a request log, and fault of a file.
#:
#: ``capture`` is the file. ``packet_ordinal`` orders all packets of a capture, with its files
#: sorted by their first packets. ``ts`` is the packet's time, ``watermark`` the time of the latest
#: first packet of all files up to this one. ``flow`` has the two endpoints, the lesser one first:
#: both addresses, then both ports; ``end`` is 0 if the first endpoint sent the packet, 1 otherwise.
#: ``missing`` counts bytes of the payload that were not captured. A line of a request log has a
#: ``payload`` and no ``sequence``. ``problem`` describes a fault of the file; ``{count}`` in it
#: stands for the sum of ``missing`` over its rows.
PACKETS = pa.schema(
    [
        pa.field("capture", pa.string(), nullable=False),
        pa.field("packet_ordinal", pa.int64(), nullable=False),
        pa.field("watermark", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("ts", pa.timestamp("us", tz="UTC")),
        pa.field("flow", pa.binary(), nullable=False),
        pa.field("end", pa.int8()),
        pa.field("sequence", pa.int64()),
        pa.field("flags", pa.int16()),
        pa.field("acknowledged", pa.int64()),
        pa.field("missing", pa.int64()),
        pa.field("payload", pa.binary()),
        pa.field("problem", pa.string()),
    ]
)
_NAMES = PACKETS.names
_PAYLOAD = PACKETS.get_field_index("payload")
#: A batch is yielded when it has this many rows, or bytes of payload.
_ROWS, _BYTES = 4096, 4 * 1024 * 1024
#: Lines of a log are shuffled in flows of 1 << 10 lines.
_LINES_BITS = 10
_TOO_MANY = f"more than {1 << POSITION_BITS} {{what}} in one file: the others are not read"


class Times(msgspec.Struct, frozen=True):
    """Packets from ``since`` up to and without ``until`` are read; microseconds since 1970."""

    since: int = 0
    until: int = 1 << 63


ANY_TIME = Times()


def read_part(
    part: Part, columns: Collection[str] = tuple(_NAMES), times: Times = ANY_TIME
) -> Iterator[pa.RecordBatch]:
    """The packets and faults of a part as batches with the given columns of `PACKETS`."""
    schema = pa.schema([field for field in PACKETS if field.name in columns])
    rows: list[PacketRow] = []
    size_bytes = 0
    for row in packet_rows(part, times):
        rows.append(row)
        size_bytes += len(row[_PAYLOAD] or b"")
        if len(rows) >= _ROWS or size_bytes >= _BYTES:
            batch, rows, size_bytes = batch_of(rows, schema, _NAMES), [], 0
            yield batch
    yield batch_of(rows, schema, _NAMES)


class PacketTaker(Protocol):
    """Takes packets that need not be rows."""

    def begin(self, part: Part, capture: str, times: Times) -> None:
        """Begin with a part of a file, which has the name ``capture`` in its rows."""

    def take(self, source: BufferedSource, end: int, position: int) -> int:
        """Take packets that follow in the buffer and begin before the byte ``end``.

        ``position`` is that of the last packet; returns the same behind those that were taken.
        """


#: The columns of ``PACKETS``; times in microseconds since 1970.
PacketRow = tuple[Any, ...]


def packet_rows(
    part: Part, times: Times = ANY_TIME, taker: PacketTaker | None = None
) -> Iterator[PacketRow]:
    """The packets and faults of a part as tuples, but for the packets that ``taker`` takes."""
    if part.problem is not None:
        return iter([_fault(part, part.rank << POSITION_BITS, part.problem)])
    return _log_rows(part) if part.kind == "log" else _packet_rows(part, times, taker)


def rows_of(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> Iterator[PacketRow]:
    """The rows of batches as tuples of the named columns; times in microseconds since 1970."""
    for batch in batches:
        columns = [
            column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
            for column in map(batch.column, names)
        ]
        yield from zip(*(column.to_pylist() for column in columns), strict=True)


def batch_of(
    rows: Sequence[tuple[Any, ...]], schema: pa.Schema, names: Sequence[str] = ()
) -> pa.RecordBatch:
    """Rows in the columns of a schema; their values are those of ``names``, or of the schema."""
    values = zip(*rows, strict=True)
    columns = dict(zip(names or schema.names, values, strict=True)) if rows else {}
    arrays = [pa.array(columns.get(field.name, ()), field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _packet_rows(part: Part, times: Times, taker: PacketTaker | None) -> Iterator[PacketRow]:
    capture = replace_invalid_utf8(part.file)
    base = part.rank << POSITION_BITS
    counts: dict[str, int] = {}
    ends: dict[bytes, tuple[bytes, int]] = {}
    faults: list[PacketRow] = []
    position = part.start
    sources: list[BufferedSource] = []
    if taker is not None:
        taker.begin(part, capture, times)

    def report(at: int, error: DumpError) -> None:
        faults.append(_fault(part, base + (position if part.numbered else at), str(error)))

    try:
        with open_part(part) as file:
            for at, packet in read_split(file, part.start, part.end, report, sources.append):
                position = position + 1 if part.numbered else at
                if part.numbered and position >> POSITION_BITS:
                    report(at, DumpError(_TOO_MANY.format(what="packets")))
                    break
                ts, link, data = packet
                if not times.since <= ts < times.until:
                    continue
                if link not in LINK_TYPES:
                    fault = FOREIGN.format(count="{count}", link=link)
                    counts[fault] = counts.get(fault, 0) + 1
                    continue
                segment = read_segment(link, data)
                if segment is None:
                    continue
                key, sequence, flags, payload, missing, acknowledged = segment
                if not key:
                    counts[FRAGMENTS] = counts.get(FRAGMENTS, 0) + 1
                    continue
                flow_end = ends.get(key)
                if flow_end is None:
                    if len(ends) > _ROWS:
                        ends.clear()
                    other = reversed_key(key)
                    flow_end = ends[key] = (key, 0) if key <= other else (other, 1)
                flow, end = flow_end
                yield (
                    capture, base + position, part.watermark, ts, flow, end, sequence, flags,
                    acknowledged, missing, payload, None,
                )  # fmt: skip
                if taker is not None:
                    position = taker.take(sources[-1], part.end, position)
    except OSError as error:
        faults.append(_fault(part, base + position, str(error)))
    yield from faults
    for fault, count in counts.items():
        yield _fault(part, base + position, fault, count)


def _fault(part: Part, ordinal: int, problem: str, count: int = 0) -> PacketRow:
    capture = replace_invalid_utf8(part.file)
    flow = b"fault:" + capture.encode()
    return (
        capture, ordinal, part.watermark, None, flow, None, None, None, None, count, None, problem
    )  # fmt: skip


def _log_rows(part: Part) -> Iterator[PacketRow]:
    capture = replace_invalid_utf8(part.file)
    base, number = part.rank << POSITION_BITS, 0
    try:
        with open_part(part), open_stream(part.file) as stream:
            for number, line in logged_lines(stream):
                if number >> POSITION_BITS:
                    yield _fault(part, base, _TOO_MANY.format(what="lines"))
                    break
                ordinal = base + number
                flow = b"lines:" + (ordinal >> _LINES_BITS).to_bytes(8, "big")
                yield (
                    capture, ordinal, part.watermark, None, flow, None, None, None, None, None,
                    line, None,
                )  # fmt: skip
        if not number:
            yield _fault(part, base, NO_REQUEST)
    except DAMAGE as error:
        yield _fault(part, base, DAMAGED.format(error))
    except OSError as error:
        yield _fault(part, base, str(error))
