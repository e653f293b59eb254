"""The public road: codecs, values, JSON, errors, secrets."""

from __future__ import annotations

import pickle
import struct
import traceback
from io import BytesIO
from typing import Any
from uuid import UUID

import construct
import msgspec
import pytest

import kafka_admin_proto
from kafka_admin_proto import (
    AlterClientQuotasRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DecodeError,
    DescribeConfigsResponse,
    EncodeError,
    FetchRequest,
    FetchResponse,
    JsonError,
    MetadataRequest,
    MetadataResponse,
    SaslAuthenticateRequest,
    TrailingBytesError,
    UnknownMessageError,
    UnsupportedVersionError,
    VoteRequest,
    codec,
)
from kafka_admin_proto.messages.alter_client_quotas_request import EntryData, OpData
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_admin_proto.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.schema.catalog import catalog
from tests.helpers.mistyped import mistyped

APPLES = CreateTopicsRequest(
    topics=[
        CreatableTopic(
            name="apples",
            num_partitions=2,
            replication_factor=1,
            assignments=[CreatableReplicaAssignment(0, [1, 2])],
            configs=[CreatableTopicConfig("cleanup.policy", None)],
        )
    ],
    timeout_ms=7000,
)


def test_one_codec_however_it_is_asked_for() -> None:
    c = codec("CreateTopicsRequest", 1)
    assert codec(CreateTopicsRequest, 1) is c
    assert codec(19, 1, "request") is c
    assert codec("CreateTopicsRequest", 1, dialect="kafka") is c
    assert codec(CreateTopicsRequest, 1, dialect="kafka") is c
    assert CreateTopicsRequest.codec(1) is c
    assert codec(19, 1, "response").value_class is CreateTopicsResponse
    assert APPLES.encode(version=1) == c.encode(APPLES)
    assert CreateTopicsRequest.decode(c.encode(APPLES), version=1) == APPLES
    assert repr(c) == "<Codec CreateTopicsRequest v1>"


