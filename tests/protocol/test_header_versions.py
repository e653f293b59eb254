"""Headers as definitions give them (KIP-1313): a third version, loaded beside its messages."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto import ApiVersionsRequest, EncodeError, SchemaError, codec, load_schemas
from kafka_admin_proto.capture.connection.conversation import Conversation
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.tcp.segments import read_segment
from kafka_admin_proto.messages.request_header import RequestHeader
from kafka_admin_proto.protocol import (
    api_versions,
    frame,
    read_request,
    read_response,
    request_header_version,
    response_header_version,
    write_request,
    write_response,
)
from kafka_admin_proto.protocol.connection import SERVER, Connection, RequestReceived
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.diff import diff
from tests.capture.packets import conversation, pcap

NEW = "headers of 2026"
INSTANCE = UUID(int=0x0123456789ABCDEF0123456789ABCDEF)


def definition(kind: str, headers: dict[str, str], **more: Any) -> str:
    message = {
        "apiKey": 900, "type": kind, "name": f"Wish{kind.capitalize()}", "validVersions": "0-1",
        "flexibleVersions": "1+", "headerVersions": headers,
        "fields": [{"name": "Text", "type": "string", "versions": "0+"}],
    }  # fmt: skip
    return json.dumps(message | more)


def header_definition() -> str:
    """Kafka's own, and one field more from version 3 on."""
    text = (catalog().folder / "kafka" / "RequestHeader.json").read_text("utf-8")
    header = json.loads(text) | {"validVersions": "0-3"}
    header["fields"] += [{"name": "ClientInstanceId", "type": "uuid", "versions": "3+"}]
    return json.dumps(header)


@pytest.fixture
def dialect(tmp_path: Path) -> str:
    (tmp_path / "WishRequest.json").write_text(definition("request", {"0": "1", "1+": "3"}))
    (tmp_path / "WishResponse.json").write_text(definition("response", {"0": "0", "1+": "1"}))
    (tmp_path / "RequestHeader.json").write_text(header_definition())
    return load_schemas(tmp_path, dialect=NEW)


def wish(version: int, client_id: str | None = None) -> bytes:
    body = codec("WishRequest", version, dialect=NEW).value_class(text="more")
    return write_request(body, version, 7, client_id)


def test_the_definition_says_which_header_stands_in_front(dialect: str) -> None:
    found = [request_header_version(900, version, dialect) for version in (0, 1, 2, 99)]
    assert found == [1, 3, 3, 3]
    assert [response_header_version(900, version, dialect) for version in (0, 1, 2)] == [0, 1, 1]
    assert request_header_version(901, 0, dialect) == 3  # an api that nobody knows
    assert request_header_version(901, 0) == 2
    assert request_header_version(7, 0, dialect) == 0
    shown = diff(
        catalog().spec("WishRequest", dialect), 0, catalog().spec("WishRequest", dialect), 1
    )
    assert ("(header)", "header version 1", "header version 3") in [
        (each.path, each.left, each.right) for each in shown
    ]


@pytest.mark.parametrize("version", [0, 1])
def test_requests_and_responses_with_it(dialect: str, version: int) -> None:
    payload = wish(version, "me")
    request = read_request(payload, dialect=dialect)
    assert (request.problem, request.header_version) == (None, [1, 3][version])
    assert request.header is not None
    assert (request.header.client_id, request.header.correlation_id) == ("me", 7)
    assert request.encode() == payload
    assert len(payload) == 8 + 4 + [0, 17][version] + [6, 6][version]
    body = codec("WishResponse", version, dialect=dialect).value_class(text="none")
    response = read_response(write_response(body, version, 7), 900, version, dialect=dialect)
    assert (response.body, response.header_version) == (body, version)


def test_its_own_field_is_read_and_written(dialect: str) -> None:
    request = read_request(wish(1), dialect=dialect)
    header: Any = request.header
    header.client_instance_id = INSTANCE
    changed = request.encode()
    assert INSTANCE.bytes in changed
    again: Any = read_request(changed, dialect=dialect).header
    assert again.client_instance_id == INSTANCE
    assert request.body is not None
    assert write_request(request.body, header=header) == changed
    request.header = RequestHeader(900, 1, 7, "other")
    assert read_request(request.encode(), dialect=dialect).header == type(header)(
        request_api_key=900, request_api_version=1, correlation_id=7, client_id="other"
    )


