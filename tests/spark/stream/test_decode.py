"""Flows from batch to batch of a stream, without Spark: the frames of one process."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.capture.captures import read_captures
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.tables.decode_flows import STREAMED_CHUNKS, StreamTime, decode_stream
from kafka_admin_proto.tables.ingest.chunks import chunks_of, pack
from kafka_admin_proto.tables.ingest.files import parts_of, probe_files
from kafka_admin_proto.tables.ingest.packets import packet_rows
from tests.capture.packets import ACK, CLIENT, SERVER, Packet, conversation, pcap
from tests.capture.test_captures import USUAL

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
_KEYS = (
    "capture", "connection", "client", "direction", "stream_offset", "api", "correlation_id",
    "latency_us", "client_software", "problem",
)  # fmt: skip


def traffic() -> list[Packet]:
    """One pair of endpoints over and over, in the middle of a connection as well, and others."""
    packets = conversation(USUAL, ts=START, size=300)
    last = packets[-1]
    packets.append(
        Packet(last.source, last.destination, last.sequence, ACK, ts=last.ts + 2 * SECOND)
    )
    packets += conversation(USUAL, ts=START + 20 * SECOND, starts=(5, 6))
    packets += conversation(USUAL, ts=START + 40 * SECOND, handshake=False)
    packets += conversation(
        USUAL, ts=START + 60 * SECOND, starts=(7, 8), client=SERVER, server=CLIENT
    )
    slow = conversation(USUAL, client=("10.0.0.3", 1), farewell=False)
    for number, packet in enumerate(slow):
        packets.append(dataclasses.replace(packet, ts=START + number * 4 * SECOND))
    return sorted(packets, key=lambda packet: packet.ts)


class Streamed:
    """A stream, a file a batch: its frames, and what each batch has left of flows."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.states: list[dict[str, Any]] = []
        self._rank = 0

    def read(self, name: Path) -> None:
        (probe,) = probe_files([str(name)], 1 << 30)
        (part,) = parts_of([probe], self._rank)
        self._rank += probe.ranks
        self._decode(
            list(pack(chunks_of(packet_rows(part)))), StreamTime(part.watermark, 3600 * SECOND)
        )

    def end(self) -> None:
        self._decode([], StreamTime(1 << 62, 0))

    def _decode(self, chunks: list[pa.RecordBatch], stream: StreamTime) -> None:
        rows = [{**row, "state": None} for batch in chunks for row in batch.to_pylist()]
        for each in self.states:
            none = dict.fromkeys(STREAMED_CHUNKS.names)
            own = {name: each[name] for name in ("flow", "watermark", "state")}
            rows.append({**none, **own, "packet_ordinal": -1})
        table = pa.Table.from_pylist(rows, STREAMED_CHUNKS)
        table = table.sort_by([("flow", "ascending"), ("packet_ordinal", "ascending")])
        found = [row for batch in self._decoded(table, stream) for row in batch.to_pylist()]
        self.rows += [row for row in found if row["direction"] is not None]
        self.states = [row for row in found if row["state"] is not None]

    @staticmethod
    def _decoded(table: pa.Table, stream: StreamTime) -> Iterator[pa.RecordBatch]:
        return decode_stream(table.to_batches(), DEFAULT_OPTIONS, stream)


def cut(packets: Sequence[Packet], points: Sequence[int], folder: Path) -> list[Path]:
    names = []
    for start, end in pairwise([0, *points, len(packets)]):
        names.append(folder / f"{start}.pcap")
        names[-1].write_bytes(pcap(packets[start:end]))
    return names


def shown(rows: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(str([row[key] for key in _KEYS]) for row in rows)


@pytest.mark.exhaustive
@settings(max_examples=40)
@given(data=st.data())
def test_frames_are_those_of_one_process(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    packets = traffic()
    cuts = st.integers(1, len(packets) - 1)
    points = sorted(data.draw(st.sets(cuts, max_size=12)))
    names = cut(packets, points, tmp_path_factory.mktemp("cut"))
    found = Streamed()
    for name in names:
        found.read(name)
    found.end()
    assert found.states == []
    expected = shown([frame_record(frame) for frame in read_captures(names)])
    assert any("#4" in each for each in expected)
    assert shown(found.rows) == expected


def test_frames_that_wait_are_of_their_file(tmp_path: Path) -> None:
    """A response without a request waits for one, over the end of its file."""
    packets = conversation(USUAL[:2], farewell=False)
    name = tmp_path / "half.pcap"
    name.write_bytes(pcap([each for each in packets if not each.data or each.source == SERVER]))
    found = Streamed()
    found.read(name)
    assert found.rows == []
    found.end()
    assert shown(found.rows) == shown([frame_record(each) for each in read_captures([name])])
    assert {row["capture"] for row in found.rows} == {str(name)}


def test_little_is_kept_of_what_is_over(tmp_path: Path) -> None:
    """After the time in which packets may be sent again, by the stream's time."""
    packets: list[Packet] = []
    for number in range(50):
        packets += conversation(USUAL, client=("10.0.0.9", 1000 + number), ts=START)
    packets.sort(key=lambda packet: packet.ts)
    soon = conversation(USUAL, ts=START + 5 * SECOND, client=("10.0.0.8", 1))[:-9]
    later = conversation(USUAL, ts=START + 6 * SECOND, client=("10.0.0.7", 1))[:1]
    acknowledged = [Packet(("10.0.0.6", 1), ("10.0.0.2", 9092), 7, ts=START + 6 * SECOND)]
    found = Streamed()
    for number, each in enumerate((packets, soon, [*later, *acknowledged])):
        name = tmp_path / f"{number}.pcap"
        name.write_bytes(pcap(each))
        found.read(name)
        if number < 2:
            assert min(len(row["state"]) for row in found.states) > 100
    sizes = sorted(len(row["state"]) for row in found.states)
    assert len(sizes) == 50 + 2
    assert sizes[49] < 20
    assert sizes[50] > 100
