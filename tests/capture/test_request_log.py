"""A broker's request log: any layout around the objects, whatever stands in them."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import random
from collections.abc import Callable
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import (
    AlterUserScramCredentialsRequest,
    ApiVersionsResponse,
    CreateDelegationTokenResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    EnvelopeRequest,
    EnvelopeResponse,
    SaslAuthenticateRequest,
    codec,
)
from kafka_admin_proto.capture import DecodedFrame, FrameDecoder, read_request_log
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.capture.request_log_lines import logged_lines, matches
from kafka_admin_proto.capture.sources import read_frames
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.messages import DefaultPrincipalData
from kafka_admin_proto.messages.alter_user_scram_credentials_request import ScramCredentialUpsertion
from kafka_admin_proto.messages.api_versions_response import ApiVersion
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.create_topics_response import CreatableTopicResult
from kafka_admin_proto.protocol import write_request, write_response

REQUEST = CreateTopicsRequest(topics=[CreatableTopic(name="apples", num_partitions=1)])
RESPONSE = CreateTopicsResponse(topics=[CreatableTopicResult(name="apples", error_code=36)])


def entry(**changed: Any) -> dict[str, Any]:
    """An object as Kafka 3 and 4 log it."""
    return {
        "isForwarded": False,
        "requestHeader": {
            "requestApiKey": 19, "requestApiVersion": 4, "correlationId": 7, "clientId": "admin-1",
            "requestApiKeyName": "CREATE_TOPICS",
        },
        "request": codec(CreateTopicsRequest, 4).to_json(REQUEST),
        "response": codec(CreateTopicsResponse, 4).to_json(RESPONSE),
        "connection": "10.0.0.2:9092-10.0.0.1:40000-3",
        "totalTimeMs": 12.345, "requestQueueTimeMs": 0.1, "localTimeMs": 12.0, "remoteTimeMs": 0.0,
        "throttleTimeMs": 0, "responseQueueTimeMs": 0.1, "sendTimeMs": 0.1,
        "securityProtocol": "SASL_SSL", "principal": "User:alice", "listener": "CLIENT",
        "clientInformation": {"softwareName": "apache-kafka-java", "softwareVersion": "3.9.2"},
        **changed,
    }  # fmt: skip


def log4j(logged: Any, time: str = "2026-01-31 12:00:00,123") -> str:
    return f"[{time}] DEBUG Completed request:{json.dumps(logged)} (kafka.request.logger)\n"


def read(*lines: str) -> list[DecodedFrame]:
    data = "".join(lines).encode()
    return list(read_request_log(BytesIO(data), "request.log"))


NOON = 1_769_860_800_000_000


def test_a_line_is_a_request_and_a_response() -> None:
    request, response = read("[2026-01-31 11:00:00,000] INFO hello (kafka)\n", log4j(entry()))
    assert (request.body, response.body) == (REQUEST, RESPONSE)
    found = frame_record(request)
    assert found | {"body": None} == {
        "capture": "request.log",
        "connection": "10.0.0.2:9092-10.0.0.1:40000-3",
        "direction": "request",
        "ts": NOON + 123_000 - 12_345,
        "client": "10.0.0.1:40000",
        "server": "10.0.0.2:9092",
        "stream_offset": 0,
        "size": None,
        "api_key": 19,
        "api": "CreateTopics",
        "api_version": 4,
        "correlation_id": 7,
        "client_id": "admin-1",
        "principal": "User:alice",
        "latency_us": None,
        "error_codes": [],
        "body": None,
        "problem": None,
        "raw": None,
        "topic_names": None,
        "client_software": "apache-kafka-java 3.9.2",
        "forwarded": False,
        "line": 2,
    }
    found = frame_record(response)
    assert found["body"] == entry()["response"]
    assert (found["ts"], found["latency_us"]) == (NOON + 123_000, 12_345)
    assert found["error_codes"] == ["TOPIC_ALREADY_EXISTS"]


@pytest.mark.parametrize(
    ("time", "ts"),
    [
        ("2026-01-31 12:00:00,123", NOON + 123_000),
        ("2026-01-31T12:00:00.123456Z", NOON + 123_456),
        ("2026-01-31T14:00:00.5+02:00", NOON + 500_000),
        ("2026-01-31 12:00:00", NOON),
        ("Jan 31", None),
    ],
)
def test_layouts_of_time(time: str, ts: int | None) -> None:
    assert read(log4j(entry(), time))[1].ts == ts


@pytest.mark.parametrize(
    "around",
    [
        {"@timestamp": "2026-01-31T12:00:00.000Z"},
        {"timestamp": "2026-01-31T12:00:00.000+0000"},
        {"timeMillis": NOON // 1000},
        {"ts": NOON / 1_000_000},
        {"instant": {"epochSecond": NOON // 1_000_000, "nanoOfSecond": 0}},
    ],
)
def test_layouts_of_json(around: dict[str, Any]) -> None:
    message = f"Completed request:{json.dumps(entry())}"
    line = json.dumps({**around, "level": "DEBUG", "message": message}) + "\n"
    assert matches(line.encode())
    request, response = read(line)
    assert (request.body, response.body, response.ts) == (REQUEST, RESPONSE, NOON)


def test_sizes_in_the_place_of_records() -> None:
    header = {"requestApiKey": 0, "requestApiVersion": 9, "correlationId": 1, "clientId": None}
    body = {
        "transactionalId": None, "acks": 0, "timeoutMs": 100,
        "topicData": [{
            "name": "apples",
            "partitionData": [{"index": 0, "recordsSizeInBytes": 4711}],
        }],
    }  # fmt: skip
    (frame,) = read(log4j(entry(requestHeader=header, request=body, response="")))
    assert frame.problem is None
    assert frame_record(frame)["body"] == body
    assert getattr(frame.body, "acks", None) == 0


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"requestHeader": {"requestApiKey": 19, "requestApiVersion": 99}}, "has versions 0-7"),
        ({"requestHeader": {"requestApiKey": 999, "requestApiVersion": 0}}, "unknown api key 999"),
        ({"request": {"topics": 5}}, "expected an array"),
        ({"request": [1]}, "expected an object"),
    ],
)
def test_what_does_not_read_is_kept_with_a_problem(changed: dict[str, Any], problem: str) -> None:
    request, response = read(log4j(entry(**changed)))
    logged = entry(**changed)
    assert problem in str(request.problem)
    assert frame_record(request, mask=False)["body"] == logged["request"]
    assert bytes.fromhex(frame_record(request, mask=False)["raw"]).decode() == log4j(logged)
    assert response.api_key == logged["requestHeader"]["requestApiKey"]


@pytest.mark.parametrize("version", [4, 5, 99])
def test_a_version_that_the_broker_does_not_know_is_named(version: int) -> None:
    """The broker logs an empty request, and answers ApiVersions in version 0 (KIP-511)."""
    known = [ApiVersion(api_key=18, max_version=3)]
    refusal = ApiVersionsResponse(error_code=35, api_keys=known)
    header = {"requestApiKey": 18, "requestApiVersion": version, "correlationId": 1}
    logged = codec(ApiVersionsResponse, 0).to_json(refusal)
    request, response = read(log4j(entry(requestHeader=header, request={}, response=logged)))
    assert f"the broker does not know ApiVersions v{version}" in str(request.problem)
    assert frame_record(request)["body"] == {}
    assert (response.body, response.problem) == (refusal, None)
    assert response.error_names() == ["UNSUPPORTED_VERSION"]
    assert response.api_version == version
    assert not isinstance(request.error, DumpError)  # filters choose among requests, not files


SECRET = "hunter2-hunter2"


def test_secrets_are_masked() -> None:
    made = CreateDelegationTokenResponse(token_id="t", hmac=SECRET.encode())
    header = {"requestApiKey": 38, "requestApiVersion": 2, "correlationId": 1, "clientId": "c"}
    body = codec(CreateDelegationTokenResponse, 2).to_json(made)
    assert body["hmac"]
    for damage in ({}, {"issueTimestampMs": "never"}):
        line = log4j(entry(requestHeader=header, request="", response={**body, **damage}))
        (frame,) = read(line)
        assert body["hmac"] not in str(frame_record(frame, raw=True))
        assert body["hmac"].encode().hex() not in str(frame_record(frame, raw=True))
        assert body["hmac"] in str(frame_record(frame, mask=False))
    login = SaslAuthenticateRequest(auth_bytes=SECRET.encode())
    body = codec(SaslAuthenticateRequest, 2).to_json(login)
    header = {"requestApiKey": 36, "requestApiVersion": 2}
    (frame,) = read(log4j(entry(requestHeader=header, request=body, response="")))
    assert body["authBytes"] not in str(frame_record(frame, raw=True))


def enveloped(inner: bytes, answer: bytes | None) -> str:
    """A line of an Envelope, as a controller that has no name for its inside logs it."""
    principal = bytes(2) + DefaultPrincipalData(type="User", name="bob").encode(0)
    outer = EnvelopeRequest(request_data=inner, request_principal=principal)
    header = {"requestApiKey": 58, "requestApiVersion": 0, "correlationId": 9, "clientId": "1"}
    response = EnvelopeResponse(response_data=answer)
    return log4j(
        entry(
            requestHeader=header,
            request=codec(EnvelopeRequest, 0).to_json(outer),
            response=codec(EnvelopeResponse, 0).to_json(response),
        )
    )


def test_the_request_within_an_envelope() -> None:
    inner = write_request(REQUEST, 4, 7, client_id="admin-1")
    frames = read(enveloped(inner, write_response(RESPONSE, 4, 7)))
    assert [(each.direction, each.api, each.forwarded, each.line) for each in frames] == [
        ("request", "Envelope", False, 1), ("request", "CreateTopics", True, 1),
        ("response", "Envelope", False, 1), ("response", "CreateTopics", True, 1),
    ]  # fmt: skip
    _, request, outer, response = frames
    assert (request.body, response.body) == (REQUEST, RESPONSE)
    assert (request.principal, request.client_id, response.client_id) == (
        "User:bob", "admin-1", "admin-1",
    )  # fmt: skip
    assert (
        (response.ts, response.latency_us)
        == (outer.ts, outer.latency_us)
        == (NOON + 123_000, 12_345)
    )
    assert response.request is request


@pytest.mark.parametrize("inner", [b"", b"\0", b"\0\x13\0\4", b"\x7f" * 40])
@pytest.mark.parametrize("answer", [None, b"", b"\xff" * 9])
def test_an_envelope_without_a_request_within(inner: bytes, answer: bytes | None) -> None:
    frames = read(enveloped(inner, answer))
    assert [each.api for each in frames if not each.forwarded] == ["Envelope"] * 2
    assert all(each.problem for each in frames if each.forwarded)


def test_secrets_within_an_envelope_are_masked() -> None:
    upsertion = ScramCredentialUpsertion(
        name="bob", mechanism=1, iterations=4096, salt=b"salt", salted_password=SECRET.encode()
    )
    login = AlterUserScramCredentialsRequest(upsertions=[upsertion])
    frames = read(enveloped(write_request(login, 0, 7), None))
    shown = str([frame_record(each, raw=True) for each in frames])
    assert frames[1].body == login
    for part in (SECRET.encode(), SECRET.encode()[1:], SECRET.encode()[2:]):
        assert base64.b64encode(part).decode()[4:-4] not in shown
    assert SECRET.encode().hex() not in shown


@pytest.mark.parametrize(
    "line",
    [
        "DEBUG Completed request:{",
        'DEBUG Completed request:{"requestHeader": 5}',
        'DEBUG Completed request:{"requestHeader": {"requestApiKey": "x"}}',
        "DEBUG Completed request:[1, 2]",
        "DEBUG Completed request:" + "[" * 100_000,
        '{"message": "Completed request:{\\"a',
        '{"message": ["Completed request:"]}',
    ],
)
def test_broken_lines_are_rows_with_a_problem(line: str) -> None:
    rows = read(log4j(entry()), line + "\n", log4j(entry()))
    assert [row.direction for row in rows] == ["request", "response", "data", "request", "response"]
    assert "line 2" in str(rows[2].problem)
    assert frame_record(rows[2])["raw"]


@given(st.integers(0, 1 << 32))
def test_no_damage_does_harm(seed: int) -> None:
    dice = random.Random(seed)
    data = bytearray((log4j(entry()) * 2).encode())
    for _ in range(dice.randrange(1, 20)):
        data[dice.randrange(len(data))] = dice.choice(b'{}[]",:0x\n\\\xff')
    for frame in read_request_log(BytesIO(bytes(data)), "x"):
        assert frame_record(frame, raw=True)["capture"] == "x"


SALT = "aHVudGVyMmh1bnRlcjI="


@pytest.mark.parametrize("api_key", [999, 3, 19, 37, 50])
@pytest.mark.parametrize(
    "body",
    [
        {"deletions": [], "upsertions": [{"name": "al", "salt": SALT, "iterations": 4096}]},
        {"upsertions": [{"saltedPassword": SALT}], "timeoutMs": SALT, "topics": SALT},
        {"authBytes": SALT},
        {"password": SALT},
        {"configs": [{"name": "ssl.key.password", "value": SALT}]},
    ],
)
def test_secrets_under_a_wrong_api_key_are_masked(api_key: int, body: dict[str, Any]) -> None:
    logged = entry(request=body)
    logged["requestHeader"]["requestApiKey"] = api_key
    logged["requestHeader"]["requestApiVersion"] = 1
    frames = read(log4j(logged))
    for raw in (True, False):
        shown = [frame_record(each, raw=raw) for each in frames]
        assert SALT not in str(shown)
        assert SALT.encode().hex() not in str(shown)
    assert SALT in str([frame_record(each, mask=False) for each in frames])


_LINE = log4j(entry())


@pytest.mark.parametrize(
    "outer",
    [
        {"date": 1769860801.5, "log": _LINE},
        {"MESSAGE": _LINE, "_PID": "17"},
        {"LogEntry": _LINE, "Computer": "node-1"},
        {"message": _LINE},
        {"_index": "kafka", "_source": {"message": _LINE}},
        {"preview": False, "result": {"_raw": _LINE}},
        {"events": [{"message": "hello"}, {"message": _LINE}]},
        {"log": json.dumps({"level": "DEBUG", "message": _LINE})},
        [{"textPayload": _LINE}],
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": _LINE}}]}]}]},
    ],
    ids=lambda outer: str(next(iter(outer)))[:15],
)
def test_a_line_within_json_has_its_own_time(outer: Any) -> None:
    """In several lines, too, as the command lines of clouds print what they have collected."""
    for indent in (None, 4):
        request, response = read(json.dumps(outer, indent=indent) + "\n")
        assert (request.body, response.body) == (REQUEST, RESPONSE)
        assert response.ts == NOON + 123_000


def test_a_line_in_a_row_of_csv() -> None:
    doubled = _LINE.strip().replace('"', '""')
    for row in (f'"kafka-1","{doubled}"\n', f'"{doubled}",7,"kafka-1"\n'):
        assert [each.body for each in read(row)] == [REQUEST, RESPONSE]
        assert read(row)[1].ts == NOON + 123_000


def test_a_time_of_the_objects_around_counts_first() -> None:
    """It has a zone, and often microseconds."""
    for outer in (
        {"log": _LINE, "time": "2026-01-31T13:00:00.123456789Z"},
        {"@timestamp": "2026-01-31T13:00:00.123456Z", "_source": {"message": _LINE}},
        {"@timestamp": "1999-01-01T00:00:00Z", "event": {"ts": 1769864400.123456, "m": _LINE}},
    ):
        assert read(json.dumps(outer) + "\n")[1].ts == NOON + 3_600_000_000 + 123_456


def test_several_lines_in_one_object() -> None:
    events = [{"message": log4j(entry(), time=f"2026-01-31 12:00:0{n},000")} for n in range(3)]
    frames = read(json.dumps({"events": events}) + "\n")
    assert [each.ts for each in frames[1::2]] == [NOON + n * 1_000_000 for n in range(3)]


def test_objects_in_one_another_have_an_end() -> None:
    deep: Any = {"message": _LINE}
    for _ in range(500):
        deep = {"inner": deep}
    (frame,) = read(json.dumps(deep) + "\n")
    assert frame.problem is not None


def pieces(line: str, size: int, form: str) -> str:
    """The line as Docker or CRI cuts it."""
    text, time = line.rstrip("\n"), "2026-01-31T12:00:00.123456789Z"
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    if form == "CRI":
        marks = ["P"] * (len(parts) - 1) + ["F"]
        return "".join(f"{time} stdout {m} {part}\n" for m, part in zip(marks, parts, strict=True))
    parts[-1] += "\n"
    return "".join(
        json.dumps({"log": part, "stream": "stdout", "time": time}, separators=(",", ":")) + "\n"
        for part in parts
    )


@pytest.mark.parametrize("size", [7, 100, 16_384])
@pytest.mark.parametrize("form", ["CRI", "Docker"])
def test_lines_in_pieces(form: str, size: int) -> None:
    lines = [pieces(each, size, form) for each in ("INFO hello\n", _LINE, log4j(entry()))]
    frames = read(*lines)
    assert [each.body for each in frames] == [REQUEST, RESPONSE] * 2
    assert [each.problem for each in frames] == [None] * 4
    assert {each.ts for each in frames[1::2]} == {NOON + 123_456}


def test_pieces_of_two_streams_stand_between_each_other() -> None:
    """A line without an end is the last of a log that was cut off."""
    text = _LINE.rstrip()
    head = "2026-01-31T12:00:00Z"
    rows = [
        f"{head} stdout P {text[:50]}",
        f"{head} stderr P {text[:30]}",
        f"{head} stdout F {text[50:]}",
        f"{head} stderr P {text[30:]}",
    ]
    assert [each.body for each in read("\n".join(rows))] == [REQUEST, RESPONSE] * 2


def test_a_gzipped_log(tmp_path: Path) -> None:
    """As log4j2 leaves rotated ones; a damaged one has what came before the damage."""
    file = tmp_path / "kafka-request.log.1.gz"
    packed = gzip.compress((_LINE * 500).encode())
    assert matches(packed[:1000])
    for data, count in ((packed, 1000), (packed[:-400], 1)):
        file.write_bytes(data)
        frames = list(read_frames([str(file)], FrameDecoder()))
        assert len(frames) >= count
        assert (frames[-1].problem is None) is (count == 1000)
    assert "the log cannot be decompressed" in str(frames[-1].problem)


def test_requests_that_come_late() -> None:
    """A broker writes 87 kB before the first, and one whose logger is set later writes hours."""
    quiet = "[2026-01-31 11:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    assert matches((quiet * 1000)[:65_536].encode())
    assert [each.body for each in read(quiet * 1000, _LINE)] == [REQUEST, RESPONSE]
    (frame,) = read(quiet * 1000)
    assert frame.problem == "a log without requests: kafka.request.logger writes them at DEBUG"
    assert not matches(b"[2026-01-31] a text that begins alike\n")


@pytest.mark.parametrize(
    "before",
    [
        '{"log":"', "2026-01-31T12:00:00.123456789Z stdout F ",
        "2026-01-31T12:00:00.123456789+01:00 stderr P ", "kafka-1  | ", "broker-1.cluster | ",
        '{"date":1769860801.5,"log":"', "2026-01-31T12:00:00.123456789Z ", "[pod/kafka-0/kafka] ",
        "Jan 31 12:00:00 node-1 kafka[17]: ", "===> User\nuid=1\n",
    ],
)  # fmt: skip
def test_requests_that_come_late_in_logs_of_containers(before: str) -> None:
    line = f"{before}[2026-01-31 11:00:00,000] INFO [KafkaServer id=1] started"
    assert matches((f"{line}\n" * 1000)[:65_536].encode())


@pytest.mark.parametrize(
    "line",
    [
        "2026-01-31 11:00:00,000 INFO started (kafka.server.KafkaServer) [main]",
        '{"@timestamp":"2026-01-31T11:00:00Z","log.logger":"kafka.server.KafkaServer","m":"up"}',
    ],
    ids=["Strimzi", "JSON"],
)
def test_requests_that_come_late_in_other_layouts(line: str) -> None:
    assert matches(f"starting\n{line}\n".encode())
    other = line.replace("kafka.server", "org.example")
    assert not matches(f"starting\n{other}\n".encode())


def test_dumps_in_the_log_of_a_program_are_dumps() -> None:
    line = "[2026-01-31 11:00:00,000] DEBUG {}"
    assert matches(line.encode())
    assert not matches(f'12:00:00 write(1, "{line}", 40) = 40\n'.encode())
    box = (Path(__file__).parent / "dumps" / "data" / "netty.txt").read_bytes()
    assert not matches(line.replace("{}", "[id: 0xembedded] READ: 54B\n").encode() + box)


def test_a_log_in_utf_16(tmp_path: Path) -> None:
    """As Windows PowerShell makes it of ``docker logs kafka > kafka.log``."""
    file = tmp_path / "kafka.log"
    file.write_bytes((_LINE * 2).replace("\n", "\r\n").encode("utf-16"))
    frames = list(read_frames([str(file)], FrameDecoder()))
    assert [each.body for each in frames] == [REQUEST, RESPONSE] * 2


def test_ends_of_lines_in_utf_16_are_those_of_other_logs() -> None:
    """JSON leaves U+2028 and U+0085 as they are, and a client's id may have them."""
    text = _LINE.replace("{", "{ \u2028\x85\x0b\U0001f600", 1) * 3
    stream = BufferedReader(BytesIO(text.encode("utf-16")))
    assert list(logged_lines(stream)) == list(logged_lines(BytesIO(text.encode())))