def test_a_renamed_message_answers_to_its_older_name() -> None:
    """ListClientMetricsResources became ListConfigResources (same api key) in 4.1."""
    older = codec("ListClientMetricsResourcesResponse", 0)
    assert older is codec("ListConfigResourcesResponse", 0)
    value = older.from_json(
        {"throttleTimeMs": 0, "errorCode": 0, "clientMetricsResources": [{"name": "m"}]}
    )
    assert older.to_json(value)["configResources"] == [{"resourceName": "m"}]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: codec("CreateTopics", 1), UnknownMessageError,
         "no message 'CreateTopics' in dialect 'kafka'; did you mean CreateTopicsRequest, "
         "CreateTopicsResponse?"),
        (lambda: codec("CreateTopicRequest", 1), UnknownMessageError, "CreateTopicsRequest"),
        (lambda: codec("CreateTopicsRequest", 8), UnsupportedVersionError,
         "CreateTopicsRequest has versions 0-7, not 8"),
        (lambda: codec(4711, 0, "request"), UnknownMessageError, "no api with key 4711"),
        (lambda: codec(19, 0, mistyped("")), UnknownMessageError,
         'say type "request" or "response"'),
        (lambda: codec("VoteRequest", 0, dialect="kip-9"), UnknownMessageError, "unknown dialect"),
        (lambda: codec(CreateTopicsRequest, 1, dialect="kip-4"), UnknownMessageError,
         "CreateTopicsRequest is a class of the dialect 'kafka', not of 'kip-4'; leave out"),
    ],
)  # fmt: skip
def test_what_does_not_exist(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_any_buffer_decodes() -> None:
    data = APPLES.encode(1)
    for buffer in (bytearray(data), memoryview(data), memoryview(bytearray(data))):
        assert CreateTopicsRequest.decode(buffer, 1) == APPLES
    value, end = codec(CreateTopicsRequest, 1).decode_from(b"xx" + data + b"yy", 2)
    assert (value, end) == (APPLES, len(data) + 2)


def test_errors_say_message_version_path_offset_and_what_was_expected() -> None:
    data = APPLES.encode(1)
    with pytest.raises(DecodeError) as caught:
        CreateTopicsRequest.decode(data[:40], 1)
    error = caught.value
    assert str(error) == (
        "CreateTopicsRequest v1, topics[0].configs at byte 38: array count needs 4 bytes, 2 left"
    )
    assert (error.message, error.path, error.offset, error.expected) == (
        "CreateTopicsRequest v1",
        "topics[0].configs",
        38,
        "array count",
    )

    with pytest.raises(TrailingBytesError) as trailing:
        CreateTopicsRequest.decode(data, 0)
    assert str(trailing.value) == (
        f"CreateTopicsRequest v0 at byte {len(data) - 1}: 1 byte left after the end of the "
        "message; is it another version of it?"
    )
    assert trailing.value.value == APPLES

    too_many = CreateTopicsRequest(topics=[CreatableTopic(num_partitions=1 << 31)])
    with pytest.raises(EncodeError) as refused:
        too_many.encode(0)
    assert str(refused.value) == (
        "CreateTopicsRequest v0, topics[0].num_partitions: expected an integer from -2147483648 "
        "to 2147483647 (int32), got 2147483648"
    )
    assert refused.value.value == 1 << 31


# Values that a type checker would refuse.
Request: Any = CreateTopicsRequest
Topic: Any = CreatableTopic


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        (Request(topics=None), "topics", "a list"),
        (Request(topics=["x"]), "topics[0]", "a CreatableTopic"),
        (Request(topics=[Topic(name=None)]), "topics[0].name", "cannot be null"),
        (Request(topics=[Topic(name=b"x")]), "topics[0].name", "a str"),
        (Request(topics=[Topic(name="x" * 32768)]), "topics[0].name", "32767"),
        (Request(topics=[Topic(name="\ud800")]), "topics[0].name", "UTF-8"),
        (Request(timeout_ms="1"), "timeout_ms", "an integer"),
        (Request(timeout_ms=1.5), "timeout_ms", "an integer"),
        (Request(validate_only=1), "validate_only", "a bool"),
    ],
)
def test_values_that_cannot_be_encoded(value: Any, path: str, expected: str) -> None:
    with pytest.raises(EncodeError, match=expected) as caught:
        value.encode(1)
    assert caught.value.path == path
    assert caught.value.message == "CreateTopicsRequest v1"


def test_fields_that_a_version_lacks() -> None:
    request = CreateTopicsRequest(validate_only=True)  # validate_only came in v1
    with pytest.raises(EncodeError, match="this version does not have the field") as caught:
        request.encode(0)
    assert (caught.value.path, caught.value.value) == ("validate_only", True)
    assert CreateTopicsRequest.decode(request.encode(0, lenient=True), 0) == CreateTopicsRequest()
    # An ignorable field is dropped without a word: the topic id is one.
    response = MetadataResponse(topics=[MetadataResponseTopic(topic_id=UUID(int=7))])
    assert MetadataResponse.decode(response.encode(9), 9).topics[0].topic_id == UUID(int=0)
    tagged = CreateTopicsRequest(unknown_tagged_fields=((5, b"x"),))
    with pytest.raises(EncodeError, match="no tagged fields"):
        tagged.encode(4)
    assert CreateTopicsRequest.decode(tagged.encode(4, lenient=True), 4).topics == []


def test_null_and_empty_stay_apart() -> None:
    choices: list[list[MetadataRequestTopic] | None] = [None, []]
    for version in (1, 9, 12):
        for topics in choices:
            data = MetadataRequest(topics=topics).encode(version)
            assert MetadataRequest.decode(data, version).topics == topics
    with pytest.raises(EncodeError, match="a list"):  # v0 has no null: empty means all there
        MetadataRequest(topics=None).encode(0)


def test_text_that_is_not_utf8_survives() -> None:
    data = CreateTopicsRequest(topics=[CreatableTopic(name="pl\udcffms")]).encode(0)
    assert b"pl\xffms" in data
    value = CreateTopicsRequest.decode(data, 0)
    assert value.encode(0) == data
    assert codec(CreateTopicsRequest, 0).to_json(value)["topics"][0]["name"] == "pl\ufffdms"


