"""Records as JSON: blobs that say what they are, Kafka's own topics, secrets, problems."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.messages.config_record import ConfigRecord
from kafka_admin_proto.messages.end_txn_marker import EndTxnMarker
from kafka_admin_proto.messages.offset_commit_key import OffsetCommitKey
from kafka_admin_proto.messages.offset_commit_value import OffsetCommitValue
from kafka_admin_proto.messages.user_scram_credential_record import UserScramCredentialRecord
from kafka_admin_proto.records.batches.batches import Batch, Record, read_records, write_batch
from kafka_admin_proto.records.batches.control import write_control_record
from kafka_admin_proto.records.batches.records_json import record_json, record_set_json
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC, write_metadata_value
from kafka_admin_proto.records.segments.known_topics import (
    CONSUMER_OFFSETS,
    KNOWN_TOPICS,
    write_known_record,
)
from kafka_admin_proto.values import Message
from tests.records.values import batches


@given(batches())
def test_blobs_say_what_they_are(batch: Batch) -> None:
    found = record_set_json(read_records(write_batch(batch)))
    (shown,) = json.loads(json.dumps(found))["batches"]
    assert (found["partial_bytes"], found["problem"], shown["problem"]) == (0, None, None)
    for record, row in zip(batch.records, shown["records"], strict=True):
        assert (row["offset"], row["timestamp"]) == (record.offset, record.timestamp)
        assert (blob(row["key"]), blob(row["value"])) == (record.key, record.value)
        assert [(name, blob(value)) for name, value in row["headers"]] == list(record.headers)
    assert shown["last_offset"] == batch.last_offset


def blob(shown: dict[str, str] | None) -> bytes | None:
    if shown is None:
        return None
    ((form, text),) = shown.items()
    return text.encode() if form == "text" else base64.b64decode(text, validate=True)


def test_text() -> None:
    row = record_json(Record(0, 0, "é\n\t".encode(), b"a\0", (("\udcff", b"\xff"),)))
    assert row["key"] == {"text": "é\n\t"}
    assert row["value"] == {"base64": "YQA="}
    assert row["headers"] == [["\ufffd", {"base64": "/w=="}]]
    assert row["problem"] == "headers: text that is not UTF-8 is shown with U+FFFD"


def test_nothing() -> None:
    assert record_set_json(read_records(b"")) == {
        "batches": [],
        "partial_bytes": 0,
        "problem": None,
    }


def test_known_topics() -> None:
    key, value = write_known_record(OffsetCommitKey("g", "t", 1), OffsetCommitValue(7), 3)
    data = write_batch(Batch.of([Record(0, 0, key, value), Record(1, 0, key, b"\0\x63")]))
    found = record_set_json(read_records(data), topic=CONSUMER_OFFSETS)
    assert found is not None
    good, bad = found["batches"][0]["records"]
    shown = {
        "message": "OffsetCommitKey",
        "version": 0,
        "data": {"group": "g", "topic": "t", "partition": 1},
    }
    assert good["key"] == bad["key"] == shown
    assert good["value"]["message"] == "OffsetCommitValue"
    assert good["value"]["version"] == 3
    assert good["value"]["data"]["offset"] == 7
    assert good["problem"] is None
    assert bad["value"] == {"base64": "AGM="}
    assert "has versions 0-" in bad["problem"]
    elsewhere = record_set_json(read_records(data))
    assert elsewhere is not None
    assert elsewhere["batches"][0]["records"][0]["key"]["base64"]


def test_control_records() -> None:
    key, value = write_control_record("ABORT", EndTxnMarker(3))
    rows = [
        record_json(Record(0, 0, *pair), is_control=True)
        for pair in ((key, value), (b"\0\0\0\x63", value), (key, b""), (None, b"x"))
    ]
    assert [row["control"] for row in rows] == ["ABORT", 99, "ABORT", None]
    assert rows[0]["value"]["data"] == {"coordinatorEpoch": 3}
    assert [row["problem"] is None for row in rows] == [True, False, False, False]
    assert rows[3]["value"] == {"text": "x"}


def test_secrets() -> None:
    secret = b"saltsaltsalt"
    value = write_metadata_value(UserScramCredentialRecord("me", 1, secret, secret, secret), 0)
    encoded = base64.b64encode(secret).decode()
    data = write_batch(Batch.of([Record(0, 0, None, v) for v in (value, value[:-3], b"?" + value)]))
    shown = json.dumps(record_set_json(read_records(data), topic=METADATA_TOPIC))
    assert encoded not in shown
    assert "saltsalt" not in shown
    assert '"name": "me"' in shown
    shown = json.dumps(record_set_json(read_records(data), topic=METADATA_TOPIC, mask=False))
    assert encoded in shown
    assert base64.b64encode(b"?" + value).decode() in shown


CREDENTIAL = UserScramCredentialRecord("me", 1, b"salt" * 3, b"stored" * 3, b"server" * 3)
PASSWORD = ConfigRecord(4, "1", "ssl.keystore.password", "opensesame")


@pytest.mark.parametrize("message", [CREDENTIAL, PASSWORD])
@pytest.mark.parametrize("is_control", [False, True])
def test_secrets_where_the_topic_is_not_known(message: Message, is_control: bool) -> None:
    value = write_metadata_value(message, 0)
    record = Record(0, 0, b"opensesame", value, (("opens", b"opensesame"),))
    row = record_json(record, is_control=is_control)
    assert row["value"] == {"masked": "********", "size": len(value)}
    assert row["key"] == {"masked": "********", "size": 10}
    assert row["headers"] == [["opens", {"masked": "********", "size": 10}]]
    assert f"it reads as {message.message_name} of __cluster_metadata" in row["problem"]
    assert blob(record_json(record, is_control=is_control, mask=False)["value"]) == value
    if not is_control:  # a topic that is known to be another
        assert blob(record_json(record, topic="fruit")["value"]) == value


def test_metadata_records_without_secrets_are_no_reason_to_mask() -> None:
    value = write_metadata_value(ConfigRecord(2, "fruit", "retention.ms", "1"), 0)
    row = record_json(Record(0, 0, b"k", value))
    assert (blob(row["value"]), row["problem"]) == (value, None)


@pytest.mark.parametrize("is_control", [False, True])
@pytest.mark.parametrize("value", [b"opensesame", None])
def test_nothing_of_an_unreadable_metadata_record_is_shown(
    is_control: bool, value: bytes | None
) -> None:
    for key in (b"opensesame", b"\0\0\0\7", b"\0\0\0\2", None):
        record = Record(0, 0, key, value, (("h", b"opensesame"),))
        row = record_json(record, topic=METADATA_TOPIC, is_control=is_control)
        assert "opensesame" not in json.dumps(row)
        assert row["problem"]
        row = record_json(record, topic=METADATA_TOPIC, is_control=is_control, mask=False)
        assert "opensesame" in json.dumps(row)


@given(
    st.binary() | batches().map(write_batch),
    st.none() | st.sampled_from(KNOWN_TOPICS),
    st.integers(0, 1 << 20),
)
def test_whatever_the_bytes(data: bytes, topic: str | None, at: int) -> None:
    flipped = bytearray(data)
    if flipped:
        flipped[at % len(flipped)] ^= 1 << at % 8
    for each in (data, bytes(flipped), data[: at % (len(data) + 1)]):
        found = record_set_json(read_records(each), topic=topic)
        assert found is not None
        json.dumps(found).encode()
        sizes = sum(batch["size"] for batch in found["batches"])
        assert found["problem"] or sizes + found["partial_bytes"] == len(each)
