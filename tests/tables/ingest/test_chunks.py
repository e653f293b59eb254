"""Packets packed into chunks: nothing is lost, and each flow keeps its order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.tables.ingest import chunks
from kafka_admin_proto.tables.ingest.chunks import CHUNKS, LINE, SEGMENT, chunks_of, pack
from kafka_admin_proto.tables.ingest.packets import PacketRow, rows_of

_U32 = st.integers(0, (1 << 32) - 1)
_FLOWS, _ENDS = st.sampled_from([b"a", b"b"]), st.integers(0, 1)


@st.composite
def packets(draw: st.DrawFn) -> list[PacketRow]:
    """Rows of packets, lines of logs and faults of two files, in the order of the capture."""
    rows: list[PacketRow] = []
    for ordinal in range(draw(st.integers(0, 30))):
        capture = f"{ordinal // 8}.pcap"
        kind = draw(st.sampled_from(["packet", "packet", "packet", "line", "fault"]))
        data = draw(st.binary(max_size=12))
        if kind == "packet":
            rows.append(
                (capture, ordinal, 7, draw(st.integers(-5, 1 << 62)), draw(_FLOWS), draw(_ENDS),
                 draw(_U32), draw(st.integers(0, 511)), draw(_U32),
                 draw(_U32), data, None)
            )  # fmt: skip
        elif kind == "line":
            rows.append((capture, ordinal, 7, None, b"lines", *[None] * 5, data, None))
        else:
            rows.append((capture, ordinal, 7, None, b"fault", *[None] * 4, 3, None, "broken"))
    return rows


def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[PacketRow]:
    for capture, _, watermark, flow, segments, payload, problem, missing in rows_of(
        batches, CHUNKS.names
    ):
        if problem is not None:
            yield (capture, _, watermark, None, flow, *[None] * 4, missing, None, problem)
            continue
        at = 0
        for ordinal, ts, sequence, acknowledged, lost, size, flags, end in SEGMENT.iter_unpack(
            segments
        ):
            data = payload[at : at + size]
            at += size
            known: tuple[Any, ...] = (ts, flow, end, sequence, flags, acknowledged, lost)
            if end == LINE:
                known = (None, flow, *[None] * 5)
            yield (capture, ordinal, watermark, *known, data, None)
        assert at == len(payload)


@given(rows=packets(), size=st.integers(1, 40), waiting=st.integers(1, 400))
def test_all_packets_come_out_in_their_order(
    rows: list[PacketRow], size: int, waiting: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_BYTES", size)
        patch.setattr(chunks, "_OPEN_BYTES", waiting)
        patch.setattr(chunks, "_BATCH_BYTES", waiting)
        batches = list(pack(chunks_of(iter(rows))))
    assert all(batch.schema == CHUNKS for batch in batches)
    found = list(unpacked(batches))
    assert sorted(map(str, found)) == sorted(map(str, rows))
    for flow in {row[4] for row in rows}:
        ordinals = [row[1] for row in found if row[4] == flow]
        assert ordinals == sorted(ordinals)


def test_a_chunk_has_a_bounded_size() -> None:
    row = ("x", 0, 0, 0, b"a", 0, 0, 0, 0, 0, bytes(60_000), None)
    (batch,) = pack(chunks_of([row] * 40))
    sizes = [len(each) for each in batch["payload"].to_pylist()]
    assert sum(sizes) == 40 * 60_000
    assert max(sizes) <= chunks.CHUNK_BYTES
    assert len(sizes) == 3
