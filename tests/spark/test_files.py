"""Which files names mean."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import pytest

from kafka_admin_proto.spark import files, packets
from kafka_admin_proto.spark.files import list_files, look_at, parts_of, plan
from kafka_admin_proto.spark.packets import read_part
from tests.capture.packets import conversation, pcap
from tests.capture.test_captures import USUAL


def test_a_name_with_brackets_is_a_name_first(tmp_path: Path) -> None:
    """Shells hand names on as they are."""
    odd, plain = tmp_path / "broker[1].pcap", tmp_path / "broker1.pcap"
    odd.touch()
    plain.touch()
    assert list_files([str(odd)]) == [str(odd)]
    assert list_files([str(tmp_path / "broker*")]) == [str(plain), str(odd)]
    odd.unlink()
    assert list_files([str(odd)]) == [str(plain)]


def test_uris_are_no_patterns(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file:///.*\*"):
        list_files([f"file://{tmp_path}/2026-*"])


def places(names: list[Path], split_size: int) -> list[int]:
    """Those of all packets, in the order in which the parts of these files are read."""
    found = []
    for part in plan(list(map(str, names)), split_size):
        for batch in read_part(part):
            found += batch["place"].to_pylist()
    return found


@pytest.mark.parametrize("bits", [10, 34])
def test_places_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """Along the files and in each, however large one is: one takes several ranks, if need be."""
    names = []
    for number in range(3):
        turns = conversation(USUAL, size=40, ts=1_700_000_000_000_000 + number * 10_000_000)
        data = pcap(turns)
        names.append(tmp_path / f"{number}.pcap")
        names[-1].write_bytes(gzip.compress(data) if number == 1 else data)
    monkeypatch.setattr(files, "POSITION_BITS", bits)
    monkeypatch.setattr(packets, "POSITION_BITS", bits)
    found = places(names, split_size=5000)
    assert len(data) > 1 << 12
    assert len(found) == 3 * len(turns)
    assert all(one < other for one, other in pairwise(found))


def test_more_packets_than_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compressed takes one rank, however large it becomes."""
    name = tmp_path / "large.pcap.gz"
    name.write_bytes(gzip.compress(pcap(conversation(USUAL, size=40))))
    monkeypatch.setattr(packets, "POSITION_BITS", 5)
    (part,) = plan([str(name)])
    rows = [row for batch in read_part(part) for row in batch.to_pylist()]
    assert len(rows) == 32
    assert "are not read" in rows[-1]["problem"]


def test_many_files(tmp_path: Path) -> None:
    """A file a minute of each of a hundred brokers, for years."""
    name = tmp_path / "one.pcap"
    name.write_bytes(pcap(conversation(USUAL)))
    looks = look_at([str(name)], 1 << 20)
    (part,) = parts_of(looks, 8 * 365 * 24 * 60 * 100)
    place = next(read_part(part))["place"][0].as_py()
    assert 0 < place < 1 << 63
    with pytest.raises(ValueError, match="a capture has at most"):
        parts_of(looks, files.MOST_RANKS)
