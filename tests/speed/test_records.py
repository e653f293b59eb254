"""Records and checksums of the compiled engine beside those of plain Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import DecodeError
from kafka_admin_proto.records import Batch, Record, read_records, write_batch
from kafka_admin_proto.records.batches import record_format
from kafka_admin_proto.records.batches.crc32c import by_tables
from kafka_admin_proto.records.batches.record_format import (
    read_records_v2,
    skim_records_v2,
    write_records_v2,
)
from kafka_admin_proto.wire.emit.runtime import Fallback
from tests.helpers.mistyped import mistyped
from tests.helpers.profile import draws
from tests.records.values import batches
from tests.speed.compiled import speed


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions of ``record_format`` are those of plain Python here."""
    monkeypatch.setattr(record_format, "_ENGINE", None)


@pytest.fixture(scope="module")
def engine() -> Any:
    return speed().RecordEngine(Record)


def by_python(data: bytes, count: int, first: Record, limit: int = 1 << 62) -> list[Record] | None:
    found: list[Record] = []
    try:
        read_records_v2(data, 0, count, first.offset, first.timestamp, None, found, limit)
    except DecodeError:
        return None
    return found


def by_engine(
    engine: Any, data: Any, count: int, first: Record, limit: int = 1 << 62
) -> list[Record] | None:
    found: list[Record] = []
    try:
        engine.read(data, 0, count, first.offset, first.timestamp, None, found, limit)
    except Fallback:
        assert found == []
        return None
    return found


def skimmed(engine: Any, data: bytes, count: int, first: Record, limit: int) -> Any:
    """What the engine finds of the records, or plain Python without one; None for a fault."""
    if engine is None:
        try:
            return skim_records_v2(data, 0, count, first.timestamp, limit)
        except DecodeError:
            return None
    try:
        return engine.skim(data, 0, count, first.timestamp, limit)
    except Fallback:
        return None


@settings(max_examples=draws(400))
@given(batches(magic=2, compression="none"), st.randoms(use_true_random=False), st.integers(0, 9))
def test_records_looked_through_whole_and_damaged(
    engine: Any, batch: Batch, dice: Any, limit: int
) -> None:
    records = batch.records or [Record(0)]
    first, count = records[0], len(records)
    whole = write_records_v2(records, first.offset, first.timestamp)
    pieces = [whole]
    for _ in range(8):
        damaged = bytearray(whole)
        damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
        pieces += [bytes(damaged), bytes(damaged[: dice.randint(0, len(damaged))])]
    for data in pieces:
        for most in (1 << 62, limit):
            expected = skimmed(None, data, count, first, most)
            assert skimmed(engine, data, count, first, most) == expected
    assert skimmed(engine, whole, count, first, 1 << 62) is not None
    for wrong in (count + 1, 0, -1):
        assert skimmed(engine, whole, wrong, first, 1 << 62) is None


@settings(max_examples=draws(400))
@given(batches(magic=2, compression="none"), st.randoms(use_true_random=False), st.integers(0, 9))
def test_records_whole_and_damaged(engine: Any, batch: Batch, dice: Any, limit: int) -> None:
    records = batch.records
    first = records[0] if records else Record(0)
    data = write_records_v2(records, first.offset, first.timestamp)
    assert engine.write(records, first.offset, first.timestamp, None) == data
    assert by_engine(engine, data, len(records), first) == records
    assert by_engine(engine, memoryview(data), len(records), first) == records
    for count in (len(records) - 1, len(records) + 1, -1, 1 << 31):
        assert by_engine(engine, data, count, first) == by_python(data, count, first)
    assert by_engine(engine, data, len(records), first, limit) == by_python(
        data, len(records), first, limit
    )
    for _ in range(8):
        damaged = bytearray(data)
        if damaged:
            damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
        cut = bytes(damaged[: dice.randint(0, len(damaged))])
        for each in (bytes(damaged), cut):
            expected = by_python(each, len(records), first)
            assert by_engine(engine, each, len(records), first) == expected


@pytest.mark.parametrize(
    "record",
    [
        Record(mistyped("1")), Record(1, mistyped(1.5)), Record(1, 0, mistyped("key")),
        Record(1, 0, None, mistyped(bytearray(b"v"))),
        Record(1 << 40), Record(-(1 << 63)), Record(1 << 70), Record(1, 1 << 63),
        Record(1, 0, headers=mistyped([("a", b"")])), Record(1, 0, headers=mistyped((("a",),))),
        Record(1, 0, headers=mistyped(((b"a", b""),))), Record(1, 0, headers=(("\ud800", b""),)),
        Record(1, 0, headers=mistyped((("a", "b"),))), "no record",
    ],
)  # fmt: skip
def test_records_that_it_does_not_write(engine: Any, record: Any) -> None:
    with pytest.raises((Fallback, UnicodeEncodeError)):
        engine.write([record], 0, 0, None)


def test_timestamps_of_the_append_and_those_that_wrap(engine: Any) -> None:
    records = [Record(5, 77, b"k"), Record(6, 77)]
    data = engine.write(records, 5, 12, 77)
    assert data == write_records_v2(records, 5, 12, 77)
    found: list[Record] = []
    engine.read(data, 0, 2, 5, 12, 77, found, 99)
    assert found == records
    with pytest.raises(Fallback):
        engine.write(records, 5, 12, 78)
    high, low = (1 << 63) - 1, -(1 << 63)
    for base, time in ((high, low), (low, high), (-1, high)):
        records = [Record(0, time)]
        data = write_records_v2(records, 0, base)
        assert engine.write(records, 0, base, None) == data
        found = []
        engine.read(data, 0, 1, 0, base, None, found, 99)
        assert found == records


@settings(max_examples=draws(200))
@given(st.binary(max_size=100))
def test_checksums(data: bytes) -> None:
    expected = by_tables(data)
    assert speed().crc32c(data) == expected
    assert speed().crc32c(memoryview(data)) == speed().crc32c(bytearray(data)) == expected
    with pytest.raises(TypeError):
        speed().crc32c("text")


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("compiled", [False, True])
def test_views(
    compression: Any, compiled: bool, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiled:
        monkeypatch.setattr(record_format, "_ENGINE", engine)
    headers = (("h", b"x"),)
    records = [Record(1, 2, b"key", b"value" * 9, headers), Record(2, 2, None, None)]
    data = write_batch(Batch.of(records, compression=compression))
    for buffer in (data, bytearray(data), memoryview(data)):
        views = read_records(buffer, zero_copy=True)
        assert views == read_records(data)
        value: Any = views.batches[0].records[0].value
        assert isinstance(value, memoryview)
        assert value == b"value" * 9
    damaged = data[:-1] + bytes([data[-1] ^ 1])
    assert str(read_records(damaged, zero_copy=True).batches[0].error) == str(
        read_records(damaged).batches[0].error
    )
