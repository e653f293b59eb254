"""Record batches: round trips, damage, what is cut short, and what is refused."""

from __future__ import annotations

import random
import struct
import sys
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import DecodeError, EncodeError
from kafka_admin_proto.records.batches.batches import (
    Batch,
    Record,
    RecordSet,
    read_batches,
    read_records,
    write_batch,
)
from kafka_admin_proto.records.batches.crc32c import by_tables, crc32c
from kafka_admin_proto.records.batches.model import CompressionName
from kafka_admin_proto.records.batches.record_format import write_records_v2
from kafka_admin_proto.records.compression.codecs import compress
from tests.helpers.mistyped import mistyped
from tests.records.values import INSTALLED, batches

RECORD = Record(5, 1000, b"key", b"value", (("h", None), ("i", b"")))
HEADER = 61


def as_read(batch: Batch, data: bytes, offset: int = 0) -> Batch:
    """What reading gives for a batch that was written as ``data``."""
    batch.size, batch.offset_in_data = len(data), offset
    return batch


@given(st.lists(batches(), max_size=4))
def test_round_trips(written: list[Batch]) -> None:
    data = b""
    for batch in written:
        encoded = write_batch(batch)
        as_read(batch, encoded, len(data))
        data += encoded
    assert read_records(data) == RecordSet(written)
    assert list(read_batches(memoryview(data))) == written
    for batch in written:
        if batch.compression == "none":
            again = write_batch(batch)
            assert data[batch.offset_in_data :][: batch.size] == again


@given(batches(), st.data())
def test_what_is_cut_short_is_no_fault(batch: Batch, data: st.DataObject) -> None:
    encoded = write_batch(batch)
    cut = data.draw(st.integers(0, len(encoded) - 1))
    needed = len(encoded) if cut >= 12 else 0
    assert read_records(encoded[:cut]) == RecordSet([], cut, needed_bytes=needed)
    found = read_records(encoded + encoded[:cut])
    assert found == RecordSet([as_read(batch, encoded)], cut, needed_bytes=needed)
    assert list(read_batches(encoded + encoded[:cut])) == [batch]


def test_null_records_are_no_batches() -> None:
    """As of a partition whose Fetch response has records -1 in their length's place."""
    assert read_records(None) == read_records(b"") == RecordSet([])
    assert list(read_batches(None)) == []


@pytest.mark.parametrize("wrong", ["", "0000", 0, [0], [b"a"]])
def test_what_is_no_bytes_is_not_no_batches(wrong: Any) -> None:
    """A text without bytes.fromhex had no batches, and was cut short."""
    with pytest.raises(TypeError, match="bytes-like object"):
        read_records(wrong)
    with pytest.raises(TypeError, match="bytes-like object"):
        list(read_batches(wrong))


