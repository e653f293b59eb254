"""Where committed offsets would go: always within the log, and why where that is not known."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from kafka_admin_proto.admin import InstructionError, OffsetReset, OffsetResets
from kafka_admin_proto.admin.operations.groups.model import (
    AlteredOffset,
    GroupDescription,
    GroupMember,
    GroupOffset,
    GroupOffsets,
    ShareOffset,
    ShareOffsets,
)
from kafka_admin_proto.admin.operations.groups.resets import ResetOperations, refused_by_members
from kafka_admin_proto.admin.operations.partitions.records import ListedOffset
from tests.admin.fake_caller import FakeCaller

#: The logs of partitions 0, 1 and 2: from 10 to 50. Of the first two the group has committed.
EARLIEST, LATEST, COMMITTED = 10, 50, {0: 20, 1: None}
#: Of these times, in milliseconds, the first is in the log, the second is after its last record.
TIMES = {7: 30, 9: None}


class Client(ResetOperations, FakeCaller):
    def __init__(self, group: GroupDescription | None = None, fails: Any = None) -> None:
        super().__init__({})
        self.group, self.fails = group, fails
        self.altered: list[tuple[str, Mapping[tuple[str, int], Any]]] = []

    async def describe_groups(self, groups: Iterable[str], **more: Any) -> list[GroupDescription]:
        return [self.group or GroupDescription("g", type="classic", state="Empty")]

    async def list_group_offsets(self, groups: Mapping[str, Any], **more: Any) -> Any:
        offsets = [GroupOffset("t", *each) for each in COMMITTED.items()]
        return [GroupOffsets("g", [] if self.group else offsets)]

    async def list_share_group_offsets(self, groups: Mapping[str, Any], **more: Any) -> Any:
        offsets = [ShareOffset("t", *each, lag=1) for each in COMMITTED.items()]
        return [ShareOffsets("g", offsets)]

    async def alter_group_offsets(
        self, group: str, offsets: Mapping[tuple[str, int], Any], **more: Any
    ) -> list[AlteredOffset]:
        self.altered.append(("classic", offsets))
        return [AlteredOffset(*each, *(("REFUSED", "why") if each[1] else ())) for each in offsets]

    async def alter_share_group_offsets(
        self, group: str, offsets: Mapping[tuple[str, int], Any], **more: Any
    ) -> list[AlteredOffset]:
        self.altered.append(("share", offsets))
        return [AlteredOffset(*each) for each in offsets]

    async def list_offsets(self, specs: Mapping[Any, Any], **more: Any) -> list[ListedOffset]:
        found = []
        for (topic, number), spec in specs.items():
            offset = {"earliest": EARLIEST, "latest": LATEST}.get(spec, TIMES.get(spec))
            error = "NOT_LEADER_OR_FOLLOWER" if (number, spec) == self.fails else None
            found.append(ListedOffset(topic=topic, partition=number, offset=offset, error=error))
        return found


def planned(client: Client, *arguments: Any, **target: Any) -> OffsetResets:
    return asyncio.run(client.plan_offset_resets("g", *arguments, **target))


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ({"to": "earliest"}, [10, 10]),
        ({"to": "latest"}, [50, 50]),
        ({"to_offset": 40}, [40, 40]),
        ({"to_offset": 0}, [10, 10]),
        ({"to_time_ms": 7}, [30, 30]),
        ({"to_time_ms": 9}, [50, 50]),
        ({"shift_by": 5}, [25, 50]),
        ({"shift_by": -15}, [10, 35]),
    ],
)
def test_offsets_stay_in_the_log(target: dict[str, Any], wanted: list[int]) -> None:
    found = planned(Client(), **target)
    assert [each.new_offset for each in found.offsets] == wanted
    assert [each.offset for each in found.offsets] == list(COMMITTED.values())


def test_a_share_group_begins_elsewhere() -> None:
    members = [GroupMember("m", "c", "h")]
    for own in ([], members):
        client = Client(GroupDescription("g", type="share", members=own))
        found = planned(client, to="earliest", validate=True)
        assert found.type == "share"
        assert [(each.offset, each.new_offset) for each in found.offsets] == [(20, 10), (None, 10)]
        assert {each.error for each in found.offsets} == {"NON_EMPTY_GROUP" if own else None}


@pytest.mark.parametrize("spec", ["earliest", "latest", 7])
def test_an_offset_that_could_not_be_looked_up(spec: Any) -> None:
    found = planned(Client(fails=(2, spec)), [("t", 2), ("t", 0)], to_time_ms=7)
    assert [(each.partition, each.new_offset, each.error) for each in found.offsets] == [
        (2, None, "NOT_LEADER_OR_FOLLOWER"), (0, 30, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "group",
    [GroupDescription("g", state="Dead"), GroupDescription("g", error="GROUP_ID_NOT_FOUND")],
)
def test_a_group_that_is_not_there(group: GroupDescription) -> None:
    found = planned(Client(group), to="latest")
    assert (found.error, found.offsets) == ("GROUP_ID_NOT_FOUND", ())


def test_a_plan_that_is_validated_has_the_errors_of_the_commit() -> None:
    group = GroupDescription("g", members=[GroupMember("m", "c", "h")])
    found = planned(Client(group), [("t", 0)], to="latest", validate=True)
    assert [each.error for each in found.offsets] == ["UNKNOWN_MEMBER_ID"]


@pytest.mark.parametrize("type", ["classic", "share"])
def test_a_plan_is_committed_by_the_api_of_the_groups_type(type: str) -> None:
    client = Client()
    rows = [
        OffsetReset(topic="t", partition=0, offset=20, new_offset=10),
        OffsetReset(topic="t", partition=1, offset=None, new_offset=0),
        OffsetReset(topic="t", partition=2, offset=None, error="NOT_LEADER_OR_FOLLOWER"),
    ]
    resets = OffsetResets(group_id="g", type=type, offsets=rows)
    done = asyncio.run(client.run_offset_resets(resets))
    assert client.altered == [(type, {("t", 0): 10, ("t", 1): 0})]
    refused = ("REFUSED", "why") if type == "classic" else (None, None)
    assert [(each.error, each.message) for each in done.offsets] == [
        (None, None), refused, ("NOT_LEADER_OR_FOLLOWER", None),
    ]  # fmt: skip
    assert [each.new_offset for each in done.offsets] == [10, 0, None]


def test_a_plan_of_errors_asks_for_nothing() -> None:
    client = Client()
    rows = [OffsetReset(topic="t", partition=0, offset=1, error="NOT_LEADER_OR_FOLLOWER")]
    resets = OffsetResets(group_id="g", offsets=rows)
    assert asyncio.run(client.run_offset_resets(resets)) is resets
    assert client.altered == []


@pytest.mark.parametrize("target", [{}, {"to": "latest", "to_offset": 0}])
def test_there_is_one_target(target: dict[str, Any]) -> None:
    with pytest.raises(InstructionError, match="one of to, to_offset, to_time_ms and shift_by"):
        planned(Client(), **target)


def test_members_refuse_what_has_no_error_yet() -> None:
    resets = OffsetResets(
        group_id="g",
        offsets=[
            OffsetReset(topic="t", partition=0, offset=None, new_offset=1),
            OffsetReset(topic="t", partition=1, offset=None, error="NOT_LEADER_OR_FOLLOWER"),
        ],
    )
    group = GroupDescription("g", members=[GroupMember("m", "c", "h")])
    assert [each.error for each in refused_by_members(resets, group).offsets] == [
        "UNKNOWN_MEMBER_ID", "NOT_LEADER_OR_FOLLOWER",
    ]  # fmt: skip
    assert refused_by_members(resets, GroupDescription("g")) is resets
