"""A draft's client against a cluster that answers anything, as long as it decodes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.admin import AdminClient, Broker, NewTopic, Reply, TopicAlteration
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server.apis import served_apis
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.testing import messages
from kafka_admin_proto.values import Message
from tests.admin.draft_commands import COMMANDS
from tests.admin.test_drafts import COMMAND_CALLS, Draft
from tests.helpers.profile import draws


class Lying(AdminClient):
    """A client whose cluster answers anything, as long as it decodes."""

    answers: Callable[[str, int], Message]

    async def call(self, request: Message, *_: Any, to: Any = None, **__: Any) -> Any:
        name = request.message_name.replace("Request", "Response")
        version = 0 if request.dialect == "kafka" else supported_highest(request)
        return Reply(self.answers(name, version), 1, version)

    async def versions(self, *_: Any, **__: Any) -> dict[int, VersionRange]:
        return {
            each.api_key: each.versions for each in served_apis(ReleaseNumber(4, 3), self.dialect)
        }

    async def brokers(self, **_: Any) -> dict[int, Broker]:
        return {1: Broker(1, "h", 1)}


def supported_highest(request: Message) -> int:
    return catalog().entry(request.message_name, request.dialect).versions.highest


@pytest.mark.parametrize(
    ("dialect", "command"), [(name, each) for name, table in COMMANDS.items() for each in table]
)
@settings(max_examples=draws(48))
@given(data=st.data())
def test_a_cluster_that_lies(dialect: Draft, command: str, data: st.DataObject) -> None:
    """An operation ends with results for its items, or with an error of this package."""

    def answers(name: str, version: int) -> Message:
        of = dialect if name in catalog().names(dialect) else "kafka"
        drawn: Message = data.draw(messages(name, version, dialect=of))
        return drawn

    async def ask() -> None:
        async with Lying("localhost:9092", dialect=dialect) as admin:
            admin.answers = answers
            client: Any = admin
            calls: dict[str, Callable[[], Awaitable[object]]] = {
                "create-topic": lambda: client.create_topics([NewTopic("u", 1, 1)], timeout=0.01),
                "alter-topic": lambda: client.alter_topics([TopicAlteration("t", 2)], timeout=0.01),
                "delete-topic": lambda: client.delete_topics(["t"], timeout=0.01),
                "preferred-replica-leader-election": lambda: client.elect_leaders(timeout=0.01),
            }
            with contextlib.suppress(KafkaAdminProtoError):
                await calls.get(command, lambda: COMMAND_CALLS[command](client))()

    asyncio.run(ask())
