"""Which committed offsets would be deleted, and by the api of the group's type."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from kafka_admin_proto.admin import InstructionError
from kafka_admin_proto.admin.operations.groups.model import (
    AlteredOffset,
    DeletedShareOffsets,
    GroupDescription,
)
from tests.admin.operations.groups.test_resets import COMMITTED, Client

SHARE = GroupDescription("g", type="share")
REFUSED = ("REFUSED", "why")


class Deleting(Client):
    deleted: Sequence[tuple[str, int]] = ()
    deleted_topics: Sequence[str] = ()

    async def delete_group_offsets(
        self, group: str, partitions: Iterable[tuple[str, int]], **more: Any
    ) -> list[AlteredOffset]:
        self.deleted = list(partitions)
        return [AlteredOffset(*each, *(REFUSED if each[1] else ())) for each in self.deleted]

    async def delete_share_group_offsets(
        self, group: str, topics: Iterable[str], **more: Any
    ) -> list[DeletedShareOffsets]:
        self.deleted_topics = list(topics)
        return [DeletedShareOffsets(each, *REFUSED) for each in self.deleted_topics]


def test_topics_stand_for_what_the_group_has_committed() -> None:
    places = [("t", 1), ("t", 7), ("u", 0)]
    client = Deleting()
    plan = asyncio.run(client.plan_offset_deletions("g", topics=["t", "none"], partitions=places))
    assert [(each.topic, each.partition, each.offset) for each in plan.offsets] == [
        *(("t", *each) for each in COMMITTED.items()), ("t", 7, None), ("u", 0, None),
    ]  # fmt: skip
    assert (plan.type, plan.error) == ("classic", None)
    done = asyncio.run(client.run_offset_deletions(plan))
    assert client.deleted == [("t", 0), ("t", 1), ("t", 7), ("u", 0)]
    assert [(each.error, each.message) for each in done.offsets] == [
        (None, None), REFUSED, REFUSED, (None, None),
    ]  # fmt: skip


def test_a_share_group_loses_whole_topics() -> None:
    client = Deleting(SHARE)
    with pytest.raises(InstructionError, match="by whole topics: name the topic t without"):
        asyncio.run(client.plan_offset_deletions("g", topics=["t"], partitions=[("t", 0)]))
    plan = asyncio.run(client.plan_offset_deletions("g", topics=["t"]))
    done = asyncio.run(client.run_offset_deletions(plan))
    assert client.deleted_topics == ["t"]
    assert [(each.partition, each.error, each.message) for each in done.offsets] == [
        (number, *REFUSED) for number in COMMITTED
    ]


@pytest.mark.parametrize(
    "group",
    [GroupDescription("g", state="Dead"), GroupDescription("g", error="GROUP_ID_NOT_FOUND")],
)
def test_a_group_that_is_not_there(group: GroupDescription) -> None:
    client = Deleting(group)
    plan = asyncio.run(client.plan_offset_deletions("g", topics=["t"], partitions=[("t", 0)]))
    assert (plan.error, plan.offsets) == ("GROUP_ID_NOT_FOUND", [])
    assert asyncio.run(client.run_offset_deletions(plan)) == plan
    assert client.deleted == ()
