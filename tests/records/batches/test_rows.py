"""Rows of record batches: every byte once, the values that reading gives, damage, secrets."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import codec
from kafka_admin_proto.messages import EndTxnMarker, UserScramCredentialRecord
from kafka_admin_proto.records import Batch, Record, read_records, write_batch, write_control_record
from kafka_admin_proto.records.batches.model import COMPRESSIONS
from kafka_admin_proto.records.batches.record_format import BYTES_PER_ITEM, write_records_v2
from kafka_admin_proto.records.batches.rows import BatchRows
from kafka_admin_proto.records.compression.codecs import compress
from kafka_admin_proto.records.metadata.records import (
    METADATA_TOPIC,
    read_metadata_value,
    write_metadata_value,
)
from kafka_admin_proto.render.explain import ExplainedRow
from kafka_admin_proto.render.text import compact_json
from tests.records.batches.test_batches import v1, v2, with_checksum
from tests.records.batches.test_java_records import as_json
from tests.records.conftest import Ask, Drawn
from tests.records.values import FORMATS, batches

LOG = Path(__file__).parents[1] / "data" / "__cluster_metadata-0" / "00000000000000000000.log"
#: In front of the batches, and behind them, as in a frame.
BEFORE, AFTER = b"\xfe" * 7, b"\x02" * 5
SCRAM = UserScramCredentialRecord(
    name="ann", mechanism=1, salt=b"salt-salt-salt", stored_key=b"stored-key-1234567890",
    server_key=b"server-key-1234567890", iterations=4096,
)  # fmt: skip


#: Of magic 2, without key, value and headers.
EMPTY_RECORD = b"\x0c\x00\x00\x00\x01\x01\x00"


def rows_of(data: bytes, **more: Any) -> list[ExplainedRow]:
    """The rows, of which each byte is in exactly one."""
    limit = {"limit": more.pop("limit")} if "limit" in more else {}
    explainer = BatchRows(BEFORE + data + AFTER, **limit)
    rows = list(explainer.rows(len(BEFORE), len(BEFORE) + len(data), "records", **more))
    at = len(BEFORE)
    for row in rows:
        assert row.start == at <= row.end
        at = row.end
    assert at == len(BEFORE) + len(data)
    return rows


def damage(rows: list[ExplainedRow]) -> list[ExplainedRow]:
    return [row for row in rows if row.kind == "damage"]


def values(rows: list[ExplainedRow]) -> dict[str, Any]:
    return {row.path.removeprefix("records.batches"): row.value for row in rows}


def from_rows(data: bytes, rows: list[ExplainedRow], place: int) -> dict[str, Any]:
    """A plain batch in the words of ``as_json``, put together from its rows alone."""
    found = {row.path: row for row in rows}

    def value(name: str, default: Any = None) -> Any:
        row = found.get(f"records.batches[{place}].{name}")
        return default if row is None else row.value

    def blob(row: ExplainedRow | None) -> str | None:
        if row is None or row.value is None:
            return None
        start = row.start - len(BEFORE)
        size = 4
        if row.type.startswith("VARINT"):
            size = next(i for i in range(5) if data[start + i] < 128) + 1
        return data[start + size : row.end - len(BEFORE)].hex()

    def at(name: str) -> str | None:
        return blob(found.get(f"records.batches[{place}].{name}"))

    attributes = value("attributes")
    times = ("log_append" if attributes & 8 else "create") if value("magic") else "none"
    base = value("base_offset", value("offset"))
    records = []
    count = int(value("records", "1 item").split()[0])
    for index in range(count):
        path = f"records[{index}]."
        if value("magic") < 2:
            path = ""
        time = value("base_timestamp", value("timestamp", -1)) + value(path + "timestamp_delta", 0)
        headers = value(f"{path}headers", "0 items").split()[0]
        names = [bytes.fromhex(at(f"{path}headers[{n}].key") or "") for n in range(int(headers))]
        records.append({
            "offset": base + value(path + "offset_delta", 0),
            "timestamp": time if times != "log_append" else value("max_timestamp", time),
            "key": at(path + "key"),
            "value": at(path + "value"),
            "headers": [
                [name.decode("utf-8", "replace"), at(f"{path}headers[{n}].value")]
                for n, name in enumerate(names)
            ],
        })  # fmt: skip
    return {
        "magic": value("magic"),
        "compression": COMPRESSIONS[attributes & 7],
        "timestamp_type": times,
        "base_offset": base,
        "last_offset": base + value("last_offset_delta", 0),
        "max_timestamp": value("max_timestamp", value("timestamp", -1)),
        "producer_id": value("producer_id", -1),
        "producer_epoch": value("producer_epoch", -1),
        "base_sequence": value("base_sequence", -1),
        "is_transactional": bool(attributes & 16),
        "is_control": bool(attributes & 32),
        "partition_leader_epoch": value("partition_leader_epoch", -1),
        "delete_horizon": -1,
        "size": value("batch_length", value("message_size")) + 12,
        "records": records,
    }


@given(st.lists(batches(compression="none"), max_size=4))
def test_rows_have_the_values_that_reading_gives(written: list[Batch]) -> None:
    data = b"".join(map(write_batch, written))
    rows = rows_of(data)
    assert not damage(rows)
    assert {row.kind for row in rows} <= {"field"}
    found = read_records(data).batches
    for place, batch in enumerate(found):
        assert from_rows(data, rows, place) == as_json(batch)


@pytest.mark.exhaustive
@pytest.mark.xdist_group("records tool")
@pytest.mark.parametrize("release", ["3.9.2", "4.4.0"])
def test_rows_of_what_kafka_writes(release: str, kafka: Ask, drawn: Drawn) -> None:
    """Kafka's bytes, from whose rows alone come the values that it was asked to write."""
    asked = [
        batch for magic, name in FORMATS if name == "none" for batch in drawn(magic, name)
        if batch.records
    ]  # fmt: skip
    requests = []
    for batch in asked:
        append = batch.max_timestamp if batch.timestamp_type == "log_append" else -1
        requests.append(f"write\t{json.dumps(as_json(batch) | {'log_append_time': append})}")
    for batch, (verdict, text) in zip(asked, kafka(release, requests), strict=True):
        assert verdict == "ok", text
        data = bytes.fromhex(text)
        batch.size = len(data)
        assert from_rows(data, rows_of(data), 0) == as_json(batch)


