"""One rule says what a client is: for the answer of the page, for its list, for `kap decode`."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafka_admin_proto.tables import queries
from kafka_admin_proto.tables.report.people import clients_seen, upgrade
from kafka_admin_proto.tables.rows.derived.client_uses import ClientUses, client_rows
from tests.tables.report.report_tables import request, write_tables

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
