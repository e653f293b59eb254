"""Log segments: whatever happens to the file, what was good before it is still read."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.records.segments import segments
from kafka_admin_proto.records.segments.rows import segment_rows
from kafka_admin_proto.records.segments.segments import Gap, read_segment, topic_of
from tests.helpers.memory import traced
from tests.records.make_metadata_log import FOLDER
from tests.records.values import batches

LOG = FOLDER / "00000000000000000000.log"
SNAPSHOT = "00000000000000000076-0000000001.checkpoint"
DATA = LOG.read_bytes()


def read(data: bytes) -> list[Batch | Gap]:
    return list(read_segment(io.BytesIO(data)))


GOOD = [batch for batch in read(DATA) if isinstance(batch, Batch)]
ENDS = [batch.offset_in_data + batch.size for batch in GOOD]


def plain(offset: int, count: int = 3, magic: int = 2, size: int = 20) -> bytes:
    records = [Record(offset + i, 1000, b"k", b"v" * size) for i in range(count)]
    if magic == 0:
        for record in records:
            record.timestamp = -1
    return write_batch(Batch.of(records, magic=magic))


def test_a_real_log_is_read_whole() -> None:
    assert sum(batch.size for batch in GOOD) == len(DATA)
    assert [batch.base_offset for batch in GOOD[1:]] == [b.last_offset + 1 for b in GOOD[:-1]]
    assert not any(batch.error for batch in GOOD)
    assert list(read_segment(LOG)) == list(read_segment(str(LOG))) == GOOD


@given(st.integers(0, len(DATA)))
def test_a_file_cut_anywhere(size: int) -> None:
    found = read(DATA[:size])
    whole = sum(end <= size for end in ENDS)
    assert found[:whole] == GOOD[:whole]
    rest = size - (ENDS[whole - 1] if whole else 0)
    assert [gap.size for gap in found[whole:] if isinstance(gap, Gap)] == ([rest] if rest else [])
    if rest:
        (gap,) = found[whole:]
        assert isinstance(gap, Gap)
        # Of a batch's first bytes, the base offset's zeros look like free space.
        assert gap.what == ("truncated" if any(DATA[size - rest : size]) else "preallocated")


@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_a_byte_that_changed(position: int, change: int) -> None:
    data = bytearray(DATA)
    data[position] ^= change
    found = read(bytes(data))
    hit = sum(end <= position for end in ENDS)
    assert found[:hit] == GOOD[:hit]
    rest = GOOD[hit + 1 :]
    inside = position - GOOD[hit].offset_in_data
    if inside in range(8, 12):  # a length that happens to be that of two batches is believed
        end = offset_of(found[hit]) + found[hit].size
        rest = [batch for batch in rest if batch.offset_in_data >= end]
    # All later ones are there too: what is damaged is passed by, whatever its length says.
    assert found[len(found) - len(rest) :] == rest
    # The checksum does not guard the base offset (of which the sign shows) and the leader epoch.
    if inside not in (*range(8), *range(12, 16)) or (inside == 0 and change > 127):
        problems = found[hit : len(found) - len(rest)]
        assert any(isinstance(p, Gap) or p.error is not None for p in problems)
    assert_covered(found, len(data))


def offset_of(found: Batch | Gap) -> int:
    return found.position if isinstance(found, Gap) else found.offset_in_data


def assert_covered(found: list[Batch | Gap], size: int) -> None:
    """Each byte of the file is in what was found, once."""
    position = 0
    for each in found:
        assert position == offset_of(each)
        position += each.size
    assert position == size


@given(st.lists(batches(), max_size=4), st.binary(max_size=80), st.integers(0, 4))
def test_any_bytes_between_any_batches(some: list[Batch], noise: bytes, place: int) -> None:
    parts = [write_batch(batch) for batch in some]
    parts.insert(min(place, len(parts)), noise)
    assert_covered(read(b"".join(parts)), sum(map(len, parts)))


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_noise_between_batches_is_passed_by(magic: int) -> None:
    one, two = plain(5, magic=magic), plain(9, magic=magic)
    for noise in (b"\xff" * 100, b"\0" * 400 + b"\1", random.Random(1).randbytes(300_000)):
        found = read(one + noise + two)
        good = [batch for batch in found if isinstance(batch, Batch)]
        gaps = [gap for gap in found if isinstance(gap, Gap)]
        assert [r.offset for b in good for r in b.records] == [5, 6, 7, 9, 10, 11]
        assert [(gap.what, gap.position, gap.size) for gap in gaps] == [
            ("damaged", len(one), len(noise))
        ]


@pytest.mark.parametrize("size", [1, 11, 12, 16, 17, 100, 1 << 20])
def test_preallocated_space_is_no_problem(size: int) -> None:
    *good, gap = read(DATA + bytes(size))
    assert good == GOOD
    assert isinstance(gap, Gap)
    assert gap == Gap(len(DATA), size, "preallocated", gap.text)
    assert not gap.is_problem


def test_a_half_written_batch_in_preallocated_space() -> None:
    one, two = plain(5), plain(8, size=500)
    first, half, gap = read(one + two[:200] + bytes(5000))
    assert isinstance(half, Batch)
    assert isinstance(gap, Gap)
    assert (first.size, half.size) == (len(one), len(two))
    assert "CRC" in str(half.error)
    assert gap.what == "preallocated"


def test_lengths_that_lie_make_no_room() -> None:
    one, two = plain(5), plain(8)
    for length in (0, 1, 48, 1 << 26, (1 << 31) - 1, 1 << 31, (1 << 32) - 1):
        lying = one[:8] + length.to_bytes(4, "big") + one[12:]
        with traced() as memory:
            found = read(lying + two)
        assert memory.peak < 4 << 20
        gap, batch = found
        assert isinstance(gap, Gap)
        assert (gap.what, gap.size) == ("damaged", len(one))
        assert isinstance(batch, Batch)
        assert batch.base_offset == 8


@pytest.mark.exhaustive
def test_a_large_file_takes_the_memory_of_its_largest_batch() -> None:
    class Endless(io.RawIOBase):
        """Batches one after another, made when they are read."""

        def __init__(self, count: int) -> None:
            self.parts = (plain(3 * i, size=5000) for i in range(count))
            self.rest = b""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            view = memoryview(buffer)
            self.rest = self.rest or next(self.parts, b"")
            size = min(len(view), len(self.rest))
            view[:size] = self.rest[:size]
            self.rest = self.rest[size:]
            return size

    stream: Any = Endless(1500)
    with traced() as memory:
        count = sum(1 for _ in read_segment(stream))
    assert count == 1500
    assert memory.peak < 4 << 20


@pytest.mark.explore
def test_many_false_beginnings_end_the_search_in_time() -> None:
    """Each of them says that it is long, and its checksum has to be tried."""
    false = b"\0" * 8 + (1 << 20).to_bytes(4, "big") + b"\0\0\0\0\2" + b"\1" * 4 + bytes(40)
    data = false * ((4 << 20) // len(false))
    assert_covered(read(data), len(data))


def liar(size: int) -> bytes:
    """What looks like the beginning of a batch of that size."""
    return bytes(8) + size.to_bytes(4, "big") + b"\1\2\3\4" + b"\0\0" + b"z" * 40


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "noise",
    [
        liar(17 << 20),
        liar(100_000) * 200,
        liar(100_000) * 200 + liar(17 << 20) * 3,
        liar(300_000) * 20_000,
    ],
    ids=["one", "many", "both", "a great many"],
)
def test_lengths_that_lie_hide_nothing_behind_them(noise: bytes) -> None:
    good = [plain(3 * i, size=6000) for i in range(1000)]
    data = b"\xff" * 64 + noise + b"".join(good)
    gap, *found = read(data)
    assert isinstance(gap, Gap)
    assert (gap.what, gap.size) == ("damaged", 64 + len(noise))
    assert [batch.base_offset for batch in found if isinstance(batch, Batch)] == [
        3 * i for i in range(1000)
    ]


def test_a_good_batch_between_damaged_ones_is_found() -> None:
    one = plain(5)
    data = b"\xff" * 99 + liar(1 << 20) + one + liar(1 << 20) + b"\xff" * 99
    gap, found, rest = read(data)
    assert isinstance(gap, Gap)
    assert isinstance(rest, Gap)
    assert isinstance(found, Batch)
    assert (found.base_offset, found.error) == (5, None)


def test_many_searches_share_what_may_be_checked_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Good batches between the lies do not make each of them cost its full length again."""
    checked = []

    def counting(data: bytearray, start: int, size: int) -> bool:
        checked.append(size)
        return holds(data, start, size)

    holds = segments._checksum_holds
    monkeypatch.setattr(segments, "_checksum_holds", counting)
    data = (plain(5) + liar(300_000) + b"\xff" * 20) * 4000
    assert_covered(read(data), len(data))
    assert sum(checked) < 100 * len(data)