@given(batches(), st.booleans())
def test_compressed_records_are_one_row(batch: Batch, secret: bool) -> None:
    data = write_batch(batch)
    rows = rows_of(data, secret=secret)
    assert not damage(rows)
    (read,) = read_records(data).batches
    packed = [row for row in rows if row.path.endswith(".compressed_records")]
    assert len(packed) == (batch.compression != "none" and bool(batch.records))
    for row in packed:
        count = len(read.records)
        text = f"{batch.compression}: {count} record{'s' * (count != 1)}, "
        text += f"offsets {read.records[0].offset} to {read.records[-1].offset}, "
        assert row.meaning.startswith(text)
        assert row.secret == secret


def test_linked_blocks_of_lz4_are_said_as_java_refuses_them() -> None:
    plain = write_records_v2([Record(0, 0, b"key", b"apples and pears, " * 9000)], 0, 0, None)
    linked = bytes(cramjam.lz4.compress(plain))
    for packed, said in ((linked, True), (compress("lz4", plain), False)):
        (row,) = [row for row in rows_of(v2(packed, compression=3)) if "compressed" in row.path]
        assert row.kind == "field"
        assert row.meaning.startswith("lz4: 1 record, offsets 0 to 0")
        assert ("blocks are linked, which Kafka's Java classes refuse" in row.meaning) is said