def test_unknown_tags_are_kept_in_order() -> None:
    request = CreateTopicsRequest(unknown_tagged_fields=((3, b"three"), (300, b"")))
    data = request.encode(5)
    assert data.endswith(b"\x02\x03\x05three\xac\x02\x00")
    decoded = CreateTopicsRequest.decode(data, 5)
    assert decoded == request
    obj = codec(CreateTopicsRequest, 5).to_json(decoded)
    assert obj["_unknownTaggedFields"] == [{"tag": 3, "data": "dGhyZWU="}, {"tag": 300, "data": ""}]


@pytest.mark.parametrize(
    ("unknown", "fault"),
    [
        ({5: b"x"}, "expected pairs"),
        (((1,),), "expected pairs"),
        (((-1, b""),), "-1 is not a tag"),
        ((("1", b""),), "a str that may hold a secret and is not shown is not a tag"),
        (((1 << 31, b""),), "is not a tag"),
        (((1, "x"),), "tag 1 has no bytes"),
    ],
)
def test_unknown_tags_that_cannot_be_written(unknown: Any, fault: str) -> None:
    with pytest.raises(EncodeError, match=fault) as caught:
        CreateTopicsRequest(unknown_tagged_fields=unknown).encode(5)
    assert caught.value.path == "unknown_tagged_fields"


def test_tags_of_other_versions_are_refused_as_by_java() -> None:
    vote = codec("FetchRequest", 12)  # v15 added tag 1 (replicaState)
    data = vote.encode(vote.value_class())
    assert data[-1] == 0
    with pytest.raises(DecodeError, match="tag 1 is not valid in this version"):
        vote.decode(data[:-1] + b"\x01\x01\x00")
    with pytest.raises(EncodeError, match="tag 1 is a field of this message"):
        vote.encode(vote.value_class(unknown_tagged_fields=((1, b""),)))


def test_what_java_reads_but_would_write_otherwise() -> None:
    c = codec(CreateTopicsRequest, 5)
    canonical = APPLES.encode(5)
    for odd, note in [
        (canonical[:-2] + b"\x02\x00", "a bool of 2"),
        (b"\x82\x00" + canonical[1:], "array count is a padded varint"),
        (canonical[:-1] + b"\x02\x09\x00\x08\x00", "tag 8 after tag 9"),
    ]:
        value = c.decode(odd)
        assert value.topics == APPLES.topics
        assert [text for text in c.non_canonical(odd) if note in text]
        with pytest.raises(DecodeError, match=f"{note}, which is not canonical"):
            c.decode(odd, strict=True)
    assert c.non_canonical(canonical) == []


def test_floats_compare_by_their_bits() -> None:
    nan = struct.unpack(">d", bytes.fromhex("7ff8000000000001"))[0]
    request = AlterClientQuotasRequest(entries=[EntryData(ops=[OpData("rate", nan)])])
    decoded = AlterClientQuotasRequest.decode(request.encode(0), 0)
    assert decoded == request
    assert OpData("rate", 0.0) != OpData("rate", -0.0)
    assert OpData("rate", 0.0) != "something else"
    obj = codec(AlterClientQuotasRequest, 0).to_json(decoded)
    assert obj["entries"][0]["ops"][0]["value"] == "NaN"
    assert codec(AlterClientQuotasRequest, 0).from_json(obj).entries[0].ops[0].key == "rate"


