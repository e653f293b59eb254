"""Frames explained with the records in them: what is opened, and what stays hidden."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import FetchResponse, FetchSnapshotResponse, ProduceRequest
from kafka_admin_proto.capture.dumps.blocks import Block
from kafka_admin_proto.capture.dumps.frame_decoder import FrameDecoder
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.cli.captures.explain import explanation_of
from kafka_admin_proto.codec import codec
from kafka_admin_proto.messages.config_record import ConfigRecord
from kafka_admin_proto.messages.delegation_token_record import DelegationTokenRecord
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_admin_proto.messages.fetch_snapshot_response import PartitionSnapshot, TopicSnapshot
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.messages.user_scram_credential_record import UserScramCredentialRecord
from kafka_admin_proto.protocol import write_request
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC, write_metadata_value
from kafka_admin_proto.render.explain import Explanation
from kafka_admin_proto.render.html import PageFrame, html_page
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from tests.render.frames import TOPIC_ID, decoded
from tests.render.test_explain import check_whole

SECRET = bytes(range(160, 200))
TEXT = "open-sesame-43"
RECORDS = [
    UserScramCredentialRecord(
        name="ann", mechanism=1, salt=SECRET, stored_key=SECRET, server_key=SECRET, iterations=4096
    ),
    DelegationTokenRecord(owner="ann", token_id="id", expiration_timestamp=5),
    ConfigRecord(
        resource_type=4, resource_name="1", name="ssl.keystore.password", value=TEXT
    ),
]  # fmt: skip
PLAIN = write_batch(Batch.of([Record(3, 1, b"key", b"plain-value", (("h", b"x"),))]))


def metadata_batch(compression: Any = "none") -> bytes:
    records = [
        Record(n, 1, None, write_metadata_value(message, 0)) for n, message in enumerate(RECORDS)
    ]
    return write_batch(Batch.of(records, compression=compression))


def fetch(version: int, records: bytes) -> FetchResponse:
    """Records of the metadata log between those of other topics."""
    topics = []
    for number, (name, data) in enumerate(((METADATA_TOPIC, records), ("apples", PLAIN)) * 2):
        topic = FetchableTopicResponse(partitions=[PartitionData(records=data)] * 2)
        if version < 13:
            topic.topic = name
        else:
            topic.topic_id = TOPIC_ID if number % 2 else METADATA_TOPIC_ID
        topics.append(topic)
    return FetchResponse(responses=topics)


def snapshot(version: int, records: bytes, position: int = 0) -> FetchSnapshotResponse:
    part = PartitionSnapshot(position=position, unaligned_records=records, size=1 << 20)
    return FetchSnapshotResponse(topics=[TopicSnapshot(METADATA_TOPIC, [part])])


def body_frame(message: Any, version: int, change: Any = None) -> DecodedFrame:
    data = codec(type(message), version).encode(message)
    if change is not None:
        data = change(data)
    decoder = FrameDecoder(unit="body", api=message.message_name, version=version)
    (found,) = decoder.decode(Block(data, 0))
    return found


def explained(found: DecodedFrame, *, mask: bool = True, records: bool = True) -> Explanation:
    explanation = explanation_of(found, mask=mask, records=records)
    check_whole(explanation, found.data, mask=mask)
    return explanation


def shown(explanation: Explanation) -> str:
    """All that any way to show it may say."""
    page = "".join(html_page([PageFrame(1, "title", lambda: explanation)]))
    return page + repr([(row.value, row.meaning) for row in explanation.rows])


def leaks(text: str) -> bool:
    pieces = [SECRET[at : at + 6] for at in range(len(SECRET) - 5)]
    return any(piece.hex() in text or repr(piece)[2:-1] in text for piece in pieces) or (
        TEXT in text or TEXT.encode().hex()[:24] in text
    )


MESSAGES = [
    *((fetch, version) for version in (4, 11, 12, 13, 17)),
    *((snapshot, version) for version in (0, 1)),
    (lambda version, records: snapshot(version, records[9:], position=9), 1),
]


@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize(("make", "version"), MESSAGES)
def test_the_metadata_log_shows_no_secret(make: Any, version: int, compression: Any) -> None:
    found = body_frame(make(version, metadata_batch(compression)), version)
    assert found.error is None
    for records in (True, False):
        assert not leaks(shown(explained(found, records=records)))
        assert not leaks(repr(frame_record(found, raw=True, records=records)))
    if compression == "none":
        assert leaks(shown(explained(found, mask=False, records=False)))
        assert leaks(shown(explained(found, mask=False)))


@pytest.mark.parametrize(("make", "version"), MESSAGES)
def test_nor_does_it_when_damaged(make: Any, version: int) -> None:
    """Whatever is wrong behind the name of the topic, or where the frame ends."""
    message = make(version, metadata_batch())
    if isinstance(message, FetchResponse):
        message.responses = message.responses[:1]

    @given(st.randoms(use_true_random=False))
    def check(dice: random.Random) -> None:
        def change(data: bytes) -> bytes:
            names = (METADATA_TOPIC.encode(), METADATA_TOPIC_ID.bytes)
            first = next(data.index(name) + len(name) for name in names if name in data)
            changed = bytearray(data)
            for _ in range(dice.randint(0, 3)):
                # Most of the lengths stand before the first credential.
                last = dice.choice((data.index(SECRET[:4]), len(data)))
                changed[dice.randrange(first, last)] = dice.choice((0, 1, 8, 60, 127, 128, 255))
            return bytes(changed[: dice.choice((len(data), dice.randrange(first, len(data))))])

        found = body_frame(message, version, change)
        for records in (True, False):
            assert not leaks(shown(explained(found, records=records)))
            assert not leaks(repr(frame_record(found, raw=True, records=records)))

    check()


def paths(explanation: Explanation) -> dict[str, str]:
    return {row.path: row.shown_value for row in explanation.rows}


@pytest.mark.parametrize("version", [3, 9, 12])
def test_records_of_produce_and_fetch_are_opened(version: int) -> None:
    part = PartitionProduceData(index=1, records=PLAIN + PLAIN)
    request = ProduceRequest(topic_data=[TopicProduceData(name="apples", partition_data=[part])])
    (found,) = decoded(write_request(request, version, 1))
    whole = paths(explained(found, records=False))
    rows = paths(explained(found))
    path = "topic_data[0].partition_data[0].records"
    assert not [each for each in whole if each.startswith(f"{path}.")]
    assert whole[path] == rows[path] == f"{2 * len(PLAIN)} bytes"
    for batch in (0, 1):
        assert rows[f"{path}.batches[{batch}].records[0].value"] == '"plain-value"'
        assert rows[f"{path}.batches[{batch}].records[0].headers[0].key"] == '"h"'


@pytest.mark.parametrize("version", [12, 17])
def test_only_the_metadata_log_is_hidden(version: int) -> None:
    found = body_frame(fetch(version, metadata_batch()), version)
    rows = paths(explained(found))
    for topic in range(4):
        for partition in range(2):
            path = f"responses[{topic}].partitions[{partition}].records.batches[0].records[0].value"
            assert rows[path] == ('"plain-value"' if topic % 2 else "********")
    by_name = {row.path: row.meaning for row in explained(found).rows}
    path = "responses[0].partitions[0].records.batches[0].records[0].value"
    assert by_name[path].startswith('UserScramCredentialRecord v0 {"name":"ann"')


def test_topics_that_the_capture_names() -> None:
    key, value = b"\0\x02\0\x01g", b"\0\x03" + b"\0" * 2
    records = write_batch(Batch.of([Record(0, 1, key, value)]))
    topic = FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[PartitionData(records=records)])
    found = body_frame(FetchResponse(responses=[topic]), 17)
    path = "responses[0].partitions[0].records.batches[0].records[0].key"
    plain = {row.path: row.meaning for row in explained(found).rows}
    assert plain[path] == "length 5"
    found = msgspec.structs.replace(found, topic_names={TOPIC_ID: "__consumer_offsets"})
    named = {row.path: row.meaning for row in explained(found).rows}
    assert named[path] == 'length 5; GroupMetadataKey v0 {"group":"g"}'


def test_a_piece_of_a_snapshot_stays_whole() -> None:
    found = body_frame(snapshot(1, PLAIN[9:], position=9), 1)
    rows = paths(explained(found, mask=False))
    assert not [each for each in rows if "batches" in each]
    rows = paths(explained(body_frame(snapshot(1, PLAIN), 1), mask=False))
    path = "topics[0].partitions[0].unaligned_records.batches[0].records[0].value"
    assert rows[path] == '"plain-value"'


def test_damage_is_no_end() -> None:
    bad = bytearray(PLAIN)
    bad[bad.index(b"plain")] ^= 1
    part = PartitionData(records=bytes(bad) + PLAIN)
    topic = FetchableTopicResponse("apples", partitions=[part, part])
    found = body_frame(FetchResponse(responses=[topic]), 12)
    explanation = explained(found)
    damaged = [row.path for row in explanation.rows if row.kind == "damage"]
    start = "responses[0].partitions"
    assert damaged == [f"{start}[{n}].records.batches[0].crc" for n in (0, 1)]
    assert paths(explanation)[f"{start}[1].records.batches[1].records[0].key"] == '"key"'
