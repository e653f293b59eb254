"""What a draft's client sends and gets, from a capture of its connections: decoded, explained."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient, NewTopic, TopicAlteration
from kafka_admin_proto.admin.network.connection import BrokerConnection
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server import Cluster
from tests.admin.test_drafts import COMMAND_CALLS
from tests.capture.packets import conversation, pcap
from tests.helpers.kap import ended, run_kap
from tests.server.handlers.drafts.two_ways import DRAFTS, Draft


async def _speak(dialect: Draft) -> None:
    """Every command, some of them with errors."""
    cluster = Cluster(2, rules=dialect, sync_delay_s=0.01)
    async with cluster, AdminClient(cluster.bootstrap_servers, dialect=dialect) as admin:
        configs: dict[str, str | None] = {"retention.ms": "1000"}
        await admin.create_topics([NewTopic("t", assignment={0: [1, 2]}, configs=configs)])
        for name, ask in COMMAND_CALLS.items():
            if name != "delete-topic":
                await ask(admin)
        wanted = [TopicAlteration("t", 1), TopicAlteration("x", 2), TopicAlteration("u", 0)]
        await admin.alter_topics(wanted, timeout=0)
        await admin.describe_topics()
        await admin.delete_topics(["t", "x"])


@pytest.fixture(params=DRAFTS)
def capture(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> tuple[Draft, Path]:
    """The bytes of all connections, as packets."""
    turns: defaultdict[int, list[tuple[bool, bytes]]] = defaultdict(list)
    kept: list[BrokerConnection] = []  # so that no two have one id
    write, receive = BrokerConnection._write, BrokerConnection.data_received

    def note(connection: BrokerConnection, is_client: bool, data: bytes) -> None:
        kept.append(connection)
        if data:
            turns[id(connection)].append((is_client, bytes(data)))

    def written(self: BrokerConnection, data: bytes) -> None:
        note(self, True, data)
        write(self, data)

    def received(self: BrokerConnection, data: bytes) -> None:
        note(self, False, data)
        receive(self, data)

    monkeypatch.setattr(BrokerConnection, "_write", written)
    monkeypatch.setattr(BrokerConnection, "data_received", received)
    asyncio.run(_speak(request.param))
    packets = [
        packet
        for index, each in enumerate(turns.values())
        for packet in conversation(each, client=("10.0.0.1", 40000 + index))
    ]
    file = tmp_path / "draft.pcap"
    file.write_bytes(pcap(sorted(packets, key=lambda each: each.ts)))
    return request.param, file


def _run(*arguments: str) -> str:
    return ended(run_kap(*arguments)).stdout


def test_every_frame_is_decoded_and_explained(capture: tuple[Draft, Path]) -> None:
    dialect, file = capture
    lines = _run("decode", str(file), "--dialect", dialect, "--output", "jsonl").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert not [each for each in rows if each["problem"]]
    seen = {(each["api"], each["direction"]) for each in rows}
    for name in catalog().names(dialect):
        if dialect == "kip-4a" and name == "CreateTopicResponse":
            continue  # its request is not in the text
        api, kind = name[: -len("Request")], "request"
        if name.endswith("Response"):
            api, kind = name[: -len("Response")], "response"
        assert (api, kind) in seen
    errors = {code for each in rows for code in each["error_codes"]}
    assert "UNKNOWN_TOPIC_OR_PARTITION" in errors
    assert ("DecreasePartitionsNotAllowed" if dialect == "kip-4b" else "INVALID_PARTITIONS") in (
        errors
    )
    text = _run("explain", str(file), "--dialect", dialect)
    keys = [line.split() for line in text.splitlines() if " request_api_key " in line]
    assert all(len(line) == 7 for line in keys), keys  # offset, two bytes, …, the api's name
    assert re.search(r"api_key +INT16 +4002 +AlterTopic\n", text)  # in ApiVersions
    assert re.search(r"request_api_key +INT16 +3 +TopicMetadata\n", text)
    assert "does not decode" not in text
    if dialect == "kip-4b":
        assert "DecreasePartitionsNotAllowed" in text
