"""``kap decode`` of captures, request logs and log segments: choice, summaries, pipes, Ctrl-C."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.capture.record import RECORD_KEYS
from kafka_admin_proto.cli.logs import segments
from kafka_admin_proto.cli.output import utc_text
from kafka_admin_proto.records.segments.rows import segment_rows
from tests.helpers.kap import ended, run_kap

ROOT = Path(__file__).parents[3]
CAPTURE = ROOT / "samples" / "admin42.pcap.gz"
LOG = ROOT / "tests" / "records" / "data" / "__cluster_metadata-0"
SEGMENT = LOG / "00000000000000000000.log"


def rows(arguments: str, data: bytes | None = None) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in run_kap(f"{arguments} --output jsonl", data=data).stdout.splitlines()
    ]


#: A frame record, and what the command line adds: Spark's frames have no number in the input.
ROW_KEYS = (*RECORD_KEYS, "number", "time")
EVERYTHING = rows(f"decode {CAPTURE}")


def test_all_frames_in_every_output() -> None:
    assert len(EVERYTHING) == 294
    assert tuple(EVERYTHING[0]) == ROW_KEYS
    assert json.loads(run_kap(f"decode {CAPTURE} --output json").stdout) == EVERYTHING
    lines = run_kap(f"decode {CAPTURE} --output tsv").stdout.splitlines()
    assert [len(line.split("\t")) for line in lines] == [len(ROW_KEYS)] * 294
    assert len(run_kap(f"decode {CAPTURE}").stdout.splitlines()) == 295


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("--api createtopics,3", lambda r: r["api_key"] in (19, 3)),
        ("--client-id adminclient-1", lambda r: r["client_id"] == "adminclient-1"),
        ("--connection 127.0.0.1:19093", lambda r: r["server"] == "127.0.0.1:19093"),
        ("--connection 127.0.0.1", lambda r: True),
        (f"--connection {EVERYTHING[7]['connection']}",
         lambda r: r["connection"] == EVERYTHING[7]["connection"]),
        ("--errors-only", lambda r: r["error_codes"] or r["problem"]),
        (f"--since {EVERYTHING[100]['ts'] / 1e6:f}", lambda r: r["ts"] >= EVERYTHING[100]["ts"]),
        ("--until 2026-11-21T02:34:33Z", lambda r: r["ts"] < 1795228473000000),
        ("--api Fetch --since 2026-11-21T03:34:33+01:00",
         lambda r: r["api"] == "Fetch" and r["ts"] >= 1795228473000000),
    ],
)  # fmt: skip
def test_filters(options: str, wanted: Any) -> None:
    found = rows(f"decode {CAPTURE} {options}")
    assert found == [row for row in EVERYTHING if wanted(row)]
    assert found


def test_errors_without_bodies_have_their_codes() -> None:
    found = rows(f"decode {CAPTURE} --errors-only --no-body")
    wanted = [row["error_codes"] for row in EVERYTHING if row["error_codes"]]
    assert [row["error_codes"] for row in found] == wanted != []
    assert {row["body"] for row in found} == {None}


@pytest.mark.parametrize("options", ["", "--no-body", "--api Fetch,CreateTopics", "--errors-only"])
def test_the_number_of_a_row_is_what_only_takes(options: str) -> None:
    assert [row["number"] for row in EVERYTHING] == list(range(1, 295))
    for row in rows(f"decode {CAPTURE} {options}")[:3]:
        (same,) = rows(f"decode {CAPTURE} {options} --only {row['number']}")
        assert same == row
        explained = run_kap(f"explain {CAPTURE} --only {row['number']}").stdout
        assert explained.startswith(f"frame {row['number']}: {row['api']} v{row['api_version']} ")
        assert f"correlation id {row['correlation_id']}\n" in explained


def test_times_for_people() -> None:
    for row in EVERYTHING:
        moment = datetime.fromisoformat(row["time"])
        assert round(moment.timestamp() * 1_000_000) == row["ts"]
        assert row["time"].endswith("Z")
        assert len(row["time"]) == len("2026-01-31T12:00:00.000000Z")
    assert utc_text(1 << 62) == f"{1 << 62} µs since 1970"
    assert utc_text(None) is None


def test_a_body_that_was_not_read_has_unknown_errors() -> None:
    found = rows(f"decode {CAPTURE} --no-body")
    known = {row["number"]: row for row in found if row["error_codes"] is not None}
    assert 0 < len(known) < len(found)
    for number, row in known.items():  # the connection's state needs them
        assert row["error_codes"] == EVERYTHING[number - 1]["error_codes"]
    lines = run_kap(f"decode {CAPTURE} --no-body").stdout.splitlines()
    unread = [row for row in found if row["error_codes"] is None and row["direction"] == "response"]
    assert sum("(not read)" in line for line in lines) == len(unread)


def test_a_summary_of_headers_alone_has_unknown_errors() -> None:
    found = rows(f"decode {CAPTURE} --summary --no-body")
    expected: dict[str, Any] = {row["api"]: None for row in found}
    expected["Envelope"] = {}  # what is in it is wanted
    assert {row["api"]: row["errors"] for row in found} == expected
    table = run_kap(f"decode {CAPTURE} --summary --no-body").stdout.splitlines()[1:]
    assert [line.endswith("(not read)") for line in table] == [
        row["errors"] is None for row in found
    ]


def test_headers_alone_and_records() -> None:
    found = rows(f"decode {CAPTURE} --no-body")
    same = [key for key in RECORD_KEYS if key not in ("body", "error_codes", "topic_names", "raw")]
    assert [{k: r[k] for k in same} for r in found] == [{k: r[k] for k in same} for r in EVERYTHING]
    assert {row["body"] for row in found} == {None}
    produced = [
        partition["records"]
        for row in rows(f"decode {CAPTURE} --records --api Produce")
        if row["direction"] == "request"
        for topic in row["body"]["topicData"]
        for partition in topic["partitionData"]
    ]
    counts = [len(batch["records"]) for records in produced for batch in records["batches"]]
    assert sum(counts) == 50


def test_a_summary_adds_up() -> None:
    found = rows(f"decode {CAPTURE} --summary")
    assert sum(row["requests"] for row in found) == sum(
        row["direction"] == "request" and not row["forwarded"] for row in EVERYTHING
    )
    assert sum(row["bytes"] for row in found) == sum(
        row["size"] for row in EVERYTHING if not row["forwarded"]
    )
    (create,) = [row for row in found if row["api"] == "CreateTopics"]
    made = [row for row in EVERYTHING if row["api"] == "CreateTopics" and not row["forwarded"]]
    latencies = [row["latency_us"] for row in made if row["latency_us"] is not None]
    assert create["latency_max_us"] == max(latencies)
    (slowest,) = [row for row in made if row["latency_us"] == max(latencies)]
    assert (create["slowest_number"], create["slowest_client_id"]) == (
        slowest["number"],
        slowest["client_id"],
    )
    (line,) = [
        x for x in run_kap(f"decode {CAPTURE} --summary").stdout.splitlines() if "CreateTop" in x
    ]
    assert f"  {slowest['number']} {slowest['client_id']}  " in line
    assert abs(create["latency_p50_us"] - sorted(latencies)[1]) <= 0.01 * sorted(latencies)[1]
    assert create["errors"] == {"TOPIC_ALREADY_EXISTS": 1}


@pytest.mark.parametrize("options", ["", "--api Metadata", "--since 2030-01-01", "--client-id x"])
def test_a_file_that_does_not_read_is_never_filtered_away(tmp_path: Path, options: str) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(gzip.decompress(CAPTURE.read_bytes())[:50_000])
    assert "the capture ends" in ended(run_kap(f"decode {cut} {options}"), 1).stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (f"{CAPTURE} --api ,", "names no api"),
        (f"{CAPTURE} --api Nothing", "Nothing"),
        (f"{CAPTURE} --since 2026", "is not a time"),
        (f"{CAPTURE} --since 25:00", "no time of day"),
        (f"{CAPTURE} --slower-than nan", "expected a number of milliseconds, 0 or more, not 'nan'"),
        (f"{CAPTURE} --slower-than inf", "inf is no number of milliseconds"),
        (f"{CAPTURE} --slower-than 1e308", "1e308 is no number of milliseconds"),
        (f"{CAPTURE} --request --response", "--request and --response exclude each other"),
        (f"{CAPTURE} --summary --with-requests", "--with-requests does not go with --summary"),
        (f"{CAPTURE} --slower-than 1 --upgrade 4.0", "--slower-than does not go with --upgrade"),
        (f"{SEGMENT} --slower-than 1", "--slower-than does not go with log segments"),
        (f"{SEGMENT} --with-requests", "--with-requests does not go with log segments"),
        (f"{CAPTURE} {CAPTURE}", "named twice"),
        (f"{SEGMENT} --api Fetch", "--api does not go with log segments"),
        (f"{SEGMENT} --summary", "--summary does not go with log segments"),
        (f"{SEGMENT} {CAPTURE}", "not all the others are"),
    ],
)
def test_usage(arguments: str, text: str) -> None:
    assert text in ended(run_kap(f"decode {arguments}"), 2).stderr


def test_log_segments_in_every_output() -> None:
    found = rows(f"decode {SEGMENT}")
    assert [row["offset"] for row in found] == list(range(len(found)))
    assert {row["problem"] for row in found} == {None}
    assert json.loads(run_kap(f"decode {SEGMENT} --output json").stdout) == found
    assert len(run_kap(f"decode {SEGMENT} --output tsv").stdout.splitlines()) == len(found)
    snapshots = sorted(LOG.glob("*.checkpoint"))
    several = rows(f"decode {SEGMENT} {snapshots[0]}")
    assert several[: len(found)] == found
    assert several[len(found)]["file"] == str(snapshots[0])
    assert "RegisterBrokerRecord" in run_kap(f"decode {SEGMENT}").stdout


def test_tables_of_log_segments_come_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each page has heads of its own, and no row is lost between two."""

    def shown() -> tuple[int, list[list[str]]]:
        cells = [line.split()[:2] for line in run_kap(f"decode {SEGMENT}").stdout.splitlines()]
        return cells.count(cells[0]), [each for each in cells if each not in (cells[0], [])]

    heads, whole = shown()
    assert (heads, len(whole) > 4) == (1, True)
    monkeypatch.setattr(segments, "_PAGE", 2)
    heads, pages = shown()
    assert (heads, pages) == (len(whole) // 2 + 1, whole)


def test_a_segment_that_goes_away_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are decoded."""

    def read(name: str, *rest: Any, **options: Any) -> Iterator[dict[str, object]]:
        if name == str(gone):
            raise FileNotFoundError(2, "No such file or directory", name)
        yield from segment_rows(name, *rest, **options)

    gone = Path(shutil.copy(SEGMENT, tmp_path))
    monkeypatch.setattr(segments, "segment_rows", read)
    result = ended(run_kap(f"decode {gone} {SEGMENT} --output jsonl"), 1)
    first, *others = [json.loads(line) for line in result.stdout.splitlines()]
    assert (first["file"], "No such file" in first["problem"]) == (str(gone), True)
    assert {each["problem"] for each in others} == {None}


KAP = [sys.executable, "-c", "from kafka_admin_proto.cli import main; main()", "decode"]


def test_a_pipe_that_can_be_read_but_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(CAPTURE.read_bytes()), daemon=True)
    writer.start()
    done = subprocess.run(
        [*KAP, str(pipe), "--output", "jsonl"], capture_output=True, timeout=60, check=False
    )
    writer.join(10)
    assert [json.loads(line)["ts"] for line in done.stdout.splitlines()] == [
        row["ts"] for row in EVERYTHING
    ]
    assert done.returncode == 0


@pytest.mark.parametrize("output", ["table", "jsonl"])
def test_a_live_capture_shows_what_it_has_and_ends_with_an_interrupt(output: str) -> None:
    process = subprocess.Popen(
        [*KAP, "-", "--output", output], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    data = gzip.decompress(CAPTURE.read_bytes())
    process.stdin.write(data[:3])
    process.stdin.flush()
    process.stdin.write(data[3:])
    process.stdin.flush()  # and the pipe stays open
    wanted = len(EVERYTHING) + (output == "table")
    lines = [process.stdout.readline() for _ in range(wanted)]
    assert all(lines)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert rest == b""
    assert process.returncode == 0
