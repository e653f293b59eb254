"""``kap decode --upgrade``: which clients a release breaks, without Spark."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from rich.console import Console

from kafka_admin_proto import CreateTopicsRequest
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.upgrade import NO_REQUEST, UpgradeCheck, upgrade_headline
from kafka_admin_proto.cli import output
from kafka_admin_proto.protocol import frame, write_request
from tests.capture.test_request_log import entry, log4j
from tests.helpers.kap import ended, run_kap

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "samples" / "create_topics.hex"
ADMIN = ROOT / "samples" / "admin42.pcap.gz"
CONTROLLER = ROOT / "samples" / "controller39.pcap.gz"


def run(arguments: str, data: bytes | None = None) -> Result:
    return run_kap(f"decode {arguments}", data=data)


def rows(arguments: str, data: bytes | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(f"{arguments} --output json", data).stdout)
    return found


def test_a_client_that_breaks() -> None:
    table = ended(run(f"{SAMPLE} --upgrade 4.0"), 1)
    assert table.stdout.splitlines()[-1] == "Upgrade to 4.0: 2 clients to change"
    assert table.stdout.splitlines()[0].split("  ")[0] == "status"
    first, second = rows(f"{SAMPLE} --upgrade 4.0.1")
    assert first == {
        "status": "version removed", "traffic": "client", "client_id": "hex-client",
        "address": None, "software": None, "principal": None, "api": "CreateTopics",
        "api_key": 19, "versions": [0, 1], "least": 2, "removed_in": "4.0", "requests": 8,
        "first_ts": None, "last_ts": None,
    }  # fmt: skip
    assert (second["client_id"], second["versions"], second["requests"]) == (None, [1], 1)
    lines = run(f"{SAMPLE} --upgrade 4.0 --output jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [first, second]
    cells = run(f"{SAMPLE} --upgrade 4.0 --output tsv").stdout.splitlines()[0].split("\t")
    assert cells[:3] == ["version removed", "client", "hex-client"]


def test_clients_that_are_fine() -> None:
    assert ended(run(f"{SAMPLE} --upgrade 3.6")).stdout.splitlines()[-1] == "Upgrade to 3.6: ready"
    found = rows(f"{SAMPLE} --upgrade 3.6")
    assert [(row["status"], row["client_id"], row["requests"]) for row in found] == [
        ("fine", "hex-client", 8), ("fine", None, 1),
    ]  # fmt: skip
    warned = rows(f"{SAMPLE} --upgrade 3.9")
    assert [row["status"] for row in warned] == ["deprecated", "deprecated", "fine", "fine"]
    assert run(f"{SAMPLE} --upgrade 3.9").exit_code == 0


def test_brokers_are_told_apart() -> None:
    found = rows(f"{CONTROLLER} --upgrade 4.0")
    gone = {row["api"] for row in found if row["status"] == "api removed"}
    assert gone == {"UpdateMetadata", "LeaderAndIsr", "StopReplica", "ControlledShutdown"}
    assert {row["traffic"] for row in found if row["status"] != "fine"} == {"broker"}
    (admin,) = [row for row in found if row["traffic"] == "client"]
    assert (admin["status"], admin["client_id"]) == ("fine", "adminclient-1")
    assert admin["software"] == "apache-kafka-java 3.9.1"
    assert admin["first_ts"].endswith("Z")
    assert run(f"{CONTROLLER} --upgrade 4.0").exit_code == 0


def test_a_request_log(tmp_path: Path) -> None:
    log = tmp_path / "kafka-request.log"
    log.write_text(log4j(entry()))
    (row,) = rows(f"{log} --upgrade 4.0")
    assert (row["status"], row["principal"]) == ("fine", "User:alice")
    assert row["address"] == "10.0.0.1"
    table = run(f"{log}").stdout
    assert "CreateTopics v4" in table
    assert "None" not in table, "a log has no sizes"


def test_nothing_is_fine_that_was_not_read() -> None:
    request = frame(write_request(CreateTopicsRequest(), 7, 1, "c"))
    tls = b"\x16\x03\x01\x02\x00\x01\x00\x01"
    alone = ended(run("--upgrade 4.0 --input-format raw", tls), 1)
    assert alone.stdout.splitlines()[-1] == (
        "Upgrade to 4.0: no request is among the frames, so the question has no answer"
    )
    assert "fine" not in alone.stdout
    nobody = run("--upgrade 4.0 --input-format raw --client-id nobody", request)
    assert nobody.stdout.splitlines()[-1] == alone.stdout.splitlines()[-1]
    assert nobody.stderr == "0 of 1 frame matches; client ids are c\n"
    assert alone.stderr.startswith("Nothing is known of 1 piece that could not be read")
    both = ended(run("--upgrade 4.0 --input-format raw", request + tls), 1)
    assert both.stdout.splitlines()[-1] == "Upgrade to 4.0: ready, as far as could be read"
    found = rows("--upgrade 4.0 --input-format raw", request + tls)
    assert [(row["status"], row["requests"]) for row in found] == [("fine", 1), ("not read", 1)]


def request(version: int, software: str | None, principal: str | None) -> DecodedFrame:
    return DecodedFrame(
        capture="", stream_offset=0, direction="request", data=b"", api="CreateTopics",
        api_key=19, api_version=version, client_id="app", client="10.0.0.1:4000",
        client_software=software, principal=principal,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([(7, None, None), (7, "x 1", None), (7, "x 1", "User:a")], [("fine", "x 1", "User:a")]),
        ([(0, None, None), (7, "x 1", "User:a")], [("version removed", None, None)]),
        ([(0, "x 1", None), (7, "x 1", "User:a")], [("version removed", "x 1", None)]),
        (
            [(0, "x 1", "User:a"), (7, "x 2", "User:a"), (7, None, "User:a")],
            [("version removed", "x 1", "User:a"), ("fine", "x 2", "User:a")],
        ),
    ],
)
def test_one_client_is_not_two(
    sent: list[tuple[int, str | None, str | None]], expected: list[tuple[str, ...]]
) -> None:
    check = UpgradeCheck("4.0")
    for each in sent:
        check.add(request(*each))
    found = [(row["status"], row["software"], row["principal"]) for row in check.rows()]
    assert found == expected


def test_headlines_name_who_has_to_change() -> None:
    assert upgrade_headline(1, 2, whole=True) == "1 client to change"
    behind = "clients behind forwarding brokers to change"
    assert upgrade_headline(0, 2, whole=True) == behind


#: The header of a pcap file; no packet follows.
EMPTY_PCAP = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)


@pytest.mark.parametrize("choice", ["--only 2", "--api Vote", "--client-id nobody", ""])
@pytest.mark.parametrize("is_terminal", [False, True])
def test_without_rows_there_is_the_headline_alone(
    choice: str, is_terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_terminal:
        monkeypatch.setattr(output, "terminal", Console)
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(EMPTY_PCAP)
    result = ended(run(f"{ADMIN if choice else empty} --upgrade 4.0 {choice}"), 1)
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == f"Upgrade to 4.0: {NO_REQUEST}\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--upgrade 5.0", "no release '5.0'; known are 2.8 to"),
        ("--upgrade 4.0 --summary", "--summary does not go with --upgrade"),
        ("--upgrade 4.0 --no-body", "--no-body does not go with --upgrade"),
        ("--upgrade 4.0 --errors-only", "--errors-only does not go with --upgrade"),
    ],
)
def test_usage(arguments: str, complaint: str) -> None:
    assert complaint in ended(run(f"{SAMPLE} {arguments}"), 2).stderr
    segment = ROOT / "tests/records/data/__cluster_metadata-0/00000000000000000000.log"
    result = run(f"{segment} --upgrade 4.0")
    assert "--upgrade does not go with log segments" in result.stderr