def test_the_field_is_tagged_as_on_trunk(tmp_path: Path) -> None:
    """Without a value the header is as long as version 2, and its client's id may be empty."""
    header = json.loads(header_definition())
    header["fields"][-1] |= {"taggedVersions": "3+", "tag": 0, "ignorable": True}
    (tmp_path / "RequestHeader.json").write_text(json.dumps(header))
    (tmp_path / "WishRequest.json").write_text(definition("request", {"0": "1", "1+": "3"}))
    trunk = load_schemas(tmp_path, dialect="trunk")
    body = codec("WishRequest", 1, dialect=trunk).value_class(text="")
    payload = write_request(body, 1, 10, "")
    assert payload == bytes.fromhex("0384 0001 0000000a 0000 00") + b"\1\0"
    request: Any = read_request(payload, dialect=trunk)
    request.header.client_instance_id = INSTANCE
    changed = payload[:10] + b"\1\0\x10" + INSTANCE.bytes + payload[11:]
    assert request.encode() == changed
    again: Any = read_request(changed[:2] + b"\0\5" + changed[4:], dialect=trunk)
    assert (again.header.client_instance_id, again.raw_body) == (INSTANCE, payload[11:])


def test_a_newer_header_in_front_of_an_older_version(dialect: str) -> None:
    """As in a proxy that asks an older broker: no value is lost in silence."""
    request = read_request(wish(1, "me"), dialect=dialect)
    header: Any = request.header
    header.request_api_version = 0
    assert request.body is not None
    assert write_request(request.body, header=header) == wish(0, "me")
    older = read_request(wish(0), dialect=dialect)
    older.header = header
    assert older.encode()[8:] == wish(0, "me")[8:]
    header.client_instance_id = INSTANCE
    with pytest.raises(EncodeError, match="client_instance_id"):
        write_request(request.body, header=header)


def test_a_header_that_its_folder_does_not_have(tmp_path: Path) -> None:
    header = json.loads(header_definition()) | {"validVersions": "1-3"}
    (tmp_path / "RequestHeader.json").write_text(json.dumps(header))
    newer = codec("RequestHeader", 3, dialect=load_schemas(tmp_path, dialect="from 1 on"))
    front = newer.value_class(request_api_key=7, correlation_id=5)
    body = codec("ControlledShutdownRequest", 0).value_class()
    assert write_request(body, header=front) == write_request(body, 0, 5)
    front.client_instance_id = INSTANCE
    with pytest.raises(
        EncodeError, match="client_instance_id: version 0 of the header has no such"
    ):
        write_request(body, header=front)


@pytest.mark.parametrize("lost", [{"name": "Correlation"}, {"type": "string"}])
def test_a_newer_header_has_the_fields_that_all_programs_read(
    tmp_path: Path, lost: dict[str, str]
) -> None:
    header = json.loads(header_definition())
    (field,) = [each for each in header["fields"] if each["name"] == "CorrelationId"]
    field |= lost
    (tmp_path / "RequestHeader.json").write_text(json.dumps(header))
    with pytest.raises(SchemaError, match="newer RequestHeader has no field CorrelationId of type"):
        load_schemas(tmp_path, dialect="odd header")


def test_apis_that_nobody_knows_keep_the_newest_header_with_older_definitions(
    tmp_path: Path,
) -> None:
    header = json.loads(header_definition()) | {"validVersions": "0-1"}
    (tmp_path / "RequestHeader.json").write_text(json.dumps(header))
    newest = json.loads((catalog().folder / "kafka" / "ResponseHeader.json").read_text("utf-8"))
    (tmp_path / "ResponseHeader.json").write_text(json.dumps(newest | {"validVersions": "0-2"}))
    older = load_schemas(tmp_path, dialect="older header")
    assert (request_header_version(901, 0, older), response_header_version(901, 0, older)) == (2, 2)
    answer = read_response(bytes(4) + b"\x01\x05\x00body", 901, 0, dialect=older)
    assert (answer.header_version, answer.raw_body) == (2, b"body")
    assert read_response(bytes(4) + b"body", 901, 0, dialect=older).header_version == 0


