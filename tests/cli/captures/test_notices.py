"""What is said beside the output: of frames that do not read, once, and of progress."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import pytest
from rich.progress import Progress as Bar

from kafka_admin_proto import (
    CreateTopicsRequest,
    JoinGroupRequest,
    RequestHeader,
    SaslHandshakeRequest,
)
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.problem_kinds import kind_of
from kafka_admin_proto.cli.captures import progress
from kafka_admin_proto.cli.captures.progress import Progress
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from tests.cli.test_terminal import on_terminal
from tests.helpers.kap import ended, run_kap

UNKNOWN = b"".join(frame(RequestHeader(12000 + i, 0, i, "c").encode(2)) for i in range(9))
TOKEN = frame(write_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1)) + frame(b"\0me\0pass")


def test_a_frame_with_a_problem_in_several_places_is_counted_once() -> None:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol("range", b"\0")
    other = JoinGroupRequest.JoinGroupRequestProtocol("sticky", b"\0\1\0\0\0\0")
    request = JoinGroupRequest("g", protocol_type="consumer", protocols=[protocol, protocol, other])
    data = frame(write_request(request, 9, 1))
    result = run_kap("decode --input-format raw", data=data + data)
    assert result.stderr.splitlines() == [
        "frame 1: protocols.metadata: ConsumerProtocolSubscription at byte 0: its version takes 2 "
        "bytes, and it has 1",
        "frame 1: protocols.metadata: ConsumerProtocolSubscription v1, user_data at byte 6: bytes "
        "length needs 4 bytes, 0 left",
        "1 more like frame 1: 2; kap decode --output json has each",
        "1 more like frame 1: 2; kap decode --output json has each",
    ]


def test_problems_of_one_kind_are_said_once() -> None:
    for command in ("decode", "explain"):
        result = run_kap(f"{command} --input-format raw", data=UNKNOWN)
        first, more = result.stderr.splitlines()
        assert first.startswith("frame 1: unknown api key 12000")
        assert more == "8 more like frame 1: 2, 3, 4, 5, 6, …; kap decode --output json has each"
        assert result.exit_code == 1
    every = json.loads(run_kap("decode --input-format raw --output json", data=UNKNOWN).stdout)
    assert [f"{12000 + i}" in row["problem"] for i, row in enumerate(every)] == [True] * 9


def test_different_problems_are_all_said() -> None:
    cut = frame(write_request(CreateTopicsRequest(), 1, 1, "c")[:-2])
    lines = run_kap(
        "decode --input-format raw", data=UNKNOWN[: len(UNKNOWN) // 9] + cut
    ).stderr.splitlines()
    assert [line[:8] for line in lines] == ["frame 1:", "frame 2:"]


def test_on_a_terminal_explain_gives_the_reason_once(tmp_path: Path) -> None:
    file = tmp_path / "cut.bin"
    file.write_bytes(frame(write_request(CreateTopicsRequest(), 1, 1, "c")[:-2]))
    text = " ".join(" ".join(on_terminal(200, "explain", str(file), status=1)).split())
    assert text.count("4 bytes") == 1
    assert "stopped here" in text


def test_a_log_segment_gives_its_problem_once(tmp_path: Path) -> None:
    segment = tmp_path / "00000000000000000000.log"
    segment.write_bytes(write_batch(Batch.of([Record(0, 1, None, b"x")]))[:-3])
    assert ended(run_kap("decode", str(segment)), 1).output.count("cut short") == 1


def test_a_summary_says_what_is_in_no_frame() -> None:
    found = json.loads(
        run_kap("decode --summary --output json --input-format raw", data=TOKEN).stdout
    )
    assert found[-1]["api_key"] is None
    assert found[-1]["not_decoded"] == {"SASL token without a header, after SaslHandshake v0": 1}
    assert found[0]["not_decoded"] == {}
    table = run_kap("decode --summary --input-format raw", data=TOKEN + b"\xff\xff\xff\xff").stdout
    assert table.splitlines()[-3:] == [
        "(no frame), bytes that belong to no request or response that could be read:",
        "  1 × SASL token without a header, after SaslHandshake v0",
        "  1 × frame size -… is negative",
    ]


def test_kinds() -> None:
    assert kind_of("at byte 17: 'a' is not \"b\", 3 left") == "… is not …, … left"
    for problem, kind in (
        ("encrypted: TLS 1.3 handshake, 41 kB", "encrypted: TLS 1.3 handshake, … kB"),
        ("encrypted: TLS 1.2 handshake, 1.5 MB", "encrypted: TLS 1.2 handshake, … MB"),
        ("Vote v7, topics[3] at byte 26: int32, 2 left.",
         "Vote v7, topics[…] at byte …: int32, … left."),
        ("Kafka's 5 bytes, the reader's 'it is'", "Kafka's … bytes, the reader's …"),
        ("UTF-8 from 10.0.0.1:9092, [::1]:80, -5", "UTF-8 from …:…, [::…]:…, -…"),
    ):  # fmt: skip
        assert kind_of(problem) == kind
    assert kind_of("CreateTopicsRequest v1") != kind_of("CreateTopicsRequest v7")


FRAME = DecodedFrame("", "data", b"")


@pytest.fixture
def long_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A file that counts as long, while standard error is a terminal."""
    monkeypatch.setattr(progress, "_LONG", 1)
    file = tmp_path / "long.pcap"
    file.write_bytes(b"12")
    with patch("sys.stderr.isatty", return_value=True):
        yield str(file)


@pytest.mark.parametrize("error", [KeyboardInterrupt, click.UsageError("no"), BrokenPipeError])
def test_what_ends_a_command_finds_no_bar(long_file: str, error: Any) -> None:
    with patch.object(Bar, "stop") as stop, patch.object(Bar, "start"):
        frames = None

        def command() -> None:
            nonlocal frames  # it outlives the command, as in a traceback
            frames = Progress([long_file], silent=True).around([FRAME, FRAME])
            next(frames)
            assert not stop.called
            raise error

        expected = (KeyboardInterrupt, click.UsageError, BrokenPipeError)
        with pytest.raises(expected), click.Context(click.Command("decode")) as context:
            context.invoke(command)
        assert stop.called


@pytest.mark.parametrize(("is_pipe", "silent", "shown"), [
    (True, False, False), (True, True, True), (False, False, True), (False, True, True),
])  # fmt: skip
def test_no_bar_where_output_may_come_beside_it(
    long_file: str, is_pipe: bool, silent: bool, shown: bool
) -> None:
    descriptor = os.pipe()[1] if is_pipe else os.open(long_file, os.O_WRONLY)
    with (
        patch("sys.stdout.fileno", return_value=descriptor),
        patch.object(Bar, "start") as start,
        click.Context(click.Command("decode")),
    ):
        list(Progress([long_file], silent=silent).around([FRAME]))
    os.close(descriptor)
    assert start.called == shown
