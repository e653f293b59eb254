"""No credential in the rows of ``frames``, whatever packets a capture lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.needs import require

require("pyarrow")

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.tables.frame_columns import DECODED
from kafka_admin_proto.tables.rows.derive import RowDeriver
from kafka_admin_proto.tables.rows.frames import FrameRows, RowList
from tests.capture.credentials import (
    LOGINS,
    Leaks,
    Login,
    new_frames,
    read,
    with_flips,
    without_packets,
)
from tests.capture.packets import Packet, pcap

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(frames: Sequence[DecodedFrame], reading: DecodeOptions) -> list[dict[str, Any]]:
    """What a worker makes of the frames."""
    made = FrameRows(reading, DECODED, RowDeriver(mask=reading.mask), RowList(DECODED))
    for each in frames:
        made.add(each, 0)
    found: list[dict[str, Any]] = made.take().to_pylist()
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize("each", LOGINS, ids=[each.name for each in LOGINS])
def test_rows_of_damaged_captures(each: Login) -> None:
    leaks, seen = Leaks(each.secrets), set[Any]()
    damaged = [*without_packets(each.packets), *with_flips(each.packets, 15, seed=3)]
    for what, packets in damaged:
        for found in rows(new_frames(read(packets), seen), DecodeOptions(raw=True)):
            assert not leaks(str(found)), what
    assert leaks(str(rows(read(each.packets), DecodeOptions(mask=False, raw=True))))


def from_port(packets: Sequence[Packet], port: int) -> list[Packet]:
    """The same connection from another port of the client's."""

    def moved(end: tuple[str, int]) -> tuple[str, int]:
        return (end[0], port) if end[1] == 40000 else end

    return [
        replace(packet, source=moved(packet.source), destination=moved(packet.destination))
        for packet in packets
    ]


@pytest.mark.exhaustive
@pytest.mark.xdist_group("spark")
def test_spark_itself(spark: SparkSession, tmp_path: Path) -> None:
    from kafka_admin_proto.spark.frames import read_frames

    port, packets, secrets = 20000, [], []
    for each in LOGINS:
        secrets += each.secrets
        for damaged in (each.packets, each.packets[1:], [*each.packets[:5], *each.packets[6:]]):
            packets += from_port(damaged, port)
            port += 1
    packets.sort(key=lambda packet: packet.ts)
    (tmp_path / "a.pcap").write_bytes(pcap(packets))
    leaks = Leaks(secrets)
    found = [row.asDict(recursive=True) for row in read_frames(spark, str(tmp_path)).collect()]
    assert len({row["connection"] for row in found}) == port - 20000
    assert not leaks(str(found))
