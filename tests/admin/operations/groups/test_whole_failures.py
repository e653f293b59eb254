"""A group that fails as a whole: none of its items was altered, whatever their rows say."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.admin.operations.groups import GroupOperations
from kafka_admin_proto.admin.operations.groups.model import MemberToRemove
from kafka_admin_proto.messages import alter_share_group_offsets_response as altered
from kafka_admin_proto.messages import delete_share_group_offsets_response as forgotten
from kafka_admin_proto.messages import leave_group_response as left
from kafka_admin_proto.messages import offset_delete_response as deleted
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import FakeCaller
from tests.admin.operations.common.coordinators import find_coordinator


class _Client(GroupOperations, FakeCaller):
    """A coordinator that gives one answer."""

    def __init__(self, request: type[Message], answer: Message) -> None:
        super().__init__({m.FindCoordinatorRequest: find_coordinator, request: lambda *_: answer})


_LISTED = [
    (
        m.OffsetDeleteRequest,
        lambda codes_: deleted.OffsetDeleteResponse(
            codes.NON_EMPTY_GROUP,
            topics=[
                deleted.OffsetDeleteResponseTopic(
                    "t",
                    [deleted.OffsetDeleteResponsePartition(*each) for each in enumerate(codes_)],
                )
            ],
        ),
        lambda client: client.delete_group_offsets("g", [("t", 0), ("t", 1)]),
    ),
    (
        m.AlterShareGroupOffsetsRequest,
        lambda codes_: altered.AlterShareGroupOffsetsResponse(
            0, codes.NON_EMPTY_GROUP, "why",
            [
                altered.AlterShareGroupOffsetsResponseTopic(
                    "t",
                    partitions=[
                        altered.AlterShareGroupOffsetsResponsePartition(*each)
                        for each in enumerate(codes_)
                    ],
                )
            ],
        ),
        lambda client: client.alter_share_group_offsets("g", {("t", 0): 1, ("t", 1): 1}),
    ),
    (
        m.DeleteShareGroupOffsetsRequest,
        lambda codes_: forgotten.DeleteShareGroupOffsetsResponse(
            0, codes.NON_EMPTY_GROUP, "why",
            [
                forgotten.DeleteShareGroupOffsetsResponseTopic(f"t{index}", error_code=code)
                for index, code in enumerate(codes_)
            ],
        ),
        lambda client: client.delete_share_group_offsets("g", ["t0", "t1"]),
    ),
    (
        m.LeaveGroupRequest,
        lambda codes_: left.LeaveGroupResponse(
            error_code=codes.NON_EMPTY_GROUP,
            members=[left.MemberResponse(f"m{index}", None, code)
                     for index, code in enumerate(codes_)],
        ),
        lambda client: client.remove_group_members(
            "g", [MemberToRemove("m0"), MemberToRemove("m1")]
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize("rows", [(), (0,), (0, 0), (0, codes.TOPIC_AUTHORIZATION_FAILED)])
@pytest.mark.parametrize(
    ("request_", "answer", "ask"), _LISTED, ids=[each[0].__name__ for each in _LISTED]
)
def test_no_item_of_a_group_that_fails_is_done(
    request_: type[Message],
    answer: Callable[[Sequence[int]], Message],
    ask: Callable[[_Client], Awaitable[Any]],
    rows: Sequence[int],
) -> None:
    async def asked() -> Any:
        return await ask(_Client(request_, answer(rows)))

    assert [each.error for each in asyncio.run(asked())] == ["NON_EMPTY_GROUP"] * 2
