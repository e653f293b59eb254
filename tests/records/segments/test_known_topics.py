"""Records of Kafka's own topics: every message, tombstones, what is unknown or damaged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import EncodeError
from kafka_admin_proto.messages.no_op_record import NoOpRecord
from kafka_admin_proto.messages.offset_commit_key import OffsetCommitKey
from kafka_admin_proto.messages.share_snapshot_key import ShareSnapshotKey
from kafka_admin_proto.messages.transaction_log_key import TransactionLogKey
from kafka_admin_proto.messages.transaction_log_value import TransactionLogValue
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC, write_metadata_value
from kafka_admin_proto.records.segments.known_topics import (
    CONSUMER_OFFSETS,
    KNOWN_TOPICS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    KnownRecord,
    read_known_record,
    write_known_record,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.testing.strategies import messages

TOPICS = {"TransactionLog": TRANSACTION_STATE, "ShareSnapshot": SHARE_GROUP_STATE,
          "ShareUpdate": SHARE_GROUP_STATE}  # fmt: skip
EVERY = [
    (name.removesuffix("Key"), version)
    for name in catalog().names()
    if catalog().entry(name).type == "coordinator-key"
    for version in catalog().entry(f"{name.removesuffix('Key')}Value").versions
]


def test_there_are_all() -> None:
    assert len({name for name, _ in EVERY}) == 25


@pytest.mark.parametrize(("name", "version"), EVERY)
@given(data=st.data())
def test_round_trips(name: str, version: int, data: st.DataObject) -> None:
    topic = TOPICS.get(name, CONSUMER_OFFSETS)
    key = data.draw(messages(f"{name}Key", 0))
    value = data.draw(messages(f"{name}Value", version))
    raw_key, raw_value = write_known_record(key, value, version)
    found = read_known_record(topic, raw_key, raw_value)
    assert found == KnownRecord(key.api_key, key, value, version)
    raw_key, tombstone = write_known_record(key, None)
    assert tombstone is None
    assert read_known_record(topic, raw_key, None) == KnownRecord(key.api_key, key)


def test_the_type_means_another_record_in_another_topic() -> None:
    data = b"\0\0\0\1t"
    assert read_known_record(TRANSACTION_STATE, data, None).key == TransactionLogKey("t")
    assert isinstance(
        read_known_record(SHARE_GROUP_STATE, b"\0\0\0\1g" + bytes(20), None).key, ShareSnapshotKey
    )
    found = read_known_record(CONSUMER_OFFSETS, b"\0\1\0\1g\0\1t\0\0\0\3", None)
    assert found.key == OffsetCommitKey("g", "t", 3)


def test_metadata() -> None:
    value = write_metadata_value(NoOpRecord(), 0)
    assert read_known_record(METADATA_TOPIC, None, value) == KnownRecord(20, None, NoOpRecord())
    assert "frame version is 9" in str(read_known_record(METADATA_TOPIC, None, b"\x09").problem)
    assert "value is null" in str(read_known_record(METADATA_TOPIC, None, None).problem)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (None, b"", "key is null"),
        (b"\0", b"", "key is cut short"),
        (b"\0\x63", b"", "no record of __transaction_state has type 99"),
        (b"\0\0", b"", "key: TransactionLogKey v0"),
        (b"\0\0\0\1t", b"\0", "value is cut short"),
        (b"\0\0\0\1t", b"\0\7", "value: TransactionLogValue has versions 0-1, not 7"),
        (b"\0\0\0\1t", b"\0\0\0", "value: TransactionLogValue v0"),
        (b"\0\0\0\1t!", None, "key: TransactionLogKey v0 at byte 5: 1 byte left"),
    ],
)
def test_problems(key: bytes | None, value: bytes | None, problem: str) -> None:
    found = read_known_record(TRANSACTION_STATE, key, value)
    assert str(found.problem).startswith(problem)


def test_what_is_good_is_kept() -> None:
    found = read_known_record(TRANSACTION_STATE, b"\0\0\0\1t!", b"\0\7")
    assert found.key == TransactionLogKey("t")
    assert (found.value, found.value_version) == (None, 7)
    assert str(found.problem).count(";") >= 1


@given(st.sampled_from(KNOWN_TOPICS), st.none() | st.binary(), st.none() | st.binary())
def test_noise(topic: str, key: bytes | None, value: bytes | None) -> None:
    for each in (key, b"\0\0" + (key or b"")):
        found = read_known_record(topic, each, value)
        assert found.problem or found.key or found.value


def test_what_cannot_be_written() -> None:
    with pytest.raises(EncodeError, match="no key of a record"):
        write_known_record(NoOpRecord(), None)
    with pytest.raises(EncodeError, match="its value cannot be TransactionLogValue"):
        write_known_record(OffsetCommitKey(), TransactionLogValue())