def test_prose_about_requests_makes_no_log() -> None:
    assert not matches(b"# Completed request: the first\n00 00 00 08 00 12 00 00 00 00 00 01\n")


def test_base64_that_begins_as_bzip2_does_is_base64(tmp_path: Path) -> None:
    file = tmp_path / "dump"
    file.write_text("BZhAAA==")
    (frame,) = read_frames([str(file)], FrameDecoder(unit="body", api="ListGroups", version=0))
    assert frame.data == base64.b64decode("BZhAAA==")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_what_is_compressed_otherwise_is_named(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    file = tmp_path / "dump"
    file.write_bytes(pack(b"00 00 00 08 00 12 00 00 00 00 00 01"))
    (frame,) = read_frames([str(file)], FrameDecoder())
    assert frame.problem is not None
    assert frame.problem.endswith("has compressed: unpack them")


@pytest.mark.parametrize(
    "text",
    [
        "RequestHeader(apiKey=METADATA, apiVersion=9, clientId=a, correlationId=3) -- {topics=[]},",
        "Name: TopicMetadataRequest; Version: 0; CorrelationId: 0; ClientId: a; Topics: apples",
    ],
    ids=["2.7", "0.8"],
)
def test_the_text_of_old_brokers_is_named(text: str) -> None:
    line = f"[2019-01-31 12:00:00,123] DEBUG Completed request:{text} (kafka.request.logger)\n"
    assert matches(line.encode())
    (frame,) = read(line)
    assert frame.problem is not None
    assert "as brokers before 2.8 log it" in frame.problem
