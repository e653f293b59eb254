"""Subscriptions and assignments, decoded where they stand: in messages and records of groups."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_admin_proto.capture import DecodedFrame
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.cli.captures.explain import explanation_of
from kafka_admin_proto.codec import codec
from kafka_admin_proto.loaded_schemas import load_schemas
from kafka_admin_proto.messages import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    GroupMetadataKey,
    GroupMetadataValue,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafka_admin_proto.protocol import write_request, write_response
from kafka_admin_proto.records import Batch, Record, read_records, write_batch, write_known_record
from kafka_admin_proto.records.batches.records_json import record_set_json
from kafka_admin_proto.records.batches.rows import BatchRows
from kafka_admin_proto.records.segments.known_topics import CONSUMER_OFFSETS
from kafka_admin_proto.records.segments.rows import segment_rows
from kafka_admin_proto.render.embedded import embedded_problems, message_json
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.values import Message
from tests.records.dumped import dump
from tests.render.frames import decoded
from tests.render.test_explain import check_whole

#: What ConsumerProtocol of Kafka 4.3.1 writes of topics apples and pears, with two bytes of data
#: and partitions 0 and 2 of apples, generation 7 and rack r1, by version.
SUBSCRIPTIONS = (
    "00000000000200066170706c657300057065617273000000020102",
    "00010000000200066170706c6573000570656172730000000201020000000100066170706c6573000000020000000000"
    "000002",
    "00020000000200066170706c6573000570656172730000000201020000000100066170706c6573000000020000000000"
    "00000200000007",
    "00030000000200066170706c6573000570656172730000000201020000000100066170706c6573000000020000000000"
    "0000020000000700027231",
)
#: The same of partition 1 of apples and 0 of pears, assigned at version 2.
ASSIGNED = bytes.fromhex(
    "00020000000200066170706c65730000000100000001000570656172730000000100000000ffffffff"
)
SUBSCRIBED = bytes.fromhex(SUBSCRIPTIONS[3])
#: KafkaConsumer refuses these: "Buffer underflow while parsing consumer protocol's subscription".
WITHOUT_OWNED = bytes.fromhex("00010000000100066170706c6573ffffffff")
MISSING = (
    "it says version 1, and ends where version 0 does: owned_partitions is missing, without which "
    "Kafka's Java classes do not read it"
)
#: Connect's, of version 0: a URL and an offset.
OF_CONNECT = bytes.fromhex("0000001a") + b"http://connect-1.example:1" + bytes(8)


#: What SubscriptionInfo of Streams 4.4.0 writes at version 9: process id, end point "host:80",
#: tasks 0_1 and 1_0 with offset sums 5 and -2, unique field 3 and error 1.
OF_STREAMS = bytes.fromhex(
    "000000090000000b0000000000000001000000000000000200000007686f73743a383000000002000000000000000100"
    "0000010000000000000005000000010000000100000000fffffffffffffffe0300000001"
)


def join(metadata: bytes, kind: str = "consumer") -> JoinGroupRequest:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol("range", metadata)
    return JoinGroupRequest("g", protocol_type=kind, protocols=[protocol])


def messages(subscription: bytes, assignment: bytes) -> list[tuple[Message, int, list[str]]]:
    """Each message with both, its version, and the paths of its fields with them."""
    joined = JoinGroupResponse.JoinGroupResponseMember("m", None, subscription)
    synced = SyncGroupRequest.SyncGroupRequestAssignment("m", assignment)
    described = DescribeGroupsResponse.DescribedGroupMember(
        member_id="m", member_metadata=subscription, member_assignment=assignment
    )
    group = DescribeGroupsResponse.DescribedGroup(
        group_id="g", protocol_type="consumer", members=[described]
    )
    stored = GroupMetadataValue.MemberMetadata("m", None, "c", "h", 1, 1, subscription, assignment)
    return [
        (join(subscription), 9, ["protocols.metadata"]),
        (join(subscription), 0, ["protocols.metadata"]),
        (JoinGroupResponse(members=[joined], protocol_type="consumer"), 9, ["members.metadata"]),
        (JoinGroupResponse(members=[joined]), 5, ["members.metadata"]),
        (SyncGroupRequest(assignments=[synced], protocol_type="consumer"), 5,
         ["assignments.assignment"]),
        (SyncGroupRequest(assignments=[synced]), 1, ["assignments.assignment"]),
        (SyncGroupResponse(assignment=assignment, protocol_type="consumer"), 5, ["assignment"]),
        (SyncGroupResponse(assignment=assignment), 3, ["assignment"]),
        (DescribeGroupsResponse(groups=[group]), 5,
         ["groups.members.memberMetadata", "groups.members.memberAssignment"]),
        (GroupMetadataValue("consumer", members=[stored]), 3,
         ["members.subscription", "members.assignment"]),
    ]  # fmt: skip


def at(shown: Any, path: str) -> Any:
    """The one value at a path."""
    for name in path.split("."):
        (shown,) = shown if isinstance(shown, list) else (shown,)
        shown = shown[name]
    return shown


@pytest.mark.parametrize("version", range(4))
def test_what_kafka_writes_is_decoded_in_every_place(version: int) -> None:
    subscription = bytes.fromhex(SUBSCRIPTIONS[version])
    own = ConsumerProtocolSubscription.TopicPartition("apples", [0, 2])
    value = ConsumerProtocolSubscription(
        ["apples", "pears"], b"\1\2", [own] if version else [], 7 if version > 1 else -1,
        "r1" if version > 2 else None,
    )  # fmt: skip
    topic = ConsumerProtocolAssignment.TopicPartition
    assigned = ConsumerProtocolAssignment([topic("apples", [1]), topic("pears", [0])])
    wanted = {
        True: {"message": "ConsumerProtocolSubscription", "version": version,
               "data": codec("ConsumerProtocolSubscription", version).to_json(value)},
        False: {"message": "ConsumerProtocolAssignment", "version": 2,
                "data": codec("ConsumerProtocolAssignment", 2).to_json(assigned)},
    }  # fmt: skip
    for message, outer, paths in messages(subscription, ASSIGNED):
        found = codec(message.message_name, outer)
        shown = message_json(found, message, mask=True)
        for path in paths:
            assert at(shown, path) == wanted["ssignment" not in path.rpartition(".")[2]]
        assert not list(embedded_problems(found.name, shown))


@given(st.binary(max_size=30) | st.builds(lambda n: SUBSCRIBED[:n], st.integers(0, 60)))
def test_damaged_bytes_do_not_lose_the_message_around_them(data: bytes) -> None:
    for message, version, paths in messages(data, data):
        found = codec(message.message_name, version)
        plain, shown = found.to_json(message), message_json(found, message, mask=True)
        for path in paths:
            inner, text = at(shown, path), base64.b64encode(data).decode()
            *outside, name = path.split(".")
            owner = at(shown, ".".join(outside)) if outside else shown
            owner = owner[0] if isinstance(owner, list) else owner
            owner[name] = text
            if inner != text:
                assert set(inner) <= {"message", "version", "data", "base64", "problem"}
                assert inner.get("base64", text) == text
                assert "data" in inner or inner["problem"]
        assert shown == plain


def bytes_of(inner: Any) -> bytes:
    """The bytes that stand for a message in JSON: given as they were, or written from its data."""
    if not isinstance(inner, dict):
        return base64.b64decode(inner or "")
    if "base64" in inner:
        return base64.b64decode(inner["base64"])
    found, data = codec(inner["message"], inner["version"]), dict(inner["data"])
    if isinstance(data.get("userData"), dict):
        data["userData"] = base64.b64encode(bytes_of(data["userData"])).decode()
    version = inner["version"].to_bytes(2, "big")
    written = found.encode(found.from_json(data))
    return written if inner["message"] == "SubscriptionInfoData" else version + written


def damaged(whole: bytes) -> st.SearchStrategy[bytes]:
    """The bytes with some in the place of others, and some more behind."""
    return st.builds(
        lambda start, put, more: whole[:start] + put + whole[start + len(put) :] + more,
        st.integers(0, len(whole)), st.binary(max_size=6), st.binary(max_size=3),
    )  # fmt: skip


def with_user_data(data: bytes) -> bytes:
    return b"\0\1" + ConsumerProtocolSubscription(["apples"], data).encode(1)


@given(
    damaged(SUBSCRIBED) | damaged(OF_STREAMS).map(with_user_data), st.sampled_from(["consumer", ""])
)
@example(SUBSCRIBED.replace(b"pears", b"pe\xffrs"), "consumer")
@example(b"\0\x09" + SUBSCRIBED[2:] + b"fields of a newer version", "consumer")
@example(SUBSCRIBED + b"xyz", "consumer")
@example(with_user_data(OF_STREAMS + b"xyz"), "consumer")
def test_no_byte_is_lost(data: bytes, kind: str) -> None:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol("stream", data)
    message = JoinGroupRequest("g", protocol_type=kind, protocols=[protocol])
    shown = message_json(codec("JoinGroupRequest", 9), message, mask=True)
    assert bytes_of(at(shown, "protocols.metadata")) == data


def test_a_topic_that_is_not_utf_8_is_pointed_out() -> None:
    data = SUBSCRIBED.replace(b"pears", b"pe\xffrs")
    found = codec("JoinGroupRequest", 9)
    shown = message_json(found, join(data), mask=True)
    assert list(embedded_problems(found.name, shown)) == [
        "protocols.metadata: text that is not UTF-8 is shown with U+FFFD; base64 has the bytes"
    ]


def test_a_loaded_definition_may_have_text_in_the_place(tmp_path: Path) -> None:
    definition = (catalog().folder / "kafka" / "JoinGroupRequest.json").read_text()
    changed = definition.replace('"type": "bytes"', '"type": "string"')
    (tmp_path / "JoinGroupRequest.json").write_text(changed)
    load_schemas(tmp_path, dialect="with-text")
    found = codec("JoinGroupRequest", 9, dialect="with-text")
    shown = found.to_json(found.value_class())
    shown |= {"protocolType": "consumer", "protocols": [{"name": "range", "metadata": "hello"}]}
    assert message_json(found, found.from_json(shown), mask=True) == shown


@given(st.binary(max_size=30) | st.builds(lambda n: SUBSCRIBED[:n], st.integers(0, 60)))
def test_every_byte_is_explained_once(data: bytes) -> None:
    for frame in frames(data, data):
        check_whole(explanation_of(frame, mask=True), frame.data, mask=True)


def frames(subscription: bytes, assignment: bytes) -> list[DecodedFrame]:
    """The messages on a connection."""
    payloads = []
    asked = {"JoinGroup": JoinGroupRequest(), "SyncGroup": SyncGroupRequest(),
             "DescribeGroups": DescribeGroupsRequest()}  # fmt: skip
    for number, (message, version, _) in enumerate(messages(subscription, assignment)):
        api, kind = message.message_name[:-8], message.message_name[-8:]
        if message.message_name.endswith("Request"):
            payloads.append(
                write_request(message, version=version, correlation_id=number, client_id="c")
            )
        elif kind == "Response":
            payloads.append(
                write_request(asked[api], version=version, correlation_id=number, client_id="c")
            )
            payloads.append(write_response(message, version=version, correlation_id=number))
    return decoded(*payloads)


def test_the_rows_have_the_fields() -> None:
    rows: dict[tuple[str, int | None, str], str] = {}
    for frame in frames(SUBSCRIBED, ASSIGNED):
        explained = explanation_of(frame, mask=True).rows
        assert frame.codec is not None
        rows |= {
            (frame.codec.name, frame.api_version, row.path): row.shown_value for row in explained
        }
    assert rows["JoinGroupRequest", 9, "protocols[0].metadata.topics[1]"] == '"pears"'
    assert rows["JoinGroupResponse", 9, "members[0].metadata.rack_id"] == '"r1"'
    assert rows["SyncGroupRequest", 1, "assignments[0].assignment.version"] == "2"
    assert rows["SyncGroupResponse", 5, "assignment.assigned_partitions[1].topic"] == '"pears"'
    path = "groups[0].members[0].member_metadata.owned_partitions[0].partitions[1]"
    assert rows["DescribeGroupsResponse", 5, path] == "2"


def test_version_1_without_owned_partitions_is_pointed_out() -> None:
    (frame,) = frames(WITHOUT_OWNED, ASSIGNED)[:1]
    record = frame_record(frame, json_body=True)
    inner = at(json.loads(bytes(record["body"])), "protocols.metadata")
    assert inner["data"] == {"topics": ["apples"], "userData": None}
    assert (inner["version"], inner["problem"], record["problem"]) == (1, MISSING, None)
    (damage,) = (row for row in explanation_of(frame, mask=True).rows if row.kind == "damage")
    assert (damage.path, damage.meaning) == ("protocols[0].metadata.missing", MISSING)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\0", "ConsumerProtocolSubscription at byte 0: its version takes 2 bytes, and it has 1"),
        (b"\xff\xff\0\0", "ConsumerProtocolSubscription at byte 0: the consumer protocol has no "
         "version -1"),
        (SUBSCRIBED[:-3], "ConsumerProtocolSubscription v3, rack_id at byte 55: string length "
         "needs 2 bytes, 1 left"),
        (SUBSCRIBED + b"xyz", "3 bytes left over, which Kafka passes over"),
        (b"\0\x09" + SUBSCRIBED[2:] + b"xyz", None),
        (b"", None),
    ],
)  # fmt: skip
def test_problems_are_sentences(data: bytes, problem: str | None) -> None:
    found = codec("JoinGroupRequest", 9)
    inner = at(message_json(found, join(data), mask=True), "protocols.metadata")
    assert inner == "" if not data else inner.get("problem") == problem


def of_streams(data: bytes, assignor: str = "stream") -> JoinGroupRequest:
    """A member of Streams with that as user data."""
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(assignor, with_user_data(data))
    return JoinGroupRequest("g", protocol_type="consumer", protocols=[protocol])


def test_streams_say_more_in_the_user_data() -> None:
    found = codec("JoinGroupRequest", 9)
    path = "protocols.metadata.data.userData"
    inner = at(message_json(found, of_streams(OF_STREAMS), mask=True), path)
    assert (inner["message"], inner["version"]) == ("SubscriptionInfoData", 9)
    assert inner["data"]["taskOffsetSums"] == [
        {"topicGroupId": 0, "partitionToOffsetSum": [{"partition": 1, "offsetSum": 5}]},
        {"topicGroupId": 1, "partitionToOffsetSum": [{"partition": 0, "offsetSum": -2}]},
    ]
    other = at(message_json(found, of_streams(OF_STREAMS, "range"), mask=True), path)
    assert other == base64.b64encode(OF_STREAMS).decode()
    (frame,) = decoded(write_request(of_streams(OF_STREAMS), 9, 1))
    explanation = explanation_of(frame, mask=True)
    check_whole(explanation, frame.data, mask=True)
    rows = {row.path.partition("user_data.")[2]: row for row in explanation.rows}
    assert rows["task_offset_sums[1].partition_to_offset_sum[0].offset_sum"].value == -2
    # It is no error code of the protocol, whose 1 is OFFSET_OUT_OF_RANGE.
    assert rows["error_code"].meaning == "INCOMPLETE_SOURCE_TOPIC_METADATA"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\0\0\0", "SubscriptionInfoData at byte 0: its version takes 4 bytes, and it has 3"),
        (b"\0\0\0\x0c" + OF_STREAMS[4:],
         "SubscriptionInfoData at byte 0: it has versions 1-11, not 12"),
        (OF_STREAMS[:-2], "SubscriptionInfoData v9, error_code at byte 80: int32 needs 4 bytes, 2 "
         "left"),
        (OF_STREAMS + b"x", "1 byte left over, which Kafka passes over"),
    ],
)  # fmt: skip
def test_damaged_user_data_does_not_lose_the_subscription(data: bytes, problem: str) -> None:
    found = codec("JoinGroupRequest", 9)
    message = of_streams(data)
    shown = message_json(found, message, mask=True)
    subscription = at(shown, "protocols.metadata.data")
    assert (subscription["topics"], subscription["userData"]["problem"]) == (["apples"], problem)
    assert list(embedded_problems(found.name, shown)) == [f"protocols.metadata: {problem}"]
    (frame,) = decoded(write_request(message, 9, 1))
    check_whole(explanation_of(frame, mask=True), frame.data, mask=True)


@pytest.mark.parametrize("kind", ["connect", "sr", "Consumer"])
def test_other_types_of_protocol_stay_bytes(kind: str) -> None:
    for data in (OF_CONNECT, SUBSCRIBED):
        found = codec("JoinGroupRequest", 9)
        inner = at(message_json(found, join(data, kind), mask=True), "protocols.metadata")
        assert inner == base64.b64encode(data).decode()


def test_where_no_type_is_said_bytes_of_others_stay_bytes() -> None:
    member = JoinGroupResponse.JoinGroupResponseMember("m", None, OF_CONNECT)
    found = codec("JoinGroupResponse", 5)
    shown = message_json(found, JoinGroupResponse(members=[member]), mask=True)
    assert at(shown, "members.metadata") == base64.b64encode(OF_CONNECT).decode()


def test_records_of_groups_have_them_too() -> None:
    (value,) = (each for each, _, _ in messages(SUBSCRIBED, ASSIGNED) if
                isinstance(each, GroupMetadataValue))  # fmt: skip
    key, data = write_known_record(GroupMetadataKey("g"), value, 3)
    batch = write_batch(Batch.of([Record(0, 0, key, data)]))
    shown = record_set_json(read_records(batch), topic=CONSUMER_OFFSETS)
    fields = shown["batches"][0]["records"][0]["value"]["data"]
    assert at(fields, "members.subscription.data.topics") == ["apples", "pears"]
    rows = BatchRows(batch).rows(0, len(batch), "records", topic=CONSUMER_OFFSETS)
    assert any('"topics":["apples","pears"]' in row.meaning for row in rows)


@pytest.mark.exhaustive
def test_kafkas_own_dump_has_the_same_of_a_group(tmp_path: Path) -> None:
    (value,) = (each for each, *_ in messages(SUBSCRIBED, ASSIGNED) if
                isinstance(each, GroupMetadataValue))  # fmt: skip
    damaged = msgspec.convert(msgspec.to_builtins(value), GroupMetadataValue)
    damaged.members[0].subscription = SUBSCRIBED[:-3]
    other = msgspec.structs.replace(value, protocol_type="connect")
    path = tmp_path / f"{CONSUMER_OFFSETS}-0" / "00000000000000000000.log"
    path.parent.mkdir()
    records = [
        Record(number, 0, *write_known_record(GroupMetadataKey("g"), each, 3))
        for number, each in enumerate((value, damaged, other))
    ]
    path.write_bytes(write_batch(Batch.of(records)))
    said = dump([path], "--offsets-decoder").splitlines()
    payloads = [line.partition(" payload: ")[2] for line in said if " payload: " in line]
    theirs = [json.loads(each)["data"] for each in payloads]
    ours = [row["fields"] for row in segment_rows(path)]
    assert [plain(each) for each in ours] == theirs


def plain(shown: Any) -> Any:
    """Messages in the place of their bytes as Kafka shows them: their fields, or the bytes."""
    if isinstance(shown, list):
        return [plain(each) for each in shown]
    if not isinstance(shown, dict):
        return shown
    if "base64" in shown and "data" not in shown:
        return shown["base64"]
    return plain(shown["data"]) if "data" in shown else {k: plain(v) for k, v in shown.items()}
