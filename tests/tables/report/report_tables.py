"""Small tables of the pipeline, made of a few words each, with answers that can be told by eye."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.tables.schemas import TABLES
from tests.render.frames import HOSTILE

Row = dict[str, Any]
START = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
MICROS = int(START.timestamp()) * 1_000_000
SECOND = 1_000_000


def write_tables(folder: Path, tables: Mapping[str, Iterable[Row]]) -> Path:
    """Parquet files below the folder, with new names each time, as the pipeline lays them out."""
    for name, rows in tables.items():
        schema = TABLES[name]
        full = [_full(schema, name, row) for row in rows]
        (folder / name).mkdir(parents=True)
        pq.write_table(
            pa.Table.from_pylist(full, schema=schema),
            folder / name / f"part-{uuid.uuid4().hex}.parquet",
        )
    return folder


def _full(schema: pa.Schema, name: str, row: Row) -> Row:
    full = dict.fromkeys(schema.names) | row
    if full["date"] is None:
        ts = full.get("ts") or full.get("first_ts")
        full["date"] = None if ts is None else datetime.fromtimestamp(ts // SECOND, UTC).date()
    if name == "frames":
        full["error_codes"] = full["error_codes"] or []
        full["forwarded"] = bool(full["forwarded"])
        full["capture"] = full["capture"] or "one.pcap"
        full["packet_ordinal"] = full["packet_ordinal"] or 0
        full["direction"] = full["direction"] or "request"
    return full


def request(api: str, version: int, second: float = 0, **more: Any) -> Row:
    """A frame of a request, so many seconds after the start."""
    key = catalog().entry(f"{api}Request").api_key
    ts = MICROS + round(second * SECOND)
    return {"direction": "request", "api": api, "api_key": key, "api_version": version, "ts": ts,
            "client": "10.0.0.1:4000", **more}  # fmt: skip


def response(api: str, version: int, second: float = 0, **more: Any) -> Row:
    """A frame of a response."""
    return request(api, version, second, **more) | {"direction": "response"}


def frames() -> list[Row]:
    """An old client, one without an id, a hostile one, a new one, brokers of old and forwarding."""
    app = {"client_id": "old-app", "principal": "User:app", "client_software": "sarama 1.0"}
    broker = {"client_id": "1", "client": "10.0.0.9:9"}
    return [
        *(request("Produce", 2, at, **app) for at in (0, 10, 20)),
        *(request("Fetch", version, 30 + version, **app) for version in (3, 3, 2, 4, 4)),
        request("CreateTopics", 1, 50, **app),
        request("Fetch", 0, 60, client_id=HOSTILE, client="[2001:db8::1]:5000"),
        request("ListOffsets", 0, 61, client="10.0.0.3:5000"),
        *(request("Produce", 9, at, client_id="new-app") for at in range(100, 110)),
        *(response("Produce", 9, at, client_id="new-app", latency_us=at) for at in range(100, 110)),
        request("UpdateMetadata", 6, 70, **broker),
        request("UpdateMetadata", 6, 71, **broker),
        request("LeaderAndIsr", 4, 72, **broker),
        request("Fetch", 3, 73, client_id="broker-2-fetcher-0", client="10.0.0.8:9"),
        request("CreateTopics", 0, 74, client_id="old-app", client="10.0.0.8:10", forwarded=True,
                principal="User:app"),
        *(response("CreateTopics", 1, at, **app, latency_us=1000 * at,
                   error_codes=["TOPIC_ALREADY_EXISTS"]) for at in (50, 51)),
        response("CreateTopics", 0, 75, client_id="old-app", client="10.0.0.8:10", forwarded=True,
                 error_codes=["NOT_CONTROLLER", "TOPIC_ALREADY_EXISTS"], latency_us=77),
        response("Fetch", 0, 80, client_id=HOSTILE, error_codes=["-12345"], latency_us=5_000_000),
        # An api that Kafka does not have, and bytes that are no frame.
        {"direction": "request", "api_key": 9999, "api_version": 0, "ts": MICROS},
        {"direction": "data", "problem": "not Kafka"},
    ]  # fmt: skip


def audits() -> list[Row]:
    def one(second: int, topic: str, operation: str = "create topic", **more: Any) -> Row:
        return {"ts": MICROS + second * SECOND, "packet_ordinal": second, "topic": topic,
                "resource_type": "TOPIC", "operation": operation, "client": "10.0.0.1:4000",
                "client_id": "admin", "principal": "User:ann", "api": "CreateTopics",
                "api_version": 7, "forwarded": False, "validate_only": False, "answered": True,
                **more}  # fmt: skip

    return [
        one(1, "orders", parameters='{"num_partitions":3}', latency_us=1500),
        one(2, "orders", error="TOPIC_ALREADY_EXISTS", message=f"Topic exists {HOSTILE}"),
        one(3, "trial", validate_only=True),
        one(4, "lost", "delete topic", answered=False),
        one(5, HOSTILE, "delete topic", client_id=HOSTILE, principal=HOSTILE, parameters=HOSTILE),
        one(6, "orders", "delete topic", forwarded=True),
    ]


def clients() -> list[Row]:
    def one(day: int, version: tuple[int, int], requests: int, **more: Any) -> Row:
        return {"date": date(2026, 1, int(day)), "client_id": "app", "software_name": "java",
                "software_version": "3.9.1", "address": "10.0.0.1", "principals": [f"User:{day}"],
                "requests": requests, "first_ts": MICROS + day, "last_ts": MICROS + day * SECOND,
                "apis": [{"api": "Fetch", "api_key": 1, "min_version": version[0],
                          "max_version": version[1], "requests": requests}], **more}  # fmt: skip

    return [
        one(30, (4, 11), 5),
        one(31, (12, 12), 7),
        one(31, (3, 3), 100, client_id=HOSTILE, software_name=None, principals=None),
    ]


def metadata_changes() -> list[Row]:
    """Of topic ``orders``, partition 0: 1 → 2 → none → 3, told to two brokers; of one in a log."""

    def told(second: float, leader: int, epoch: int, **more: Any) -> Row:
        return {"ts": MICROS + round(second * SECOND), "packet_ordinal": round(second * 10),
                "source": "UpdateMetadata", "topic": "orders", "partition": 0, "leader": leader,
                "leader_epoch": epoch, "deleted": False, **more}  # fmt: skip

    def logged(second: float, offset: int, leader: int | None, **more: Any) -> Row:
        return {"ts": MICROS + round(second * SECOND), "packet_ordinal": 0, "log_offset": offset,
                "source": "PartitionChangeRecord", "topic": "logged", "topic_id": "id-of-logged",
                "partition": 5, "leader": leader, "deleted": False, **more}  # fmt: skip

    return [
        told(1, 1, 0), told(1.1, 1, 0), told(2, 2, 1), told(3, -1, 2),
        told(3.1, 2, 1),  # the second broker gets it late
        told(3.2, -1, 2), told(4, 3, 3), told(4.1, 3, 3),
        told(1, 7, 0, partition=1), told(5, 7, 0, partition=1),
        logged(1, 10, 1), logged(1, 11, None), logged(2, 12, -2), logged(3, 13, 2),
        logged(9, 10, 1), logged(9, 11, None), logged(9.1, 13, 2),  # read anew by another broker
        # Made again under its name, without an id: epochs start anew.
        told(6, -2, 3, deleted=True), told(7, 1, 0),
    ]  # fmt: skip


def quorum_events() -> list[Row]:
    def one(second: int, api: str, epoch: int, **more: Any) -> Row:
        return {"ts": MICROS + second * SECOND, "packet_ordinal": second, "api": api,
                "epoch": epoch, "topic": "__cluster_metadata", "partition": 0, "pre_vote": False,
                "answered": True, **more}  # fmt: skip

    return [
        one(1, "Vote", 5, replica_id=1, granted=False, pre_vote=True),
        one(2, "Vote", 5, replica_id=1, granted=True),
        one(2, "Vote", 5, replica_id=1, granted=False),
        one(2, "Vote", 5, replica_id=2, answered=False),
        one(3, "BeginQuorumEpoch", 5, replica_id=1, leader_id=1),
        one(9, "EndQuorumEpoch", 5, replica_id=1),
        one(10, "Vote", 6, replica_id=2, granted=True),
    ]


def problems() -> list[Row]:
    def one(second: int | None, problem: str) -> Row:
        ts = None if second is None else MICROS + second * SECOND
        return {"ts": ts, "problem": problem, "capture": "one.pcap", "connection": "a-b",
                "stream_offset": second, "packet_ordinal": second or 0,
                "forwarded": False}  # fmt: skip

    return [
        one(3, "57 bytes missing"), one(2, "1 bytes missing"),
        one(None, f'topic "{HOSTILE}" is odd'), one(4, HOSTILE),
    ]  # fmt: skip


def everything() -> Mapping[str, Sequence[Row]]:
    return {
        "frames": frames(), "admin_audit": audits(), "clients": clients(),
        "metadata_changes": metadata_changes(), "quorum_events": quorum_events(),
        "problems": problems(),
    }  # fmt: skip