@given(st.lists(batches(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_damage_is_shown_where_reading_finds_it(written: list[Batch], dice: random.Random) -> None:
    """In whatever was flipped, cut, put in, with and without the right checksum."""
    encoded = [bytearray(write_batch(batch)) for batch in written]
    which = dice.choice(encoded)
    for _ in range(dice.randint(1, 3)):
        which[dice.randrange(12, len(which))] = dice.choice((0, 1, 2, 127, 128, 254, 255))
    if dice.random() < 0.7 and which[16] < 3:
        which[:] = with_checksum(which)
    data = b"".join(encoded)
    if dice.random() < 0.3:
        data = data[: dice.randrange(len(data))]
    check_damage(data)


@given(st.binary(max_size=300), st.booleans())
def test_noise(noise: bytes, in_a_batch: bool) -> None:
    if in_a_batch:
        noise = v2(noise, count=noise[0] % 5 if noise else 0)
    check_damage(noise)


def test_a_timestamp_that_wraps_is_no_damage() -> None:
    """A delta may lead beyond an int64, where Java's sum wraps around, and so does the reader's."""
    records = [Record(0, (1 << 63) - 1), Record(1, -(1 << 63))]
    data = write_batch(Batch.of(records))
    assert [record.timestamp for record in read_records(data).batches[0].records] == [
        (1 << 63) - 1, -(1 << 63)
    ]  # fmt: skip
    check_damage(data)


def check_damage(data: bytes) -> None:
    rows = rows_of(data)
    found = read_records(data)
    assert bool(damage(rows)) == bool(list(found.errors())), (data.hex(), rows)
    for place, batch in enumerate(found.batches):
        if batch.error is not None:
            path = f"records.batches[{place}]"
            assert any(row.path.startswith(path) for row in damage(rows)), (data.hex(), rows)
    rows_of(data, secret=True, topic=METADATA_TOPIC)
    rows_of(data, topic="__consumer_offsets")
    rows_of(data, limit=100)


@pytest.mark.parametrize(
    ("data", "path", "start", "words"),
    [
        (
            v2(b"\x0e\x00\x00\x00\x01\x01\x00\x07"),
            "records[0].left_over",
            68,
            "1 byte left in the record",
        ),
        (
            v2(b"\x0c\x00\x00\x00\x01\x62\x00"),
            "records[0].value",
            66,
            "value needs 49 bytes, 1 left",
        ),
        (
            v2(b"\x0c\x00\x00\x00\x01\x01\x08"),
            "records[0].headers",
            67,
            "count of headers is 4, and 0 bytes are left",
        ),
        (v2(b"\x7f\x00"), "records[0].length", 61, "record size is -64, and 1 byte are left"),
        (v2(b"", count=-2), "records[0]", 61, "the count of records is -2"),
        (v2(b"\x0c\x00\x00\x00\x01\x01\x00", count=2), "records[1]", 68, "it ends after 1"),
        (v2(EMPTY_RECORD * 2), "left_over", 68, "left after its 1 record"),
        (b"\x7f" + b"\xff" * 7 + v2(EMPTY_RECORD)[8:], "records[0]", 61, "leaves no room for"),
        (v1(b"\xff\xff\xff\xff\0\0\0\x01abc", magic=0), "left_over", 27, "left after the message"),
        (v2(b"abc", compression=7), "compressed_records", 61, "7"),
        (v2(b"abc", compression=1), "compressed_records", 61, "gzip"),
        (v1(b"\xff\xff\xff\xff\0\0\0\x09ab", magic=0), "value", 22, "value needs 9 bytes, 2 left"),
        (v1(b"\xff" * 8, magic=0, attributes=1), "value", 22, "set is null"),
        (v1(b"\xff\xff\xff\xff\0\0\0\x09ab", magic=0, attributes=1), "value", 22, "value needs 9"),
    ],
)
def test_what_damage_says(data: bytes, path: str, start: int, words: str) -> None:
    good = write_batch(Batch.of([Record(9, 5, b"next", b"one")]))
    rows = rows_of(data + good)
    (bad,) = damage(rows)
    assert bad.path == f"records.batches[0].{path}"
    assert bad.start - len(BEFORE) == start
    assert words in bad.meaning
    assert values(rows)["[1].records[0].key"] == '"next"'


def test_batches_that_kafka_reads_otherwise_than_they_say() -> None:
    """Without records but bytes for them, shorter than its head, with a delete horizon."""
    unread = rows_of(v2(EMPTY_RECORD, count=0))
    assert (unread[-1].kind, unread[-1].path) == ("rest", "records.batches[0].left_over")
    short = v2(b"")[:8] + (20).to_bytes(4, "big") + v2(b"")[12:32]
    (bad,) = damage(rows_of(short + v2(EMPTY_RECORD)))
    assert (bad.path, bad.meaning) == ("records.batches[0]", "it has 32 bytes, too few for magic 2")
    (masked,) = damage(rows_of(short + v2(EMPTY_RECORD), secret=True))
    assert "32" not in masked.meaning
    kept = bytearray(write_batch(Batch.of([Record(0, 5, b"k", None)])))
    kept[22] |= 1 << 6
    meanings = {row.path: row.meaning for row in rows_of(with_checksum(kept))}
    assert meanings["records.batches[0].base_timestamp"].startswith("delete horizon: tombstones")


def test_behind_a_bad_record_comes_the_next() -> None:
    good = b"\x10\x00\x00\x04\x02k\x02v\x00"
    rows = rows_of(v2(b"\x0c\x00\x00\x00\x01\x62\x00" + good, count=2))
    assert len(damage(rows)) == 1
    assert values(rows)["[0].records[1].value"] == '"v"'


@pytest.mark.parametrize("at", [16, 17, 70])
def test_behind_a_bad_batch_comes_the_next(at: int) -> None:
    """A wrong magic, a wrong checksum, or bytes that do not fit it."""
    first = bytearray(write_batch(Batch.of([Record(0, 5, b"first", b"one")])))
    first[at] ^= 0x10
    rows = rows_of(bytes(first) + write_batch(Batch.of([Record(1, 5, b"next", b"two")])))
    bad = damage(rows)[0]
    assert bad.path == "records.batches[0]" + ".crc" * (at != 16)
    if at != 16:
        assert re.match("the batch's CRC-32C is [0-9a-f]{8}, and it says", bad.meaning)
        assert bad.shown_value
    assert values(rows)["[1].records[0].value"] == '"two"'
    assert not [row for row in damage(rows) if row.path.startswith("records.batches[1]")]


@given(batches(), st.data())
def test_what_is_cut_short(batch: Batch, draw: st.DataObject) -> None:
    data = write_batch(batch)
    cut = data[: draw.draw(st.integers(1, len(data) - 1))]
    rows = rows_of(data + cut)
    assert rows[-1].path == "records.batches[1].cut_short"
    assert rows[-1].kind == "rest"
    assert not damage(rows)


def test_the_limit_holds_for_all_batches() -> None:
    batch = Batch.of([Record(0, 1, b"k", b"v" * 10_000)], compression="gzip")
    data = write_batch(batch) * 3
    takes = 10_001 + BYTES_PER_ITEM
    assert not damage(rows_of(data, limit=takes * 3))
    (bad,) = damage(rows_of(data, limit=takes * 3 - 1000))
    assert bad.path == "records.batches[2].compressed_records"


def test_what_kafkas_own_records_say() -> None:
    key, value = write_control_record("COMMIT", EndTxnMarker(coordinator_epoch=3))
    batch = Batch.of([Record(0, 1, key, value)])
    batch.is_control = True
    rows = {row.path: row for row in rows_of(write_batch(batch))}
    assert rows["records.batches[0].records[0].key"].meaning == "length 4; COMMIT"
    of_value = rows["records.batches[0].records[0].value"].meaning
    assert of_value == 'length 6; EndTxnMarker v0 {"coordinatorEpoch":3}'


def test_a_log_that_a_cluster_wrote() -> None:
    """Each record says in words what decoding gives; the log ends in space for more."""
    log = LOG.read_bytes().rstrip(b"\0")
    found = read_records(log)
    log = log[: sum(batch.size for batch in found.batches)]
    rows = rows_of(log, topic=METADATA_TOPIC, secret=True)
    assert not damage(rows)
    told = {row.path: row.meaning for row in rows if row.path.endswith(".value")}
    read = 0
    for place, batch in enumerate(found.batches):
        for index, record in enumerate(() if batch.is_control else batch.records):
            message, version = read_metadata_value(record.value or b"")
            fields = compact_json(codec(type(message), version).to_json(message, mask=True))
            path = f"records.batches[{place}].records[{index}].value"
            assert told[path] == f"{message.message_name} v{version} {fields}"
            read += 1
    assert read > 20


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_secrets_of_the_metadata_log(compression: Any) -> None:
    """Nothing of a credential is in the rows, as text, bytes, words or numbers."""
    value = write_metadata_value(SCRAM, 0)
    record = Record(7, 1, b"a-key-secret", value, (("header-secret", b"header-secret"),))
    data = write_batch(Batch.of([record], compression=compression))
    rows = rows_of(data, topic=METADATA_TOPIC, secret=True)
    masked = bytearray(BEFORE + data + AFTER)
    for row in rows:
        if row.secret:
            masked[row.start : row.end] = b"*" * (row.end - row.start)
    for shown in (bytes(masked), repr([(row.value, row.meaning) for row in rows]).encode()):
        for secret in (b"salt-salt", b"stored-key", b"server-key", b"a-key-secret", b"header-sec"):
            assert secret not in shown
    text = repr(rows)
    if compression == "none":
        assert "UserScramCredentialRecord v0" in text
        assert "ann" in text
        assert b"stored-key" in BEFORE + data
        assert "stored" not in repr([row.value for row in rows])


@given(st.randoms(use_true_random=False))
def test_damage_shows_no_secret(dice: random.Random) -> None:
    """Nothing of four bytes of a credential is seen, whatever is wrong before it."""
    marker = bytes(dice.randrange(128, 256) for _ in range(40))
    record = Record(7, 1, None, marker)
    good = write_batch(Batch.of([record]))
    data = bytearray(good + good)
    for _ in range(dice.randint(1, 2)):
        data[dice.randrange(20)] = dice.choice((0, 1, 2, 14, 30, 60, 70, 80, 255))
    cut = bytes(data[dice.choice((0, 0, dice.randrange(70))) :])
    rows = rows_of(cut, topic=METADATA_TOPIC, secret=True)
    shown = bytearray(BEFORE + cut + AFTER)
    for row in rows:
        if row.secret:
            shown[row.start : row.end] = bytes(row.end - row.start)
    pieces = [marker[i : i + 4] for i in range(37)]
    assert not any(piece in shown for piece in pieces)
    words = " ".join(f"{row.value} {row.meaning}" for row in rows)
    numbers = {int(found) for found in re.findall(r"-?\d+", words)}

    def is_told(piece: bytes) -> bool:
        signed = int.from_bytes(piece, "big", signed=True)
        return piece.hex() in words or bool(numbers & {int.from_bytes(piece, "big"), signed})

    assert not any(map(is_told, pieces))