def test_topics_from_folders() -> None:
    assert topic_of(LOG) == "__cluster_metadata"
    assert topic_of("/a/my-topic-12/0.log") == "my-topic"
    assert topic_of("/a/fruit-3.0f3c5d4b6a7988776655443322110000-delete/0.log") == "fruit"
    assert topic_of("/a/b/0.log") is None
    assert topic_of(f"/a/b-0/{SNAPSHOT}.deleted") == "__cluster_metadata"


def _rows(data: bytes, topic: str | None) -> Iterator[dict[str, object]]:
    return segment_rows(io.BytesIO(data), topic)


def test_rows_have_the_same_names_and_mask_secrets(tmp_path: Path) -> None:
    rows = list(segment_rows(LOG))
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    text = str(rows)
    assert "opensesame" not in text
    assert "opensesame" in str(list(segment_rows(LOG, mask=False)))
    (user,) = (r for r in rows if r["offset"] == 10)
    assert user["type"] == "UserScramCredentialRecord"
    assert user["fields"]["storedKey"] == "********"


@pytest.mark.parametrize("folder", ["copied", "copied-1", "a/__consumer_offsets-3"])
@pytest.mark.parametrize("name", [LOG.name, SNAPSHOT])
def test_a_metadata_log_is_one_wherever_it_lies(tmp_path: Path, folder: str, name: str) -> None:
    copy = tmp_path / folder / name
    copy.parent.mkdir(parents=True)
    copy.write_bytes((FOLDER / name).read_bytes())
    assert list(segment_rows(copy)) == list(segment_rows(FOLDER / name))
    with copy.open("rb") as stream:
        assert list(segment_rows(stream)) == list(segment_rows(FOLDER / name))


