"""Control records: every type, versions to come, what is refused; and Kafka's own bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import DecodeError, EncodeError
from kafka_admin_proto.messages import EndTxnMarker, LeaderChangeMessage
from kafka_admin_proto.records import ControlRecord, read_control_record, write_control_record
from kafka_admin_proto.records.batches.control import CONTROL_TYPES
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.testing import messages

EVERY = [
    (number, name, message, version)
    for number, (name, message) in CONTROL_TYPES.items()
    for version in catalog().entry(message).versions
]


@pytest.mark.parametrize(("number", "name", "message", "version"), EVERY)
@given(data=st.data())
def test_round_trips(
    number: int, name: str, message: str, version: int, data: st.DataObject
) -> None:
    value = data.draw(messages(message, version))
    if hasattr(value, "version"):
        value.version = version
    key, encoded = write_control_record(name, value, version)
    assert key == bytes((0, 0, 0, number))
    assert read_control_record(key, encoded) == ControlRecord(number, name, 0, value, version)


def test_the_bytes_of_kafka() -> None:
    # As EndTransactionMarker.serializeValue writes a commit of epoch 5.
    commit = write_control_record("COMMIT", EndTxnMarker(5))
    assert commit == (b"\0\0\0\1", b"\0\0\0\0\0\5")


def test_versions_to_come() -> None:
    found = read_control_record(b"\0\7\0\0more", b"\0\3\0\0\0\5more")
    assert found == ControlRecord(0, "ABORT", 7, EndTxnMarker(5), 0)
    found = read_control_record(b"\0\0\0\2", b"\0\x09\0\0\0\1\1\1\0")
    assert found.message == LeaderChangeMessage(9, 1)
    assert found.version == 1
    assert read_control_record(b"\0\0\0\x63", b"?") == ControlRecord(99, "")
    assert read_control_record(b"\0\0\xff\xff", None) == ControlRecord(-1, "")


@pytest.mark.parametrize(
    ("key", "value", "path", "fault"),
    [
        (None, b"", "key", "key of a control record is null"),
        (b"\0\0\0", b"", "key", "key of a control record is cut short"),
        (b"\xff\xff\0\0", b"", "key", "version of a control record's key is -1"),
        (b"\0\0\0\0", None, "value", "value of a control record ABORT is null"),
        (b"\0\0\0\1", b"\0", "value", "value of a control record COMMIT is cut short"),
        (b"\0\0\0\1", b"\x80\0\0\0\0\0", "value", "version of EndTxnMarker is -32768"),
        (b"\0\0\0\1", b"\0\0\0\0", "value.coordinator_epoch", "EndTxnMarker v0"),
        (b"\0\0\0\1", b"\0\0\0\0\0\0\0", "value", "1 byte left"),
        (b"\0\0\0\6", b"\0\0\2", "value.voters", "VotersRecord v0"),
    ],
)
def test_what_is_refused(key: bytes | None, value: bytes | None, path: str, fault: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_control_record(key, value)
    assert caught.value.path == path
    assert fault in str(caught.value)


@given(st.none() | st.binary(max_size=9), st.none() | st.binary(max_size=30), st.integers(0, 7))
def test_noise(key: bytes | None, value: bytes | None, number: int) -> None:
    for each in (key, bytes((0, 0, 0, number))):
        try:
            read_control_record(each, value)
        except DecodeError as error:
            assert str(error.path).split(".")[0] in ("key", "value")


def test_what_cannot_be_written() -> None:
    with pytest.raises(EncodeError, match="no control record 'COMMIT' with that value"):
        write_control_record("COMMIT", LeaderChangeMessage())
    with pytest.raises(EncodeError, match="no control record 'SLEEP'"):
        write_control_record("SLEEP", EndTxnMarker())
    with pytest.raises(EncodeError, match="says otherwise than version 1"):
        write_control_record("LEADER_CHANGE", LeaderChangeMessage(0), 1)