@given(batches(), st.integers(0, 1 << 32), st.booleans())
def test_a_flipped_bit_is_noticed(batch: Batch, bit: int, twice: bool) -> None:
    good = write_batch(batch)
    data = bytearray(good * 2 if twice else good)
    bit %= 8 * len(good)
    data[bit // 8] ^= 1 << bit % 8
    found = read_records(data)
    outside = range(8) if batch.magic < 2 else (*range(8), *range(12, 16))  # not in the checksum
    if bit // 8 in outside and found.batches[0].error is None:
        assert found.batches[0] != as_read(batch, good)
        return
    assert list(found.errors()) or found.partial_bytes
    if bit // 8 >= 17:  # its length is right, so the next one is found
        assert len(found.batches) == 1 + twice
        if twice:
            assert found.batches[1] == as_read(batch, good, len(good))
        with pytest.raises(DecodeError):
            list(read_batches(data))


@given(st.binary(max_size=200))
def test_noise(noise: bytes) -> None:
    for head in (b"", struct.pack(">qiibI", 0, len(noise) + 9, 0, 2, crc32c(noise))):
        found = read_records(head + noise)
        for error in found.errors():
            assert isinstance(error, DecodeError)
            assert 0 <= error.offset <= len(head + noise)
            assert str(error.path).startswith("batches[")
            assert error.expected


@given(batches(), st.randoms(use_true_random=False))
def test_damage_with_the_right_checksum(batch: Batch, dice: random.Random) -> None:
    data = bytearray(write_batch(batch))
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(16, len(data))
        data[at] = dice.choice((0, 1, 127, 128, 255, dice.randrange(256)))
    found = read_records(with_checksum(data), limit=1 << 20)
    for error in found.errors():
        assert isinstance(error, DecodeError)
        assert 0 <= error.offset <= len(data)
    for good in found.batches:
        if good.error is None and (good.records or good.magic == 2):
            encoded = write_batch(good)
            again = read_records(encoded)
            facts = [as_read(each, b"") for each in (*again.batches, good)]
            if good.magic == 2 or good.compression == "none":
                assert again.error is None
                assert facts[0] == facts[-1]


def with_checksum(data: bytearray) -> bytes:
    if data[16] == 2 and len(data) >= 21:
        data[17:21] = crc32c(bytes(data[21:])).to_bytes(4, "big")
    else:
        data[12:16] = zlib.crc32(data[16:]).to_bytes(4, "big")
    return bytes(data)


def v2(records: bytes, count: int = 1, compression: int = 0, **facts: int) -> bytes:
    """A batch of magic 2 around bytes that need not be records."""
    tail = struct.pack(
        ">hiqqqhii", compression, 0, facts.get("base_timestamp", 0), 0, -1, -1, -1, count
    )
    head = struct.pack(">qiibI", 0, len(tail + records) + 9, -1, 2, crc32c(tail + records))
    return head + tail + records


def v1(body: bytes, magic: int = 1, attributes: int = 0, offset: int = 3) -> bytes:
    """A message around what follows its attributes."""
    rest = struct.pack(">bB", magic, attributes) + body
    return struct.pack(">qiI", offset, len(rest) + 4, zlib.crc32(rest)) + rest


GOOD = write_records_v2([Record(0, 0, b"k")], 0, 0)
NULLS = b"\0" * 8 + b"\xff" * 8
INNER = v1(NULLS, offset=0)


def wrapped(inner: bytes, offset: int = 3, magic: int = 1) -> bytes:
    packed = compress("gzip", inner)
    time = b"\0" * 8 if magic else b""
    return v1(time + b"\xff" * 4 + len(packed).to_bytes(4, "big") + packed, magic, 1, offset)


@pytest.mark.parametrize(
    ("data", "path", "offset", "fault"),
    [
        (bytes(12), "", 8, "its length is 0"),
        (bytes(8) + b"\xff" * 4, "", 8, "its length is -1"),
        (bytes(11) + b"\x20" + bytes(4) + b"\3", "", 16, "its magic is 3"),
        (bytes(11) + b"\x20" + bytes(4) + b"\xff", "", 16, "its magic is -1"),
        (bytes(11) + b"\x20" + bytes(4) + b"\2" + bytes(27), "", 8, "it has 44 bytes"),
        (v2(b"")[:-1] + b"\2", "", 17, "its CRC-32C is"),
        (v2(b"", -1), "", HEADER, "its count of records is -1"),
        (v2(b"", 1), ".records[0]", 61, "record size ends too early"),
        (v2(b"", 0x7FFFFFFF), ".records[0]", 61, "record size ends too early"),
        (v2(b"\x80" * 5), ".records[0]", 61, "record size is a varint of more than 5 bytes"),
        (v2(b"\1"), ".records[0]", 61, "record size is -1, and 0 bytes are left"),
        (v2(b"\x04\0"), ".records[0]", 61, "record size is 2, and 1 byte are left"),
        (v2(b"\0"), ".records[0]", 62, "attributes are missing"),
        (v2(b"\2\0"), ".records[0].timestamp", 63, "timestamp delta ends too early"),
        (v2(b"\x18\0" + b"\xff" * 11), ".records[0].timestamp", 63, "of more than 10 bytes"),
        (v2(b"\4\0\0"), ".records[0].offset", 64, "offset delta ends too early"),
        (v2(b"\6\0\0\0"), ".records[0].key", 65, "key length ends too early"),
        (v2(b"\x08\0\0\0\2"), ".records[0].key", 65, "key needs 1 byte, 0 left"),
        (v2(b"\x0a\0\0\0\1\4"), ".records[0].value", 66, "value needs 2 bytes, 0 left"),
        (v2(b"\x0a\0\0\0\1\1"), ".records[0].headers", 67, "count of headers ends too early"),
        (v2(b"\x0c\0\0\0\1\1\1"), ".records[0].headers", 67, "count of headers is -1"),
        (v2(b"\x0c\0\0\0\1\1\2"), ".records[0].headers", 67, "count of headers is 1, and 0"),
        (v2(b"\x0e\0\0\0\1\1\2\1"), ".records[0].headers[0]", 68, "header key length is -1"),
        (v2(b"\x0e\0\0\0\1\1\2\2"), ".records[0].headers[0]", 68, "header key needs 1 byte"),
        (v2(b"\x0e\0\0\0\1\1\2\0"), ".records[0].headers[0]", 69, "header value length ends"),
        (v2(b"\x10\0\0\0\1\1\2\0\2"), ".records[0].headers[0]", 69, "header value needs 1"),
        (v2(b"\x0e\0\0\0\1\1\0\0"), ".records[0]", 68, "1 byte left in the record"),
        (v2(GOOD + b"\0"), "", 61 + len(GOOD), "1 byte left after its 1 record"),
        (v2(GOOD + b"\4\0\0", 2), ".records[1].offset", 61 + len(GOOD) + 3, "offset delta"),
        (v2(GOOD, compression=7), "", 21, "no compression has number 7"),
        (v2(GOOD, compression=1), "", 61, "gzip: "),
        (v2(compress("gzip", GOOD)[:-4], compression=1), "", 57 + len(compress("gzip", GOOD)),
         "gzip ends too early"),
        (v2(compress("gzip", b"\2\0"), compression=1), ".records[0].timestamp", 61,
         "ends too early (at byte 2 of what was decompressed)"),
        (v1(bytes(8), 0)[:-1] + b"\1", "", 12, "CRC-32 of the message"),
        (v1(bytes(10)), "", 8, "message of magic 1 has 16 bytes"),
        (v1(bytes(8) + b"\0\0\0\1" + bytes(4)), ".records[0].value", 31, "value length is missing"),
        (v1(bytes(8) + b"\0\0\0\5" + bytes(4)), ".records[0].key", 26, "key needs 5 bytes, 4 left"),
        (v1(NULLS + b"x"), ".records[0]", 34, "1 byte left in the message after its value"),
        (v1(NULLS, 1, 6), "", 17, "no compression has number 6"),
        (v1(NULLS, 1, 4), "", 17, "compressed by zstd"),
        (v1(NULLS, 1, 1), "", 34, "a compressed message set is null"),
        (wrapped(b""), ".records[0]", 34, "a compressed message set is empty"),
        (wrapped(INNER[:20]), ".records[0]", 34, "a compressed message set is empty"),
        (wrapped(INNER[:-1] + b"\1"), ".records[0]", 34, "CRC-32 of the inner message"),
        (wrapped(v1(NULLS, 1, 2)), ".records[0]", 34, "an inner message is compressed"),
        (wrapped(v1(NULLS, 5)), ".records[0]", 34, "magic of the inner message is 5"),
        (wrapped(v1(NULLS, offset=9)), "", 34, "its offset 3 lies before"),
        (wrapped(INNER[:8] + b"\x80" + INNER[9:]), ".records[0]", 34, "size of the inner message"),
    ],
)  # fmt: skip
def test_faults_say_where(data: bytes, path: str, offset: int, fault: str) -> None:
    before = write_batch(Batch.of([RECORD]))
    found = read_records(before + data)
    (error,) = found.errors()
    assert isinstance(error, DecodeError)
    assert (error.path, error.offset) == (f"batches[1]{path}", len(before) + offset)
    assert fault in str(error)
    assert found.batches[0].records == [RECORD]
    with pytest.raises(DecodeError, match=r"batches\[1\]"):
        list(read_batches(before + data))


def test_what_stands_before_a_fault_is_kept() -> None:
    good = write_records_v2([Record(0, 0, b"k")] * 3, 0, 0)
    numbers: dict[CompressionName, int] = {"none": 0, "gzip": 1, "zstd": 4}
    for name in numbers.keys() & INSTALLED:
        data = v2(compress(name, good + b"\2"), 4, numbers[name])
        found = read_records(data + write_batch(Batch.of([RECORD])))
        assert [len(batch.records) for batch in found.batches] == [3, 1]
        assert "records[3]" in str(found.batches[0].error)
    found = read_records(wrapped(INNER + v1(NULLS, offset=1) + b"?", 9))
    assert [record.offset for record in found.batches[0].records] == [8, 9]


def test_faults_inside_of_a_set_leave_the_offsets_right() -> None:
    """They count back from the last message, whether it can be read or not."""
    parts = [v1(NULLS, offset=number) for number in range(4)]
    for bad in range(4):
        for damaged in (
            parts[bad][:-1] + b"\1",
            v1(NULLS, 1, 2, bad),
            v1(NULLS + b"x", offset=bad),
        ):
            inner = b"".join((*parts[:bad], damaged, *parts[bad + 1 :]))
            (batch,) = read_records(wrapped(inner, 13)).batches
            assert [record.offset for record in batch.records] == list(range(10, 10 + bad))
            assert isinstance(batch.error, DecodeError)
            assert batch.error.path == f"batches[0].records[{bad}]"
            assert "lies before" not in str(batch.error)
            assert batch.last_offset == 13


def test_what_kafka_reads_is_read() -> None:
    padded = b"\x8c\x80\x00" + b"\0" + b"\x80\0" + b"\x80\0" + b"\1"  # size 70, padded varints
    rest = b"\xff\xff\xff\xff\x0f" + b"\0"
    size = len(padded[3:]) + len(rest)
    record = bytes((0x80 | (size << 1), 0)) + padded[3:] + rest
    (batch,) = read_batches(v2(record))
    assert batch.records == [Record(0, 0, None, None)]
    (empty,) = read_batches(v2(b"?", 0))
    assert empty.records == []
    (old,) = read_batches(wrapped(v1(NULLS, offset=0) + v1(NULLS, offset=1), 0))  # librdkafka's
    assert [record.offset for record in old.records] == [0, 1]
    (mixed,) = read_batches(wrapped(v1(b"\xff" * 8, 0, 0, 7), 9, magic=0))
    assert mixed.records == [Record(7)]
    assert (mixed.base_offset, mixed.last_offset) == (7, 9)


def test_the_time_of_the_append_needs_no_base() -> None:
    batch = Batch.of([Record(0, 1 << 43)], timestamp_type="log_append")
    batch.base_timestamp = -(1 << 63)
    assert next(read_batches(write_batch(batch))).records == batch.records


def test_names_that_are_not_utf8_survive() -> None:
    batch = Batch.of([Record(0, 0, headers=(("\udcff", b""),))])
    data = write_batch(batch)
    assert b"\2\xff\0" in data
    assert next(read_batches(data)).records == batch.records


def changed(batch: Batch, **facts: Any) -> Batch:
    for name, value in facts.items():
        setattr(batch, name, value)
    return batch


@pytest.mark.parametrize(
    ("batch", "path"),
    [
        (Batch.of([RECORD], magic=3), "magic"),
        (Batch.of([RECORD], compression=mistyped("brotli")), "compression"),
        (Batch.of([RECORD], timestamp_type="none"), "timestamp_type"),
        (changed(Batch.of([RECORD]), base_offset=1 << 40), "records[0]"),
        (changed(Batch.of([RECORD]), producer_epoch=1 << 20), "producer_epoch"),
        (Batch.of([Record(0, 1 << 63)]), "base_timestamp"),
        (changed(Batch.of([Record(0, 5)]), records=[Record(0, 1 << 63)]), "records[0]"),
        (changed(Batch.of([Record(0, 5)]), records=[RECORD, None]), "records[1]"),
        (Batch.of([RECORD, Record(6, 0, mistyped("text"))]), "records[1].key"),
        (Batch.of([Record(0, 0, headers=(("\ud800", None),))]), "records[0]"),
        (Batch.of([RECORD, Record(6, 0)], timestamp_type="log_append"), "records[1]"),
        (
            Batch.of(
                [Record(5, 1), Record(6, 0)],
                magic=1,
                compression="gzip",
                timestamp_type="log_append",
            ),
            "records[1].timestamp",
        ),
        (Batch.of([RECORD], magic=1), "records[0].headers"),
        (Batch.of([Record(0, 5)], magic=0), "records[0].timestamp"),
        (Batch.of([Record(0, 5)], magic=1, compression="zstd"), "compression"),
        (Batch.of([], magic=1), "records"),
        (changed(Batch.of([Record(0)], magic=1), is_control=True), "is_control"),
        (changed(Batch.of([Record(0)], magic=1), producer_id=1), "producer_id"),
        (changed(Batch.of([Record(0, 5)], magic=1), records=[Record(1 << 63)]), "records[0]"),
        (
            changed(Batch.of([Record(0, 5)], magic=1, compression="gzip"), last_offset_delta=4),
            "last_offset_delta",
        ),
    ],
)
def test_what_cannot_be_written(batch: Batch, path: str) -> None:
    with pytest.raises(EncodeError) as caught:
        write_batch(batch)
    assert caught.value.path == path


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize(
    ("field", "value", "path", "fault"),
    [
        ("value", "secret", "value", "expected bytes or None, got a str that may hold a secret"),
        ("key", [1], "key", "expected bytes or None, got a list that may"),
        ("offset", None, "offset", "expected an integer, got None"),
        ("headers", {"a": b"secret"}, "headers", "expected a tuple of pairs"),
        ("headers", [("a", b"b", b"secret")], "headers[0]", "expected a pair of a name and bytes"),
        ("headers", [("a", None), (b"a", b"")], "headers[1][0]", "expected a text, got a bytes"),
        ("headers", [("a", "secret")], "headers[0][1]", "expected bytes or None, got a str"),
    ],
)
def test_a_field_of_a_wrong_type_is_named_and_not_shown(
    magic: int, field: str, value: Any, path: str, fault: str
) -> None:
    if magic < 2 and field == "headers":
        return
    batch = Batch.of([Record(0, 5 if magic else -1)], magic=magic)
    setattr(batch.records[0], field, value)
    with pytest.raises(EncodeError) as caught:
        write_batch(batch)
    assert caught.value.path == f"records[0].{path}"
    assert fault in str(caught.value)
    assert "secret'" not in str(caught.value)


ODD: tuple[Any, ...] = (
    None, "text", b"", 1.5, 1 << 70, -(1 << 63), (1 << 63) - 1, 1 << 31, -7, [], [1], (("h",),),
    ((1, b""),), (("h", 5),), {1: 2}, object(),
)  # fmt: skip


@given(batches(), st.data())
def test_any_value_is_written_or_refused(batch: Batch, data: st.DataObject) -> None:
    """Only EncodeError, which says where."""
    targets: list[tuple[Any, str]] = [
        (batch, name)
        for name in batch.__struct_fields__
        if name not in ("size", "offset_in_data", "error")
    ]
    targets += [(record, name) for record in batch.records for name in record.__struct_fields__]
    for _ in range(data.draw(st.integers(1, 3))):
        target, name = data.draw(st.sampled_from(targets))
        setattr(target, name, data.draw(st.sampled_from(ODD)))
    try:
        written = write_batch(batch)
    except EncodeError as error:
        path = str(error.path).replace("[", ".").split(".")[0]
        assert path in batch.__struct_fields__
    else:
        assert isinstance(written, bytes)


def test_timestamps_wrap_as_javas_do() -> None:
    """The difference of two may be more than an int64."""
    lowest, highest = -(1 << 63), (1 << 63) - 1
    times = [-1, highest, lowest, 0, highest - 5, lowest + 9]
    for base in (*times, 1 << 62, -(1 << 62)):
        for append_time in (None, 7):
            batch = Batch.of([Record(n, time, b"k" * n) for n, time in enumerate(times)])
            batch.base_timestamp = base
            if append_time is not None:
                batch.timestamp_type, batch.max_timestamp = "log_append", append_time
                for record in batch.records:
                    record.timestamp = append_time
            data = write_batch(batch)
            assert next(read_batches(data)) == as_read(batch, data)
    # -1 after 2**63 - 1 is one step back and once around: +2**63
    body = write_records_v2([Record(0, -1)], 0, highest)
    assert body == b"\x1e\0" + b"\xff" * 9 + b"\1" + b"\0\1\1\0"


def test_records_before_a_fault_have_timestamps_that_wrap() -> None:
    good = write_records_v2([Record(0, -(1 << 63) + 4)], 0, (1 << 63) - 1)
    found = read_records(v2(good + b"\2", 2, base_timestamp=(1 << 63) - 1))
    assert [record.timestamp for record in found.batches[0].records] == [-(1 << 63) + 4]
    assert list(found.errors())


@given(st.binary(max_size=300))
def test_checksums_are_the_same(data: bytes) -> None:
    assert by_tables(data) == crc32c(data)


def test_checksums() -> None:
    assert by_tables(b"123456789") == crc32c(b"123456789") == 0xE3069283  # RFC 3720 and others
    assert by_tables(b"") == 0


def test_without_the_package_for_checksums(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka_admin_proto.records.batches import crc32c as module

    monkeypatch.setitem(sys.modules, "crc32c", None)
    monkeypatch.setattr(module, "engine", None)
    module._function.cache_clear()
    try:
        assert module._function() is by_tables
        assert read_records(write_batch(Batch.of([RECORD]))).batches[0].records == [RECORD]
    finally:
        module._function.cache_clear()


@pytest.mark.parametrize(("magic", "bits"), [(2, 1), (2, 64), (2, 1 << 15), (1, 128), (2, "x")])
def test_bits_that_are_not_reserved(magic: int, bits: Any) -> None:
    batch = Batch.of([RECORD], magic=magic)
    batch.reserved_attributes = bits
    with pytest.raises(EncodeError, match="reserved_attributes"):
        write_batch(batch)
