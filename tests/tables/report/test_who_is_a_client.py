"""One rule says what a client is, and one answer has one exit code, wherever it is asked for."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafka_admin_proto import CreateTopicsRequest, FetchRequest
from kafka_admin_proto.capture.upgrade import NO_REQUEST
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.tables import queries
from kafka_admin_proto.tables.report.people import clients_seen, upgrade
from kafka_admin_proto.tables.rows.derived.client_uses import ClientUses, client_rows
from tests.helpers.kap import ended, run_kap
from tests.tables.report.report_tables import Row, request, write_tables

_JAVA, _SARAMA = "apache-kafka-java 4.2.0", "sarama 1.0"


def sections(folder: Path, frames: list[dict[str, Any]]) -> tuple[str, str, str]:
    """Headline and answer of the upgrade, and the headline of the clients, of the same frames."""
    uses = ClientUses()
    columns = ("client_id", "client_software", "client", "principal", "api", "api_key",
               "api_version", "direction", "forwarded")  # fmt: skip
    batch = pa.RecordBatch.from_pydict(
        {name: [row.get(name) for row in frames] for name in columns}
        | {"ts": pa.array([row["ts"] for row in frames], pa.timestamp("us", tz="UTC"))}
        | {"forwarded": [bool(row.get("forwarded")) for row in frames]}
    )
    uses.add(batch)
    rows = client_rows([uses.take()]).to_pylist()
    for row in rows:
        row |= {name: row[name] and int(row[name].timestamp() * 1e6) for name in _SPAN}
    write_tables(folder, {"frames": frames, "clients": rows})
    found = queries.read_tables(str(folder))
    readiness = upgrade(found["frames"], "4.0")
    return readiness.headline, readiness.answer, clients_seen(found["clients"]).headline


_SPAN = ("first_ts", "last_ts")


def test_versions_are_negotiated_by_the_same_client(tmp_path: Path) -> None:
    """An ApiVersions that the broker does not know says no software, and neither does its like."""
    frames = [
        request("ApiVersions", 5, 0, client_id="app"),
        *(request("Produce", 9, at, client_id="app", client_software=_JAVA) for at in (1, 2)),
        request("Produce", 2, 3, client_id="old", client_software=_SARAMA, principal="User:a"),
        request("Produce", 2, 4, client_id="old", client_software=_SARAMA, principal="User:b"),
        request("Produce", 2, 5, client_id="old"),
    ]
    assert sections(tmp_path, frames) == (
        "1 client to change", "1 of 2 clients must change before 4.0.", "2 clients",
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_all_count_the_same_clients(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    frames = [
        request(
            chance.choice(["Fetch", "Produce", "ApiVersions"]), chance.choice([2, 3]), at,
            client_id=chance.choice([None, "a", "b"]), client=f"10.0.0.{chance.randrange(2)}:1",
            client_software=chance.choice([None, None, _JAVA, _SARAMA]),
            principal=chance.choice([None, "User:x"]), forwarded=chance.random() < 0.1,
        )
        for at in range(chance.randrange(1, 25))
    ]  # fmt: skip
    headline, answer, seen = sections(tmp_path, frames)
    (changing, of) = re.findall(r"\d+|None", answer)[:2]
    assert seen.split(" client")[0] == of
    assert headline.startswith(changing if changing != "None" else ("ready", "clients behind"))


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
