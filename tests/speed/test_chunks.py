"""The chunks that the engine packs have the packets of those that plain Python packs."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.capture.packets import KINDS, conversation, pcap, pcapng
from tests.helpers.profile import EXHAUSTIVE, SEED
from tests.spark.needs import require
from tests.speed import damaged
from tests.speed.compiled import speed
from tests.speed.test_captures import SAMPLES, all_packets, content, each_api

require("pyarrow")

if TYPE_CHECKING:
    from kafka_admin_proto.tables.ingest.packets import Times

DAMAGED = 1000 if EXHAUSTIVE else 60
Packed = dict[bytes, tuple[set[str], bytes, bytes, list[Any]]]


def packed(path: Path, engine: Any, split_size: int, times: Times | None = None) -> Packed:
    """Flow → the files of its chunks, their packets one behind the other, and faults."""
    from kafka_admin_proto.tables.ingest.files import list_files, plan
    from kafka_admin_proto.tables.ingest.packets import ANY_TIME
    from kafka_admin_proto.tables.ingest.plain_chunks import part_chunks

    found: Packed = {}
    for part in plan(list_files([str(path)]), split_size, "auto"):
        for capture, ordinal, _, flow, segments, payload, problem, missing in part_chunks(
            part, times or ANY_TIME, engine
        ):
            names, before, bytes_before, faults = found.get(flow, (set(), b"", b"", []))
            if problem is not None:
                faults = [*faults, (ordinal, problem, missing)]
            found[flow] = (
                names | {capture}, before + (segments or b""), bytes_before + (payload or b""),
                faults,
            )  # fmt: skip
    return found


def check(path: Path, split_size: int = 1 << 20, times: Times | None = None) -> Packed:
    expected = packed(path, None, split_size, times)
    assert packed(path, speed(), split_size, times) == expected
    return expected


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples(path: Path, tmp_path: Path) -> None:
    from kafka_admin_proto.tables.ingest.packets import Times

    whole = check(path)  # compressed: packets are numbered
    plain = tmp_path / "plain.pcap"
    plain.write_bytes(content(path))
    for split_size in (1 << 20, 10_000, 1000):
        assert check(plain, split_size).keys() == whole.keys()
    packets = damaged.packets(content(path))
    middle = packets[len(packets) // 2].ts
    for times in (Times(since=middle), Times(until=middle), Times(middle, middle + 10**6)):
        for each in (path, plain):
            check(each, times=times)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_packet(kind: str, tmp_path: Path) -> None:
    turns = [turn for name, made in each_api() if name == "CreateTopicsRequest" for turn in made]
    packets, path = conversation(turns), tmp_path / "a.pcap"
    for data in (
        pcap(packets, kind, order=">", nano=True),
        pcap(packets, kind, snap=120),
        pcapng(packets, kind),
        pcapng(packets, kind, order=">", resolution=9),
        pcapng(packets, kind, resolution=0x94),
    ):
        path.write_bytes(data)
        check(path)
        check(path, 3000)


def test_chunks_that_are_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka_admin_proto.tables.ingest import chunks, plain_chunks

    for module in (chunks, plain_chunks):
        monkeypatch.setattr(module, "CHUNK_BYTES", 3000)
    monkeypatch.setattr(chunks, "_OPEN_BYTES", 9000)
    path = tmp_path / "a.pcap"
    path.write_bytes(content(SAMPLES[0]))
    check(path)


def test_damaged_captures(tmp_path: Path) -> None:
    dice, sources = random.Random(SEED), all_packets()
    for number in range(DAMAGED):
        packets = damaged.damaged(damaged.some(dice.choice(sources), dice, 300), dice)
        for name, data in damaged.files(packets, dice)[-1:]:
            is_numbered = dice.random() < 0.3
            path = tmp_path / f"{number}-{name}.pcap"
            path.write_bytes(gzip.compress(data, 1) if is_numbered else data)
            check(path, dice.choice([1 << 20, 2000]))
