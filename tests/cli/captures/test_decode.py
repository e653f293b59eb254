"""``kap decode`` as a user runs it: inputs, outputs, exit codes, secrets."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    RequestHeader,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    codec,
)
from kafka_admin_proto.capture import Block, FrameDecoder
from kafka_admin_proto.capture.record import RECORD_KEYS
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.protocol import frame, write_request, write_response
from tests.helpers.kap import ended, run_kap

SAMPLE = Path(__file__).parents[3] / "samples" / "create_topics.hex"


def records(arguments: str, data: bytes | None = None) -> list[dict[str, Any]]:
    result = run_kap(f"{arguments} --output json", data=data)
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def test_the_sample_as_a_table() -> None:
    result = ended(run_kap(f"decode {SAMPLE}"))
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].split() == [
        "#", "at", "what", "api", "size", "id", "client", "errors", "body",
    ]  # fmt: skip
    assert len(lines) == 19
    assert lines[1].split()[:7] == [
        "1", "2", "request", "CreateTopics", "v0", "54", "1",
    ]  # fmt: skip
    assert lines[1].endswith('"timeoutMs":7000}')
    assert lines[4].split()[6:9] == ["2", "36", "TOPIC_ALREADY_EXISTS"]


def test_inputs_of_all_formats_are_one(tmp_path: Path) -> None:
    data = frame(write_request(CreateTopicsRequest(timeout_ms=77), 1, 3, "me"))
    expected = records("decode --input-format raw", data)
    assert expected[0]["body"]["timeoutMs"] == 77
    xxd = " ".join(data[i : i + 2].hex() for i in range(0, 16, 2))
    rest = " ".join(data[i : i + 2].hex() for i in range(16, len(data), 2))
    texts = [
        data,
        data.hex().encode(),
        data.hex(" ").upper().encode(),
        base64.b64encode(data),
        f"00000000: {xxd:39}  ................\n00000010: {rest:39}  ....\n".encode(),
    ]
    for text in texts:
        file = tmp_path / "input"
        file.write_bytes(text)
        for found in (
            records("decode", text),
            records("decode -", text),
            records(f"decode {file}"),
        ):
            assert [{**r, "capture": "-", "line": 0} for r in found] == [
                {**r, "line": 0} for r in expected
            ]


def test_responses_need_their_request_or_options() -> None:
    response = frame(write_response(MetadataResponse(controller_id=5), 12, 900))
    found = records("decode --response --api Metadata --version 12", response)
    assert found[0]["direction"] == "response"
    assert found[0]["body"]["controllerId"] == 5
    row = json.loads(
        ended(run_kap("decode --show-secrets --output jsonl", data=response), 1).stdout
    )
    assert row["raw"] == response.hex()
    assert "say --response with --api and --version" in row["problem"]
    assert run_kap("decode --response --api Metadata", data=response).exit_code == 2


def test_pipelined_requests_and_a_produce_without_response() -> None:
    asked = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    stream = [
        write_request(asked, 3, 1, "c"),
        write_request(ProduceRequest(acks=0), 9, 2, "c"),
        write_request(CreateTopicsRequest(), 7, 2, "c"),
        write_response(ApiVersionsResponse(error_code=35), 0, 1),
        b"\0\0\0\x02\0" + bytes.fromhex("00000000 01 00"),
    ]
    found = records("decode", b"".join(frame(payload) for payload in stream))
    assert [
        (row["direction"], row["api"], row["api_version"], row["problem"]) for row in found
    ] == [
        ("request", "ApiVersions", 3, None),
        ("request", "Produce", 9, None),
        ("request", "CreateTopics", 7, None),
        ("response", "ApiVersions", 0, None),
        ("response", "CreateTopics", 7, None),
    ]
    assert found[3]["error_codes"] == ["UNSUPPORTED_VERSION"]


def test_a_bare_body_and_a_payload_without_size() -> None:
    body = CreateTopicsRequest(timeout_ms=1).encode(1)
    found = records("decode --unit body --api CreateTopics --version 1", body.hex().encode())
    assert (found[0]["api"], found[0]["direction"]) == ("CreateTopicsRequest", "data")
    assert found[0]["body"]["timeoutMs"] == 1
    header = RequestHeader(19, 1, 5, "me").encode(1)
    found = records("decode --unit body --api RequestHeader --version 1", header.hex().encode())
    assert found[0]["body"]["clientId"] == "me"
    found = records("decode --unit payload", (header + body).hex().encode())
    assert (found[0]["client_id"], found[0]["body"]["timeoutMs"]) == ("me", 1)
    short = run_kap("decode --unit body --api CreateTopics --version 1 --output json", data=b"0000")
    assert short.exit_code == 1
    assert "array count needs 4 bytes, 2 left" in json.loads(short.stdout)[0]["problem"]


@pytest.mark.parametrize("options", ["", "--unit payload", "--request"])
@pytest.mark.parametrize("body", ["00", "00000000", "00000001", "ffffffff", "0000000500"])
def test_bytes_too_few_for_a_header_may_be_a_body(options: str, body: str) -> None:
    problems = [each["problem"] for each in records(f"decode {options}", body.encode())]
    hint = r"body without a header,( say)? --unit body with (--api and --version|them)"
    assert any(re.search(hint, each or "") for each in problems), problems


@pytest.mark.parametrize("unit", ["frames", "payload"])
@pytest.mark.parametrize("api", ["metadata", "Metadata", "3"])
def test_a_body_without_a_header_is_not_an_empty_choice(unit: str, api: str) -> None:
    body = codec(MetadataRequest, 12).encode(MetadataRequest(topics=None))
    result = ended(run_kap(f"decode --unit {unit} --api {api}", data=body.hex().encode()), 1)
    assert "a body without a header, say --unit body with --api and --version" in result.stderr
    (row,) = records(f"decode --unit body --api {api} --version 12", body.hex().encode())
    assert (row["api"], row["problem"]) == ("MetadataRequest", None)


def test_nothing_is_dropped(tmp_path: Path) -> None:
    good = frame(write_request(CreateTopicsRequest(), 1, 1, "c"))
    unknown_api = frame(RequestHeader(12000, 3, 2, "c").encode(2) + b"\xca\xfe")
    unknown_version = frame(RequestHeader(19, 99, 3, "c").encode(2) + b"\xca\xfe")
    broken = frame(RequestHeader(19, 1, 4, "c").encode(1) + b"\x7f")
    data = good + unknown_api + unknown_version + broken + b"\x16\x03\x01\x00\x00"
    rows = json.loads(
        ended(run_kap("decode --output json --input-format raw", data=data), 1).stdout
    )
    assert [row["api"] for row in rows] == [
        "CreateTopics",
        None,
        "CreateTopics",
        "CreateTopics",
        None,
    ]
    assert [row["correlation_id"] for row in rows] == [1, 2, 3, 4, None]
    assert [row["problem"] is None for row in rows] == [True, False, False, False, False]
    assert "unknown api key 12000" in rows[1]["problem"]
    assert "CreateTopicsRequest has versions 0-7, not 99" in rows[2]["problem"]
    # Offsets are those of the frame, its size included: 4 + 11 bytes of header.
    assert "CreateTopicsRequest v1, topics at byte 15: array count needs 4" in rows[3]["problem"]
    assert "TLS handshake" in rows[4]["problem"]
    shown = records("decode --input-format raw --show-secrets", data)
    raw = bytes.fromhex("".join(row["raw"] for row in shown if row["raw"]))
    assert raw == data[len(good) :]

    missing = tmp_path / "second"
    missing.write_text("what is this?\n")
    first = tmp_path / "first"
    first.write_bytes(good)
    rows = json.loads(ended(run_kap(f"decode {first} {missing} --output json"), 1).stdout)
    assert (rows[0]["problem"], rows[0]["capture"]) == (None, str(first))
    assert rows[1]["capture"] == str(missing)
    assert "what is this?" in rows[1]["problem"]


def test_a_table_shows_problems_beside_it() -> None:
    result = ended(run_kap("decode --input-format raw", data=b"\xff\xff\xff\xff"), 1)
    assert "(not decoded)" in result.stdout
    assert result.stderr == (
        "frame 1: at byte 0: frame size -1 is negative; if this is a body without a header, say "
        "--unit body with --api and --version\n"
    )


def test_tsv_has_stable_columns_and_no_header() -> None:
    name = "tab\there\nand \x1b[31mred"
    request = CreateTopicsRequest(topics=[CreatableTopic(name=name)])
    result = run_kap(
        "decode --output tsv --input-format raw", data=frame(write_request(request, 1, 1, name))
    )
    (line,) = result.stdout.splitlines()
    cells = line.split("\t")
    size = str(4 + 10 + len(name) + len(request.encode(1)))
    found = dict(zip((*RECORD_KEYS, "number", "time"), cells, strict=True))
    shown = ("capture", "connection", "direction", "size", "api_key", "api", "correlation_id")
    assert [found[key] for key in shown] == ["-", "", "request", size, "19", "CreateTopics", "1"]
    assert found["client_id"] == "tab\\there\\nand \\x1b[31mred"
    assert json.loads(found["body"])["topics"][0]["name"] == name
    assert (found["problem"], found["raw"], found["forwarded"]) == ("", "", "false")


@pytest.mark.parametrize("command", ["decode --output table", "decode --output tsv", "explain"])
def test_no_control_character_reaches_a_terminal(command: str) -> None:
    nasty = "\x1b]0;owned\x07\u202e\x9b2J"
    request = CreateTopicsRequest(topics=[CreatableTopic(name=nasty)])
    data = frame(write_request(request, 1, 1, nasty))
    result = run_kap(f"{command} --input-format raw", data=data)
    assert not set(nasty.replace("]0;owned", "").replace("2J", "")) & set(result.stdout)


SECRET = b"hunter2-hunter2"


COMMANDS = [
    "decode --output table",
    *(f"decode --raw --output {each}" for each in ("json", "jsonl", "tsv")),
    "explain",
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("damage", [b"", b"\x00"])
def test_secrets_are_masked_everywhere(command: str, damage: bytes) -> None:
    login = SaslAuthenticateRequest(auth_bytes=b"\0me\0" + SECRET)
    configs = [
        AlterableConfig("ssl.key.password", 0, SECRET.decode()),
        AlterableConfig("a", 0, "b"),
    ]
    alter = IncrementalAlterConfigsRequest(resources=[AlterConfigsResource(4, "1", configs)])
    data = frame(write_request(login, 2, 1, "c") + damage) + frame(
        write_request(alter, 1, 2, "c") + damage
    )
    forms = [
        SECRET.decode(),
        SECRET.hex(),
        SECRET.hex(" "),
        base64.b64encode(SECRET).decode()[1:-3],
    ]
    arguments = f"{command} --input-format raw"
    masked = run_kap(arguments, data=data)
    assert not [form for form in forms if form in masked.output]
    assert "**" in masked.stdout
    shown = run_kap(f"{arguments} --show-secrets", data=data)
    assert [form for form in forms if form in shown.output]
    assert masked.exit_code == shown.exit_code == (1 if damage else 0)


def test_a_broken_body_that_may_hold_a_secret_is_masked_whole() -> None:
    login = write_request(SaslAuthenticateRequest(auth_bytes=SECRET), 2, 1, "c")
    cut = frame(login[:-3])
    (row,) = records("decode --input-format raw", cut)
    assert SECRET.hex()[:8] not in row["raw"]
    assert row["raw"].endswith("**")
    (row,) = records("decode --input-format raw --show-secrets", cut)
    assert row["raw"] == cut.hex()


def test_raw_tokens_after_the_first_sasl_handshake_are_masked() -> None:
    login = frame(write_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, "c"))
    token = frame(b"\0me\0" + SECRET)
    after = frame(write_request(CreateTopicsRequest(), 1, 2, "c"))
    found = records("decode --input-format raw", login + token + after)
    assert [row["api"] for row in found] == ["SaslHandshake", None, "CreateTopics"]
    assert found[1]["problem"] is None
    assert found[1]["raw"] == token[:4].hex() + "**" * len(token[4:])
    # Another connection's handshake may have been in front of what does not decode.
    unknown = login + token + after + frame(RequestHeader(19, 99, 3, "c").encode(2))
    assert records("decode --input-format raw", unknown)[3]["api_version"] is None
    shown = records("decode --input-format raw --show-secrets", unknown)
    assert shown[3]["api_version"] == 99
    for output in ("table", "tsv", "fields"):
        result = run_kap(
            f"decode --input-format raw --raw --output {output}", data=login + token + after
        )
        assert SECRET.hex() not in result.output.replace(" ", "")
    shown = records("decode --input-format raw --show-secrets", login + token + after)
    assert shown[1]["raw"] == token.hex()


def test_an_unknown_version_of_api_versions_and_its_answer() -> None:
    asked = frame(RequestHeader(18, 99, 8, "new").encode(2) + b"\x02a\x02b\0")
    answer = frame(write_response(ApiVersionsResponse(error_code=35), 0, 8))
    found = records("decode --input-format raw", asked + answer)
    assert [row["direction"] for row in found] == ["request", "response"]
    assert "ApiVersionsRequest has versions" in found[0]["problem"]
    assert (found[1]["problem"], found[1]["error_codes"]) == (None, ["UNSUPPORTED_VERSION"])


LOGIN = frame(write_request(SaslAuthenticateRequest(auth_bytes=SECRET), 2, 1, "c"))


@pytest.mark.parametrize(
    ("arguments", "data"),
    [
        ("", LOGIN[:-3]),
        ("--max-frame-bytes 10", LOGIN),
        ("", LOGIN[:7] + b"\x09" + LOGIN[8:]),
        ("", LOGIN[:12] + b"\x7f\xff" + LOGIN[14:]),
        ("", frame(write_response(SaslAuthenticateResponse(auth_bytes=SECRET), 1, 7))),
        ("", frame(write_request(SaslHandshakeRequest(), 0, 1)) + frame(SECRET)[:-2]),
    ],
    ids=["cut", "over the limit", "unknown version", "broken header", "unpaired", "cut token"],
)
@pytest.mark.parametrize("command", COMMANDS[1:])
def test_secrets_that_do_not_decode_are_masked(arguments: str, data: bytes, command: str) -> None:
    command = f"{command} --input-format raw {arguments}"
    part = SECRET[2:8].hex()
    assert part not in run_kap(command, data=data).output.replace(" ", "")
    assert part in run_kap(f"{command} --show-secrets", data=data).output.replace(" ", "")


def test_answers_out_of_order_and_ids_used_twice() -> None:
    metadata, create = MetadataResponse(controller_id=5), CreateTopicsResponse()
    stream = [
        write_request(MetadataRequest(), 12, 1, "a"),
        write_request(CreateTopicsRequest(), 7, 1, "b"),  # another connection, the same id
        write_response(create, 7, 1),
        b"\0\0\0\x01\xff",  # broken: it takes no request's place
        write_response(metadata, 12, 1),
    ]
    found = records("decode --input-format raw", b"".join(frame(p) for p in stream))
    assert [row["api"] for row in found[2:]] == ["CreateTopics", "Metadata", "Metadata"]
    assert [row["problem"] is None for row in found] == [True, True, True, False, True]


def test_an_unpaired_response_with_a_small_id_gets_the_hint() -> None:
    (row,) = records("decode --input-format raw", frame(write_response(MetadataResponse(), 9, 3)))
    assert "say --response with --api and --version" in row["problem"]


def test_one_long_field_does_not_widen_every_row() -> None:
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name="a" * 30000)] + [CreatableTopic()] * 99
    )
    data = frame(write_request(request, 1, 1, "c"))
    for output in ("fields", "table"):
        result = run_kap(f"decode --input-format raw --output {output}", data=data)
        assert len(result.stdout) < 10 * len(data)


def test_only_keeps_the_number_and_its_own_exit_code() -> None:
    good = frame(write_request(CreateTopicsRequest(), 1, 1, "c"))
    bad = frame(RequestHeader(12000, 0, 2, "c").encode(2))
    result = ended(run_kap("decode --input-format raw --only 1", data=good + bad))
    result = ended(run_kap("decode --input-format raw --only 2", data=good + bad), 1)
    assert result.stderr.startswith("frame 2: ")


def test_secrets_stay_out_of_repr() -> None:
    data = frame(write_request(SaslAuthenticateRequest(auth_bytes=SECRET), 2, 1, "c"))
    (decoded,) = FrameDecoder().decode(Block(data))
    for text in (repr(decoded), str(decoded.__rich_repr__())):
        assert "SaslAuthenticate" in text
        assert SECRET.decode() not in text


def test_an_empty_frame_is_no_answer_to_request_zero() -> None:
    asked = frame(write_request(CreateTopicsRequest(), 1, 0, "c"))
    answer = frame(write_response(CreateTopicsResponse(), 1, 0))
    found = records("decode --input-format raw", asked + frame(b"") + answer)
    assert [row["problem"] is None for row in found] == [True, False, True]


def test_a_file_whose_name_is_not_utf8(tmp_path: Path) -> None:
    data = frame(write_request(CreateTopicsRequest(), 1, 0, "c"))
    name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.bin")
    Path(name).write_bytes(data)
    result = ended(run_kap("decode", name, "--output", "json"))
    assert json.loads(result.stdout)[0]["capture"].endswith("caf\ufffd.bin")


def test_a_decoder_without_what_it_needs() -> None:
    lacking: list[dict[str, Any]] = [
        {"unit": "body"}, {"direction": "response", "api": "Metadata"},
    ]  # fmt: skip
    for wrong in lacking:
        with pytest.raises(ValueError, match="need api and version"):
            FrameDecoder(**wrong)


def test_text_that_is_not_utf8_is_said_to_be_so() -> None:
    topics = [CreatableTopic(name="pl\udcffms")]
    data = frame(write_request(MetadataRequest(), 12, 1, "c")) + frame(
        write_request(CreateTopicsRequest(topics=topics), 1, 2, "c")
    )
    rows = json.loads(ended(run_kap("decode --input-format raw --output json", data=data)).stdout)
    assert rows[0]["problem"] is None
    assert rows[1]["body"]["topics"][0]["name"] == "pl\ufffdms"
    assert "not UTF-8" in rows[1]["problem"]
    assert "706cff6d73" in rows[1]["raw"]


def test_the_limit_on_frames() -> None:
    data = frame(write_request(CreateTopicsRequest(), 1, 1, "c"))
    assert run_kap("decode --input-format raw --max-frame-bytes 10", data=data).exit_code == 1
    (row,) = records("decode --input-format raw --max-frame-bytes 10", data)
    assert "over the limit of 10" in row["problem"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("decode --unit body", "--unit body needs --api and --version"),
        ("decode --unit body --api Nothing --version 1", "no api or message 'Nothing'"),
        ("decode --unit body --api CreateTopics --version 9", "has versions 0-7, not 9"),
        ("decode --api CreateTopics --version 1", "--version goes with --response or --unit body"),
        ("decode --response --api ConfigRecord --version 0", "is no response but a metadata"),
        ("decode --output xml", "xml"),
        (f"decode {SAMPLE} --only 99", "there is no frame 99; the input has 18"),
    ],
)
def test_usage_errors(arguments: str, text: str) -> None:
    assert text in ended(run_kap(arguments, data=b""), 2).stderr


def test_an_empty_input_is_an_error_and_still_json() -> None:
    result = ended(run_kap("decode --output json", data=b""), 1)
    assert json.loads(result.stdout)[0]["problem"] == "the input is empty"


def test_a_folder_of_newer_definitions(tmp_path: Path) -> None:
    """An api that the package does not know is read as soon as its definition is at hand."""
    definition = tmp_path / "WishRequest.json"
    definition.write_text(
        '{"apiKey": 999, "type": "request", "name": "WishRequest", "validVersions": "0",'
        ' "flexibleVersions": "0+",'
        ' "fields": [{"name": "Text", "type": "string", "versions": "0+"}]}'
    )
    payload = bytes.fromhex("03e7 0000 00000001 ffff 00 0378 79 00")
    wish = frame(payload).hex().encode()
    assert json.loads(run_kap("decode --output jsonl", data=wish).stdout)["body"] is None
    create = write_request(CreateTopicsRequest(timeout_ms=7), 1, 2).hex()
    both = wish + b"\n" + f"{len(create) // 2:08x}{create}".encode()
    result = run_kap(f"decode --output jsonl --schemas {tmp_path}", data=both)
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["api"] for record in records] == ["Wish", "CreateTopics"]
    assert [record["problem"] for record in records] == [None, None]
    assert records[0]["body"] == {"text": "xy"}
    assert run_kap(f"decode --schemas {tmp_path} --dialect kip-4", data=wish).exit_code == 2
    definition.write_text("{")
    assert "WishRequest.json" in ended(run_kap(f"decode --schemas {tmp_path}", data=wish), 2).stderr


def test_a_body_of_a_draft() -> None:
    arguments = "decode --unit body --api TopicMetadataRequest --version 1 --output jsonl"
    hexed = b"00000001" + b"0006" + b"apples".hex().encode()
    record = json.loads(run_kap(f"{arguments} --dialect kip-4a", data=hexed).stdout)
    assert record["body"] == {"topicName": ["apples"]}
    assert (
        "unknown dialect 'kip-7'"
        in ended(run_kap(f"{arguments} --dialect kip-7", data=hexed), 2).stderr
    )


def test_error_codes_of_a_draft_have_their_names() -> None:
    body = "00000001" + "0006" + b"apples".hex() + "03e9"
    arguments = "decode --unit body --api CreateTopicResponse --version 0 --dialect kip-4a"
    (row,) = records(arguments, body.encode())
    assert row["error_codes"] == ["TopicAlreadyExists"]
    assert "1001 TopicAlreadyExists" in run_kap(arguments, data=body.encode()).stdout
    (summed,) = records(f"{arguments} --summary", body.encode())
    assert summed["errors"] == {"TopicAlreadyExists": 1}
    (row,) = records(arguments, body.replace("03e9", "0024").encode())
    assert row["error_codes"] == ["TOPIC_ALREADY_EXISTS"]