def test_json_has_the_shape_of_kafkas_converters() -> None:
    obj = codec(CreateTopicsRequest, 1).to_json(APPLES)
    assert obj == {
        "topics": [
            {
                "name": "apples",
                "numPartitions": 2,
                "replicationFactor": 1,
                "assignments": [{"partitionIndex": 0, "brokerIds": [1, 2]}],
                "configs": [{"name": "cleanup.policy", "value": None}],
            }
        ],
        "timeoutMs": 7000,
        "validateOnly": False,
    }
    assert "validateOnly" not in codec(CreateTopicsRequest, 0).to_json(APPLES)


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        (CreateTopicsRequest(topics=mistyped(7)), "topics", "a list"),
        (CreateTopicsRequest(topics=[mistyped(7)]), "topics[0]", "a CreatableTopic"),
        (CreateTopicsRequest(topics=[CreatableTopic(name=mistyped(5))]), "topics[0].name", "a str"),
        (CreateTopicsRequest(unknown_tagged_fields=mistyped(7)), "unknown_tagged_fields", "pairs"),
        (FetchRequest(cluster_id=mistyped(5)), "cluster_id", "a str"),
    ],
)
def test_values_that_have_no_json(value: Any, path: str, expected: str) -> None:
    found = codec(type(value), max(catalog().entry(value.message_name).versions))
    with pytest.raises(EncodeError, match=f"expected {expected}") as caught:
        found.to_json(value)
    assert caught.value.path == path
    assert caught.value.message == found.grammar.title


@pytest.mark.parametrize(
    ("value", "text"), [("many", b'"many"'), (True, b"true"), (1 << 40, b"1099511627776")]
)
def test_numbers_in_json_are_not_checked(value: Any, text: bytes) -> None:
    """They stand there as they are, by the engine too; `from_json` refuses them."""
    found = codec(CreateTopicsRequest, 7)
    topic = CreatableTopic("a", num_partitions=mistyped(value))
    shown = found.to_json_text(CreateTopicsRequest(topics=[topic]))
    assert b'"numPartitions":' + text + b"," in shown
    with pytest.raises(JsonError, match="expected an integer from -2147483648 to 2147483647"):
        found.from_json(msgspec.json.decode(shown))


def test_no_value_of_a_field_makes_json_fail_in_another_way() -> None:
    wrong: list[Any] = [None, 7, 10**400, 0.5, "x", b"x", [7], [None], [[7]], {"a": 1}, object()]
    for name in catalog().names():
        found = codec(name, max(catalog().entry(name).versions))
        for attribute in found.value_class.__struct_fields__:
            for item in wrong:
                for mask in (False, True):
                    try:
                        found.to_json(found.value_class(**{attribute: item}), mask=mask)
                    except EncodeError as error:
                        assert error.path.startswith(attribute), (name, item)


def test_json_of_a_view_with_gaps() -> None:
    data = memoryview(b"a-b-")[::2]
    value = SaslAuthenticateRequest(auth_bytes=mistyped(data))
    assert value.encode(0) == b"\0\0\0\2ab"
    assert codec(SaslAuthenticateRequest, 0).to_json(value) == {"authBytes": "YWI="}


def test_a_secret_that_has_no_json_stays_out_of_the_error() -> None:
    value = SaslAuthenticateRequest(auth_bytes=mistyped("hunter2"))
    with pytest.raises(EncodeError, match="auth_bytes: the field does not take") as caught:
        codec(SaslAuthenticateRequest, 0).to_json(value)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None
    assert caught.value.value is None


def test_records_in_json() -> None:
    value = FetchResponse(
        responses=[
            FetchableTopicResponse(
                topic="t", partitions=[PartitionData(records=b"batch"), PartitionData(records=None)]
            )
        ]
    )
    c = codec(FetchResponse, 4)
    full = c.to_json(value)["responses"][0]["partitions"]
    assert [p["records"] for p in full] == ["YmF0Y2g=", None]
    sizes = c.to_json(value, records="size")["responses"][0]["partitions"]
    assert sizes[0]["recordsSizeInBytes"] == 5
    assert "records" not in sizes[0]
    assert sizes[1]["records"] is None


def test_json_takes_the_names_of_older_releases() -> None:
    partition = {"partitionIndex": 0, "candidateEpoch": 3, "candidateId": 2,
                 "lastOffsetEpoch": 1, "lastOffset": 9}  # fmt: skip
    value = codec(VoteRequest, 0).from_json(
        {"clusterId": None, "topics": [{"topicName": "t", "partitions": [partition]}]}
    )
    assert (value.topics[0].partitions[0].replica_epoch, value.cluster_id) == (3, None)


