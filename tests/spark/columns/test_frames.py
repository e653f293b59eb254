"""Payloads and record batches → Arrow columns, without a JVM."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spark.needs import require

pa = require("pyarrow")

from kafka_admin_proto import DecodeError, codec
from kafka_admin_proto.protocol import read_request, write_request
from kafka_admin_proto.records import Batch, Record, read_records, write_batch
from kafka_admin_proto.records.batches.batches import DEFAULT_DECOMPRESSED_LIMIT
from kafka_admin_proto.records.metadata.records import write_metadata_value
from kafka_admin_proto.spark.columns import frames as column_frames
from kafka_admin_proto.spark.columns.frames import (
    HEADER_TYPE,
    RECORDS_TYPE,
    header_array,
    records_array,
)
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8
from tests.records.values import batches
from tests.spark.expected import binary


def headers(rows: list[bytes | None], *, prefix: bool = False) -> list[Any]:
    array = header_array(binary(rows), prefix=prefix)
    array.validate(full=True)
    assert array.type == HEADER_TYPE
    result: list[Any] = array.to_pylist()
    return result


def test_headers_of_requests() -> None:
    body = codec("CreateTopicsRequest", 7).from_json(
        {"topics": [], "timeoutMs": 1, "validateOnly": False}
    )
    payloads = [write_request(body, version, 9, "admin-1") for version in (2, 7)]
    old, new, null, short = headers([*payloads, None, b"\x00\x13\x00\x07"])
    assert null is None
    assert old == {
        "api_key": 19,
        "api": "CreateTopics",
        "api_version": 2,
        "correlation_id": 9,
        "client_id": "admin-1",
        "header_version": 1,
        "body_offset": 17,
        "error": None,
    }
    assert (new["header_version"], new["body_offset"]) == (2, 18)
    assert codec("CreateTopicsRequest", 7).decode(payloads[1][new["body_offset"] :]) == body
    assert "at least 8 bytes" in short["error"]
    assert (short["api_key"], short["body_offset"]) == (None, None)
    framed = [len(payload).to_bytes(4, "big") + payload for payload in payloads]
    first, second, cut, tiny = headers([*framed, framed[1][:-1], b"\x00"], prefix=True)
    assert (first["body_offset"], second["body_offset"]) == (21, 22)
    assert first["error"] is None
    assert "the size in front says" in cut["error"]
    assert cut["api"] == "CreateTopics"
    assert "at least 8 bytes" in tiny["error"]


@given(st.lists(st.none() | st.binary(max_size=40), max_size=8), st.booleans())
def test_headers_of_noise(rows: list[bytes | None], prefix: bool) -> None:
    for row, result in zip(rows, headers(rows, prefix=prefix), strict=True):
        if row is None:
            assert result is None
            continue
        read = read_request(row, body=False, offset=4 if prefix else 0)
        if read.header is None:
            assert result["error"] == read.problem
            assert result["correlation_id"] is None
        else:
            assert result["correlation_id"] == read.header.correlation_id


def records(rows: list[bytes | None], **options: Any) -> list[Any]:
    settings: dict[str, Any] = {
        "mode": "PERMISSIVE",
        "limit": DEFAULT_DECOMPRESSED_LIMIT,
        "show_secrets": False,
    }
    results: list[Any] = []
    for array in records_array(binary(rows), **settings | options):
        array.validate(full=True)
        assert array.type == RECORDS_TYPE
        results += array.to_pylist()
    assert len(results) == len(rows)
    return results


def as_read(record: Record) -> tuple[Any, ...]:
    named = [{"key": replace_invalid_utf8(name), "value": value} for name, value in record.headers]
    return (record.offset, record.timestamp, record.key, record.value, named)


def as_shown(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("offset", "timestamp", "key", "value", "headers"))


@given(st.lists(st.lists(batches(), max_size=3), min_size=1, max_size=4))
def test_records_of_drawn_batches(drawn: list[list[Batch]]) -> None:
    rows: list[bytes | None] = [b"".join(map(write_batch, each)) for each in drawn]
    for row, result in zip([*rows, None], records([*rows, None]), strict=True):
        if row is None:
            assert result is None
            continue
        found = read_records(row).batches
        pairs = [(batch, record) for batch in found for record in batch.records]
        assert [as_shown(each) for each in result] == [as_read(record) for _, record in pairs]
        for (batch, _), each in zip(pairs, result, strict=True):
            assert each["error"] is None
            start = each["offset_in_data"]
            assert read_records(row[start : start + each["size"]]).batches[0].records
            for name in ("magic", "base_offset", "last_offset", "compression", "producer_id"):
                assert each[name] == getattr(batch, name)


@given(st.lists(batches(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_damaged_batches(drawn: list[Batch], chance: random.Random) -> None:
    """Cut, flipped or noise: what is wrong is said, and what was good before it is there."""
    data = b"".join(map(write_batch, drawn))
    rows: list[bytes | None] = [chance.randbytes(80)]
    for _ in range(8):
        flipped = bytearray(data)
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        rows += [bytes(flipped), data[: chance.randrange(len(data))]]
    for row, result in zip(rows, records(rows), strict=True):
        assert row is not None
        found = read_records(row)
        good = [as_read(record) for batch in found.batches for record in batch.records]
        assert [as_shown(each) for each in result if each["offset"] is not None] == good
        faults = [each["error"] for each in result if each["offset"] is None]
        wanted = [str(error) for error in found.errors()]
        assert faults[: len(wanted)] == wanted
        assert len(faults) - len(wanted) == bool(found.partial_bytes)
        if wanted:
            with pytest.raises(DecodeError):
                records([row], mode="FAILFAST")
        else:
            records([row], mode="FAILFAST")


def test_numbers_wrap_as_in_java() -> None:
    batch = Batch.of([Record((1 << 63) - 1, 5, b"k")])
    batch.last_offset_delta = 7
    ((row,),) = records([write_batch(batch)])
    assert row["last_offset"] == -(1 << 63) + 6


def test_what_is_decompressed_is_bounded() -> None:
    big = Batch.of([Record(0, 1, None, bytes(1 << 20))], compression="gzip")
    ((row,),) = records([write_batch(big)], limit=1 << 16)
    assert row["offset"] is None
    assert "65536" in row["error"]


def test_many_large_rows_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_frames, "_PIECE", 1000)
    data = write_batch(Batch.of([Record(0, 1, b"k", bytes(600))]))
    arrays = list(
        records_array(
            binary([data, None, data, data]), mode="PERMISSIVE", limit=1 << 20, show_secrets=False
        )
    )
    assert [len(array) for array in arrays] == [3, 1]
    assert [len(array) for array in records_array(
        binary([]), mode="PERMISSIVE", limit=1, show_secrets=False
    )] == [0]  # fmt: skip


def test_credentials_of_the_metadata_topic_are_masked() -> None:
    message = codec("UserScramCredentialRecord", 0).from_json(
        {
            "name": "alice",
            "mechanism": 1,
            "salt": "c2FsdA==",
            "storedKey": "c3RvcmVk",
            "serverKey": "c2VydmVy",
            "iterations": 4096,
        }
    )
    value = write_metadata_value(message, 0)
    data = write_batch(Batch.of([Record(0, 1, b"k", value, (("h", b"x"),)), Record(1, 1, b"k")]))
    ((masked, plain),) = records([data])
    assert (masked["key"], masked["value"]) == (b"********", b"********")
    assert masked["headers"] == [{"key": "h", "value": b"********"}]
    assert "UserScramCredentialRecord" in masked["error"]
    assert (masked["offset"], plain["key"], plain["error"]) == (0, b"k", None)
    ((shown, _),) = records([data], show_secrets=True)
    assert (shown["value"], shown["error"]) == (value, None)