def test_a_later_segment_somewhere_else_keeps_its_secrets(tmp_path: Path) -> None:
    """It begins with no control record; each value is looked at."""
    (user,) = (r for r in segment_rows(LOG) if r["offset"] == 10)
    rest = DATA[user["position"] :]
    copy = tmp_path / "copied-0" / "00000000000000000010.log"
    copy.parent.mkdir()
    copy.write_bytes(rest)
    rows = list(segment_rows(copy))
    shown = str(rows)
    (hidden,) = (r for r in rows if r["offset"] == 10)
    assert hidden["fields"]["masked"] == "********"
    assert "opensesame" not in shown
    secrets = [r["fields"] for r in segment_rows(LOG, mask=False) if r["offset"] == 10]
    assert secrets[0]["storedKey"] not in shown
    assert base64.b64encode(b"opensesame").decode()[:12] not in shown


def test_rows_of_other_topics_and_of_damage(tmp_path: Path) -> None:
    folder = tmp_path / "fruit-0"
    folder.mkdir()
    (folder / "0.log").write_bytes(plain(5, 1) + b"\xff" * 30 + plain(7, 1) + bytes(40))
    record, gap, later, free = segment_rows(folder / "0.log")
    assert (record["offset"], record["key"], record["fields"]) == (
        5, {"text": "k"}, {"text": "v" * 20},
    )  # fmt: skip
    assert record["type"] is record["problem"] is None
    assert (gap["position"], gap["offset"]) == (record["size"], None)
    assert gap["problem"].startswith("no batch: its magic is 255; expected 0, 1 or 2")
    assert later["offset"] == 7
    assert free["problem"] is None
    assert free["note"] == "40 bytes preallocated and not written yet"
    (unreadable,) = _rows(plain(5, 1), "__cluster_metadata")
    assert unreadable["problem"]


def test_an_empty_file() -> None:
    assert read(b"") == []
