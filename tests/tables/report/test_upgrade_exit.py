"""One answer has one exit code, of ``report --query upgrade`` and of ``decode --upgrade``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import CreateTopicsRequest, FetchRequest
from kafka_admin_proto.capture.upgrade import NO_REQUEST
from kafka_admin_proto.protocol import frame, write_request
from tests.helpers.kap import ended, run_kap
from tests.tables.report.report_tables import Row, request, write_tables

FINE, OLD = request("CreateTopics", 7), request("Fetch", 3)
BYTES = {
    "CreateTopics": frame(write_request(CreateTopicsRequest(), 7, 1, "c")),
    "Fetch": frame(write_request(FetchRequest(), 3, 2, "c")),
}
#: Bytes of TLS: they may be requests, and cannot be read.
UNREAD: Row = {"problem": "TLS", "capture": "a", "connection": "c", "stream_offset": 0}
TLS = b"\x16\x03\x01\x02\x00\x01\x00\x01"


@pytest.mark.parametrize(
    ("requests", "is_whole", "status", "answer"),
    [
        ([FINE], True, 0, "ready"),
        ([FINE], False, 1, "ready, as far as could be read"),
        ([FINE, OLD], True, 1, "1 client to change"),
        ([], False, 1, NO_REQUEST),
    ],
)
@pytest.mark.parametrize("output", ["table", "json", "tsv"])
def test_both_leave_with_the_same(
    requests: list[Any], is_whole: bool, status: int, answer: str, output: str, tmp_path: Path
) -> None:
    problems = [] if is_whole else [UNREAD | {"packet_ordinal": 1, "forwarded": False}]
    write_tables(tmp_path, {"frames": requests, "problems": problems})
    said = run_kap(
        "report", str(tmp_path), "--query", "upgrade", "--release", "4.0", "--output", output
    )
    assert (said.exit_code, said.stderr) == (status, f"Upgrade to 4.0: {answer}\n")
    data = b"".join(BYTES[each["api"]] for each in requests) + (b"" if is_whole else TLS)
    decoded = run_kap("decode --upgrade 4.0 --input-format raw", data=data)
    assert decoded.exit_code == status
    assert decoded.stdout.splitlines()[-1] == f"Upgrade to 4.0: {answer}"


def test_a_problem_that_leaves_no_doubt_changes_no_answer() -> None:
    """A body that does not decode is that of a request whose api and version are known."""
    cut = frame(write_request(CreateTopicsRequest(), 7, 1, "c")[:-2])
    options = ["--input-format", "raw"]
    decoded = ended(run_kap("decode --upgrade 4.0", *options, data=cut))
    assert decoded.stdout.splitlines()[-1] == "Upgrade to 4.0: ready"
    assert run_kap("decode", *options, data=cut).exit_code == 1
