"""Answers of real clusters to requests that only a raw client sends, kept for tests without Java.

Run as ``python -m tests.server.differential.recorded [RELEASE]``: it starts a real cluster with
an authorizer, asks its first node what ``recorded.json`` has, and writes the answers there.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from kafka_admin_proto import codec
from kafka_admin_proto.messages import CreateTopicsRequest, DescribeQuorumRequest
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
)
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.protocol.headers import message_of
from kafka_admin_proto.protocol.releases import release as release_facts
from kafka_admin_proto.values import Message
from tests.server.differential.requests.security import SUPER_USERS
from tests.server.differential.wire import Nodes
from tools.clusters import kraft
from tools.kafka_releases import NEWEST

FILE = Path(__file__).parent / "recorded.json"
CONFIGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": SUPER_USERS,
}
#: The topic that is there.
FIRST = CreateTopicsRequest(
    [CreatableTopic("a", -1, -1, [CreatableReplicaAssignment(0, [1, 2, 3])])], timeout_ms=20_000
)
_FIRST_VERSION = 5
_QUORUM = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])


class Case(msgspec.Struct):
    """A request as JSON, and the response of each release, null where it has no such version."""

    api: str
    version: int
    request: dict[str, Any]
    answers: dict[str, dict[str, Any] | None] = {}

    @property
    def message(self) -> Message:
        found: Message = codec(f"{self.api}Request", self.version).from_json(self.request)
        return found


class Recorded(msgspec.Struct):
    """The file: when each release was asked, and which node was the controller."""

    asked_on: dict[str, str]
    controllers: dict[str, int]
    cases: list[Case]


def read() -> Recorded:
    """The recorded answers."""
    return msgspec.json.decode(FILE.read_bytes(), type=Recorded)


def answers_of(recorded: Recorded, release: str) -> Iterator[tuple[Case, Message]]:
    """Each case that a release was asked, with its response."""
    for case in recorded.cases:
        answer = case.answers[release]
        if answer is not None:
            found = message_of(case.message.api_key or 0, case.version, "response", "kafka")
            assert found is not None
            yield case, codec(found[0], case.version).from_json(answer)


def main() -> None:
    release = sys.argv[1] if sys.argv[1:] else NEWEST
    recorded, facts = read(), release_facts(release)
    with (
        tempfile.TemporaryDirectory() as folder,
        kraft(Path(folder), release, nodes=3, properties=CONFIGS) as real,
    ):
        nodes = Nodes(real.bootstrap)
        assert nodes.ask(0, FIRST, _FIRST_VERSION).topics[0].error_code == 0
        for case in recorded.cases:
            message, answer = case.message, None
            if case.version in facts.versions_of(message.api_key or 0):
                answer = nodes.ask(0, message, case.version)
            shown = codec(type(answer), case.version).to_json(answer) if answer else None
            case.answers[release] = shown
        quorum = nodes.ask(0, _QUORUM, 0).topics[0].partitions[0]
        recorded.controllers[release] = quorum.leader_id
        nodes.close()
    recorded.asked_on[release] = datetime.now(UTC).date().isoformat()
    days, controllers = (
        msgspec.json.encode(each).decode() for each in (recorded.asked_on, recorded.controllers)
    )
    lines = ",\n".join(f"    {msgspec.json.encode(each).decode()}" for each in recorded.cases)
    head = f'  "asked_on": {days},\n  "controllers": {controllers},\n'
    FILE.write_text(f'{{\n{head}  "cases": [\n{lines}\n  ]\n}}\n')


if __name__ == "__main__":
    main()