@pytest.mark.parametrize(
    ("obj", "path", "fault"),
    [
        ([], "", "expected an object"),
        ({"topics": [], "timeoutMs": 1}, "validateOnly", "the field is missing"),
        ({"topics": {}, "timeoutMs": 1, "validateOnly": True}, "topics", "expected an array"),
        ({"topics": [], "timeoutMs": "1", "validateOnly": True}, "timeoutMs", "an integer from"),
        ({"topics": [], "timeoutMs": 1, "validateOnly": 0}, "validateOnly", "true or false"),
        ({"topics": [], "timeoutMs": 1, "validateOnly": True, "x": 1}, "x", "unknown field"),
        ({"topics": [{}], "timeoutMs": 1, "validateOnly": True}, "topics[0].name", "is missing"),
    ],
)
def test_json_of_the_wrong_shape(obj: Any, path: str, fault: str) -> None:
    with pytest.raises(JsonError, match=fault) as caught:
        codec(CreateTopicsRequest, 1).from_json(obj)
    assert caught.value.path == path
    assert caught.value.message == "CreateTopicsRequest v1"


@pytest.mark.parametrize(
    ("unknown", "path", "fault"),
    [
        ({}, "", "expected an array of unknown tags"),
        ([7], "[0]", 'expected an object with "tag" and "data"'),
        ([{"tag": 1, "data": ""}, {"tag": 2}], "[1]", 'expected an object with "tag" and "data"'),
        ([{"tag": -1, "data": ""}], "[0].tag", "expected a tag"),
        ([{"tag": True, "data": ""}], "[0].tag", "expected a tag"),
        ([{"tag": 1 << 32, "data": ""}], "[0].tag", "expected a tag"),
        ([{"tag": 1, "data": "?"}], "[0].data", "is not base64"),
        ([{"tag": 1, "data": 7}], "[0].data", "is not base64"),
    ],
)
def test_json_of_unknown_tags_of_the_wrong_shape(unknown: Any, path: str, fault: str) -> None:
    found = codec(CreateTopicsRequest, 5)
    obj = found.to_json(CreateTopicsRequest(unknown_tagged_fields=((9, b"a"),)))
    assert found.from_json(obj).unknown_tagged_fields == ((9, b"a"),)
    with pytest.raises(JsonError, match=fault) as caught:
        found.from_json({**obj, "_unknownTaggedFields": unknown})
    assert caught.value.path == f"_unknownTaggedFields{path}"


def test_a_grammar_composes_with_the_users_own_construct() -> None:
    c = codec(CreateTopicsRequest, 1)
    envelope = construct.Struct(
        "magic" / construct.Int16ub,
        "request" / construct.Prefixed(construct.Int32ub, c.grammar),
        "rest" / construct.GreedyBytes,
    )
    data = b"\x00\x2a" + len(c.encode(APPLES)).to_bytes(4, "big") + c.encode(APPLES) + b"tail"
    parsed = envelope.parse(data)
    assert (parsed.magic, parsed.request, parsed.rest) == (42, APPLES, b"tail")
    assert envelope.build({"magic": 42, "request": APPLES, "rest": b"tail"}) == data
    with pytest.raises(construct.ConstructError):
        envelope.parse(data[:20])
    short = data[:2] + (20).to_bytes(4, "big") + data[6:26]
    with pytest.raises(DecodeError, match="request: CreateTopicsRequest v1, topics"):
        envelope.parse(short)

    many = construct.Struct("all" / construct.GreedyRange(c.grammar)).parse(c.encode(APPLES) * 3)
    assert list(many.all) == [APPLES] * 3
    maybe = construct.Struct("value" / construct.Optional(c.grammar)).parse(b"\x00")
    assert maybe.value is None
    inside = construct.Struct("request" / c.grammar)
    with pytest.raises(DecodeError) as refused:
        inside.parse(b"\x00\x00\x00\x01\x00")
    assert refused.value.message == "request: CreateTopicsRequest v1"
    assert c.grammar.parse_stream(BytesIO(c.encode(APPLES))) == APPLES


