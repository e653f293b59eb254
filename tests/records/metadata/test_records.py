"""Values of the metadata log: every record at every version, damage, and what is refused."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import DecodeError, EncodeError, codec
from kafka_admin_proto.errors import TrailingBytesError
from kafka_admin_proto.messages import CreateTopicsRequest, NoOpRecord, TopicRecord
from kafka_admin_proto.records.metadata.records import (
    METADATA_TOPIC,
    REMOTE_LOG_METADATA_TOPIC,
    read_metadata_value,
    write_metadata_value,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.testing import messages

EVERY = [
    (name, version)
    for name in catalog().names()
    if catalog().entry(name).type == "metadata" and catalog().entry(name).api_key is not None
    for version in catalog().entry(name).versions
]


@pytest.mark.parametrize(("name", "version"), EVERY)
@given(data=st.data())
def test_round_trips(name: str, version: int, data: st.DataObject) -> None:
    message = data.draw(messages(name, version))
    value = write_metadata_value(message, version)
    topic = REMOTE_LOG_METADATA_TOPIC if name.startswith("Remote") else METADATA_TOPIC
    assert read_metadata_value(value, topic=topic) == (message, version)
    assert value.endswith(codec(name, version).encode(message))


def test_the_bytes() -> None:
    assert write_metadata_value(NoOpRecord(), 0) == b"\x01\x14\x00\x00"
    assert read_metadata_value(b"\x01\x94\x80\x00\x80\x00\x00") == (NoOpRecord(), 0)  # padded


@pytest.mark.parametrize(
    ("value", "fault", "offset"),
    [
        (b"", "frame version ends too early", 0),
        (b"\x80", "frame version ends too early", 0),
        (b"\xff" * 6, "frame version is a varint of more than 5 bytes", 0),
        (b"\0\x14\0\0", "frame version is 0, that of the preview", 0),
        (b"\2\x14\0\0", "frame version is 2", 0),
        (b"\1", "type ends too early", 1),
        (b"\1\x80\x80\x02\0\0", "type is 32768", 1),
        (b"\1\x7b\0\0", "no record has type 123", 1),
        (b"\1\x14", "version ends too early", 2),
        (b"\1\x14\4\0", "NoOpRecord has versions 0, not 4", 2),
        (b"\1\x14\0", "tagged", 3),
    ],
)
def test_what_is_refused(value: bytes, fault: str, offset: int) -> None:
    with pytest.raises(DecodeError, match=fault) as caught:
        read_metadata_value(value)
    assert caught.value.offset == offset


def test_bytes_left_over() -> None:
    with pytest.raises(TrailingBytesError) as caught:
        read_metadata_value(b"\1\x14\0\0rest")
    assert caught.value.value == NoOpRecord()
    assert caught.value.rest == b"rest"


def test_only_metadata_records_are_written() -> None:
    with pytest.raises(EncodeError, match="no metadata record"):
        write_metadata_value(CreateTopicsRequest(), 4)
    with pytest.raises(EncodeError, match="no metadata record"):  # shares its key with a record
        write_metadata_value(codec(3, 0, "request").value_class(), 0)


@given(st.binary(max_size=40))
def test_damage(noise: bytes) -> None:
    dice = random.Random(noise)
    good = write_metadata_value(TopicRecord(name="apples"), 0)
    flipped = bytearray(good)
    flipped[dice.randrange(len(good))] ^= 1 << dice.randrange(8)
    for value in (noise, b"\1\2\0" + noise, bytes(flipped), good[: dice.randrange(len(good))]):
        try:
            read_metadata_value(value)
        except DecodeError as error:
            assert 0 <= error.offset <= len(value)