def test_at_an_unknown_version_the_header_is_read_all_the_same(dialect: str) -> None:
    payload = wish(1, "me")
    request = read_request(payload[:2] + b"\0\5" + payload[4:], dialect=dialect)
    assert request.header is not None
    assert (request.header.client_id, request.header_version) == ("me", 3)
    assert request.raw_body == b"\x05more\0"
    assert request.problem == "WishRequest has versions 0-1, not 5"
    unknown = read_request(b"\x03\x86" + payload[2:], dialect=dialect)
    assert (unknown.header_version, unknown.raw_body) == (3, request.raw_body)


def test_a_connection_serves_it(dialect: str) -> None:
    apis = [*api_versions(), *api_versions(dialect=dialect)]
    server = Connection(SERVER, dialect=dialect, apis=apis)
    server.receive_data(frame(wish(1, "me")))
    event = server.next_event()
    assert isinstance(event, RequestReceived)
    answer = codec("WishResponse", 1, dialect=dialect).value_class(text="none")
    assert server.send(answer, to=event) == frame(write_response(answer, 1, 7))


def test_a_header_that_is_not_there_is_missed_at_once(tmp_path: Path) -> None:
    (tmp_path / "WishRequest.json").write_text(definition("request", {"0": "1", "1+": "3"}))
    with pytest.raises(SchemaError, match=r"there is no version 3 of RequestHeader; add the"):
        load_schemas(tmp_path, dialect="without a header")
    (tmp_path / "Other.json").write_text(definition("data", {}, headerVersions=None, name="Other"))
    faults: list[SchemaError] = []
    load_schemas(tmp_path, dialect="without a header", on_fault=faults.append)
    assert [fault.file for fault in faults] == ["WishRequest.json"]
    assert catalog().names("without a header") == ["Other"]


def rows(capture: bytes, dialect: str, *, stops: bool) -> list[tuple[str, str | None, str | None]]:
    """Direction, api and client id of each frame; ``stops``: each packet goes on from a state."""
    out: list[DecodedFrame] = []
    names, options = TopicNameIndex(), DecodeOptions(dialect=dialect)
    decoder: Conversation | None = None
    key = b""
    stream = read_packets(open_packets(io.BytesIO(capture)), lambda at, error: None)
    for ordinal, (ts, link, data) in enumerate(stream):
        segment = read_segment(link, data)
        assert segment is not None
        key = key or segment[0]
        decoder = decoder or Conversation(key, options, names, out)
        decoder.segment(int(segment[0] != key), *segment[1:], ts, ordinal, "capture")
        state = decoder.state() if stops else None
        if state is not None:
            decoder = Conversation.from_state(state, key, options, names, out)
    assert decoder is not None
    decoder.close()
    return [(each.direction, each.api, each.client_id) for each in out]


@pytest.mark.parametrize("stops", [False, True])
def test_a_client_id_that_is_sent_once_is_kept_in_rows(dialect: str, stops: bool) -> None:
    hello = write_request(ApiVersionsRequest("lib", "1"), 3, 1, "billing")
    answer = write_response(codec("WishResponse", 1, dialect=dialect).value_class(text="x"), 1, 7)
    unread = wish(1)[:8] + b"\0\2x"  # a header that is cut short names no client
    turns = [(True, hello), (True, wish(1)), (False, answer), (True, wish(0)), (True, unread)]
    packets = conversation([(is_client, frame(payload)) for is_client, payload in turns])
    assert rows(pcap(packets), dialect, stops=stops) == [
        ("request", "ApiVersions", "billing"),
        ("request", "Wish", "billing"),
        ("response", "Wish", "billing"),
        ("request", "Wish", None),  # a header of version 1 says that there is none
        ("request", "Wish", None),
    ]