def test_sizes() -> None:
    assert codec("HeartbeatResponse", 0).grammar.sizeof() == 2
    with pytest.raises(construct.SizeofError):
        codec(CreateTopicsRequest, 0).grammar.sizeof()


def test_secrets_are_masked_in_repr_and_on_request_in_json() -> None:
    request = SaslAuthenticateRequest(auth_bytes=b"\0user\0hunter2")
    assert repr(request) == "SaslAuthenticateRequest(auth_bytes='********')"
    assert "hunter2" not in str(request.__rich_repr__())
    c = codec(SaslAuthenticateRequest, 1)
    assert c.to_json(request) == {"authBytes": "AHVzZXIAaHVudGVyMg=="}
    assert c.to_json(request, mask=True) == {"authBytes": "********"}

    configs = [
        DescribeConfigsResourceResult(name="ssl.keystore.password", value="hunter2"),
        DescribeConfigsResourceResult(name="ssl.keystore.location", value="/k"),
        DescribeConfigsResourceResult(name="sasl.jaas.config", value=None),
    ]
    response = DescribeConfigsResponse(results=[DescribeConfigsResult(configs=configs)])
    assert "hunter2" not in repr(response)
    assert "value='/k'" in repr(response)
    masked = codec(DescribeConfigsResponse, 4).to_json(response, mask=True)
    values = [config["value"] for config in masked["results"][0]["configs"]]
    assert values == ["********", "/k", None]


def test_names_are_found_late_and_misspelt_ones_not_at_all() -> None:
    assert kafka_admin_proto.ApiVersionsRequest.message_name == "ApiVersionsRequest"
    with pytest.raises(AttributeError, match="has no attribute 'CreateTopicRequest'"):
        _ = mistyped(kafka_admin_proto).CreateTopicRequest
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = mistyped(kafka_admin_proto.messages).Nothing
    assert "VoteRequest" in dir(kafka_admin_proto)
    assert "VoteRequest" in dir(kafka_admin_proto.messages)


def test_values_are_plain_structs() -> None:
    assert msgspec.structs.asdict(CreatableTopicConfig("a", "b"))["name"] == "a"
    assert CreateTopicsRequest().timeout_ms == 60000
    assert CreateTopicsRequest().topics is not CreateTopicsRequest().topics


def test_secrets_stay_out_of_errors() -> None:
    with pytest.raises(EncodeError) as refused:
        SaslAuthenticateRequest(auth_bytes=mistyped("hunter2")).encode(0)
    assert "hunter2" not in str(refused.value)
    assert refused.value.value is None
    assert refused.value.path == "auth_bytes"
    with pytest.raises(JsonError) as wrong:
        codec(SaslAuthenticateRequest, 0).from_json({"authBytes": "hunter2!"})
    assert "hunter2" not in str(wrong.value)
    assert wrong.value.path == "authBytes"


def test_errors_survive_pickling() -> None:
    errors: list[Exception] = []
    for call in (
        lambda: CreateTopicsRequest.decode(b"", 0),
        lambda: CreateTopicsRequest.decode(APPLES.encode(0) + b"x", 0),
        lambda: Request(topics=None).encode(0),
        lambda: codec(CreateTopicsRequest, 0).from_json([]),
        lambda: codec("Nothing", 0),
    ):
        with pytest.raises(kafka_admin_proto.KafkaAdminProtoError) as caught:
            call()
        errors.append(caught.value)
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        kept = dict(error.__dict__)
        if isinstance(error, TrailingBytesError):  # what was read may be a secret
            kept |= {"value": None, "rest": b""}
        assert again.__dict__ == kept


def test_an_offset_outside_the_data_is_the_callers_slip() -> None:
    for offset in (-1, 3):
        with pytest.raises(ValueError, match="is outside the 2 bytes"):
            codec(CreateTopicsRequest, 0).decode_from(b"xx", offset)
