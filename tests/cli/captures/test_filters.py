"""Filters of frames: what they take, and what they say when nothing matches."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import (
    AlterConfigsRequest,
    JoinGroupRequest,
    MetadataResponse,
    SyncGroupResponse,
)
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.topics_named import names_topic, topics_named
from kafka_admin_proto.cli.captures.filters import Filter
from kafka_admin_proto.cli.times import TimeOfDay
from kafka_admin_proto.codec import codec
from kafka_admin_proto.messages.alter_configs_request import AlterConfigsResource
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from tests.capture.packets import Packet, conversation, pcap
from tests.capture.test_request_log import entry, log4j
from tests.cli.captures.test_captures import CAPTURE, EVERYTHING, ROOT, rows
from tests.helpers.kap import ended, run_kap

DUMP = ROOT / "samples" / "create_topics.hex"


def stderr(arguments: str) -> str:
    return ended(run_kap(arguments)).stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("options", "there"),
    [
        ("--client-id nobody", "client ids are adminclient-1, 1, kafka-python-3.0.12, "),
        ("--connection 10.0.0.1", "connections are 127.0.0.1:47290-127.0.0.1:19093, "),
        ("--api Vote", "apis are ApiVersions, Metadata, "),
        ("--topic nothing", "topics are fruit, veg, __consumer_offsets"),
        ("--slower-than 5000", "the slowest response took 518.1 ms"),
        ("--since 2030-01-01", "times are 2026-11-21T02:34:29.325159Z to 2026-11-21T02:34:45"),
        ("--until 02:00", "times are 2026-11-21T02:34:29.325159Z to 2026-11-21T02:34:45"),
        ("--api Vote --client-id 1", "client ids are "),
    ],
)
@pytest.mark.parametrize("command", ["decode", "decode --summary", "explain"])
def test_filters_that_match_nothing_say_what_there_is(
    command: str, options: str, there: str
) -> None:
    said = stderr(f"{command} {CAPTURE} {options}")
    assert said.startswith("0 of 294 frames match; ")
    assert there in said


def test_a_filter_by_time_says_that_a_dump_has_none() -> None:
    assert stderr(f"decode {DUMP} --since 02:00") == "0 of 18 frames match; no frame has a time\n"


@pytest.mark.parametrize("options", ["--client-id nobody", "--since 2030-01-01", "--topic x"])
def test_only_frames_are_counted(options: str, tmp_path: Path) -> None:
    """A line that says where a cut capture ends is shown by every filter, and is no frame."""
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(gzip.decompress(CAPTURE.read_bytes())[:50_000])
    frames = sum(row["api_key"] is not None for row in rows(f"decode {cut}"))
    result = run_kap("decode", str(cut), *options.split())
    assert "the capture ends" in result.stderr
    assert f"0 of {frames} frames match; " in result.stderr


@pytest.mark.parametrize("command", ["decode", "decode --summary", "explain"])
def test_an_api_that_no_frame_has_is_said_beside_one_that_some_have(command: str) -> None:
    said = stderr(f"{command} {CAPTURE} --api CreateTopics,ShareFetch,999")
    assert said == "no frame that is shown is of ShareFetch or 999\n"


def test_filters_that_match_say_nothing() -> None:
    assert stderr(f"decode {CAPTURE} --client-id adminclient-1") == ""


@pytest.mark.parametrize("number", [1, 100, 294])
@pytest.mark.parametrize("form", ["table", "time", "ts"])
def test_since_takes_what_the_outputs_print(number: int, form: str) -> None:
    row = EVERYTHING[number - 1]
    table = row["time"].partition("T")[2].rstrip("Z")
    text = {"table": table, "time": row["time"], "ts": row["ts"]}[form]
    found = rows(f"decode {CAPTURE} --since {text}")
    assert found == [each for each in EVERYTHING if each["ts"] >= row["ts"]]


_HOUR = 3_600_000_000


@pytest.mark.parametrize(
    ("first", "time", "instant"),
    [(2, 3, 3), (2, 1, 1), (2, 20, 20), (23, 1, 25), (14, 1, 25), (12, 1, 1)],
)
def test_a_time_of_day_is_of_the_first_day_or_the_night_after(
    first: int, time: int, instant: int
) -> None:
    day = 20_000 * 24 * _HOUR
    wanted = Filter(since=TimeOfDay(time * _HOUR)).from_first(day + first * _HOUR)
    assert wanted.since == day + instant * _HOUR


@pytest.mark.parametrize("milliseconds", [0, 0.5, 30, 501.3])
def test_slower_than(milliseconds: float) -> None:
    found = rows(f"decode {CAPTURE} --slower-than {milliseconds}")
    least = milliseconds * 1000
    assert found == [
        row for row in EVERYTHING if row["latency_us"] is not None and row["latency_us"] >= least
    ]
    assert found


def test_a_topic_is_named_or_meant_by_its_id() -> None:
    found = rows(f"decode {CAPTURE} --topic fruit")
    assert {row["api"] for row in found} >= {"CreateTopics", "Metadata", "Fetch"}
    by_id = [row for row in found if "fruit" in (row["topic_names"] or {}).values()]
    by_name = [row for row in found if '"fruit"' in str(row["body"]).replace("'", '"')]
    assert by_id
    assert {row["number"] for row in by_id} | {row["number"] for row in by_name} == {
        row["number"] for row in found
    }
    assert rows(f"decode {CAPTURE} --topic fruit --no-body") == [
        row | {"body": None, "topic_names": None} for row in found
    ]


@pytest.mark.parametrize(
    ("body", "version", "topics"),
    [
        (AlterConfigsRequest([AlterConfigsResource(2, "apples")]), 1, {"apples"}),
        (AlterConfigsRequest([AlterConfigsResource(4, "1")]), 1, set()),
        (MetadataResponse(topics=[MetadataResponseTopic(name="pears")]), 1, {"pears"}),
        (MetadataResponse(topics=[MetadataResponseTopic(name=None)]), 12, set()),
        (
            JoinGroupRequest(
                protocol_type="consumer",
                protocols=[
                    JoinGroupRequestProtocol(
                        name="range",
                        metadata=bytes.fromhex("0001 00000001 0004 66696773 ffffffff")
                        + bytes.fromhex("00000001 0004 6b697769 00000001 00000000"),
                    )
                ],
            ),
            9,
            {"figs", "kiwi"},
        ),
        (
            SyncGroupResponse(assignment=bytes.fromhex("0000 00000001 0004 6b697769") + bytes(8)),
            0,
            {"kiwi"},
        ),
        (SyncGroupResponse(protocol_type="connect", assignment=b"\0\1figs"), 5, set()),
        (SyncGroupResponse(protocol_type="consumer", assignment=b"\0\1figs"), 5, set()),
    ],
)
def test_the_topics_of_a_body(body: Any, version: int, topics: set[str]) -> None:
    reader = codec(type(body), version)
    found = DecodedFrame("", "request", reader.encode(body), body=body, codec=reader)
    assert topics_named(found) == topics
    assert {
        each for each in {*topics, "figs", "range", "nope"} if names_topic(found, each)
    } == topics


@pytest.mark.parametrize("where", ["capture", "dump", "log"])
def test_the_request_is_in_front_of_the_response_with_an_error(where: str, tmp_path: Path) -> None:
    log = tmp_path / "request.log"
    log.write_text(log4j(entry()) * 2)
    file = {"capture": CAPTURE, "dump": DUMP, "log": log}[where]
    alone = rows(f"decode {file} --errors-only")
    found = rows(f"decode {file} --errors-only --with-requests")
    assert found[1::2] == alone
    assert [row["direction"] for row in found] == ["request", "response"] * len(alone)
    assert [row["correlation_id"] for row in found[::2]] == [row["correlation_id"] for row in alone]
    everything = rows(f"decode {file}")
    assert [everything[row["number"] - 1] for row in found] == found


def test_no_frame_comes_twice_with_its_request() -> None:
    options = f"decode {CAPTURE} --client-id console-producer"
    assert rows(f"{options} --with-requests") == rows(options)


@pytest.mark.parametrize("first", ["10:00", "23:55"])
def test_a_window_over_midnight_ends_on_the_day_after(first: str) -> None:
    def micros(text: str) -> int:
        hour, _, minute = text.partition(":")
        return (int(hour) * 60 + int(minute)) * 60_000_000

    day = micros("24:00")
    window = Filter(since=TimeOfDay(micros("23:50")), until=TimeOfDay(micros("00:10")))
    found = window.from_first(20_000 * day + micros(first))
    start, end = 20_000 * day + micros("23:50"), 20_001 * day + micros("00:10")
    assert (found.since, found.until) == (start, end)


@pytest.mark.parametrize("options", ["", "--api Vote"])
def test_a_number_beyond_the_input_is_the_one_thing_said(options: str) -> None:
    said = ended(run_kap(f"decode {CAPTURE} --only 500 {options}"), 2).stderr
    assert "there is no frame 500; the input has 294" in said
    assert "match" not in said


@pytest.mark.parametrize("packets", [[], conversation([])], ids=["none", "without data"])
def test_a_capture_without_frames_says_so(packets: list[Packet], tmp_path: Path) -> None:
    file = tmp_path / "empty.pcap"
    file.write_bytes(pcap(packets))
    result = run_kap("decode", str(file))
    assert result.stderr == "there are no frames: no packet of the capture has data\n"
    assert result.exit_code == 0
