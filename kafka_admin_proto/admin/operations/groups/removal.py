"""Deleting groups, and removing members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.admin.operations.common.coordinators import KeyType, ask_coordinators
from kafka_admin_proto.admin.operations.common.failures import (
    Failure,
    answer_of,
    failure,
)
from kafka_admin_proto.admin.operations.groups.describing import describe_groups
from kafka_admin_proto.admin.operations.groups.model import (
    GroupResult,
    MemberToRemove,
    RemovedMember,
)
from kafka_admin_proto.messages.delete_groups_request import DeleteGroupsRequest
from kafka_admin_proto.messages.delete_groups_response import DeleteGroupsResponse
from kafka_admin_proto.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafka_admin_proto.messages.leave_group_response import LeaveGroupResponse
from kafka_admin_proto.protocol.error_codes import error_code
from kafka_admin_proto.schema.versions import VersionRange

#: Versions that name several members, with instance ids.
_MANY_MEMBERS = VersionRange.parse("3+")

_REASON = "removed by an admin client"


async def delete_groups(
    caller: Caller, groups: Sequence[str], timeout: float | None
) -> list[GroupResult]:
    async def ask(broker: int, mine: list[str], seconds: float) -> Mapping[str, GroupResult]:
        reply = await caller.call_owner(
            DeleteGroupsRequest(mine), DeleteGroupsResponse, to=broker, timeout=seconds
        )
        return {
            result.group_id: GroupResult(
                result.group_id, *failure(result.error_code, result.error_message)
            )
            for result in reply.body.results
        }

    def failed(group: str, why: Failure) -> GroupResult:
        return GroupResult(group, *why)

    return await ask_coordinators(
        caller,
        groups,
        KeyType.GROUP,
        ask,
        failed,
        timeout=timeout,
        error_when_done="GROUP_ID_NOT_FOUND",
    )


class _LeaveResult(msgspec.Struct, frozen=True):
    """Members that were asked to leave one group; ``error`` is that of the whole group."""

    members: Sequence[RemovedMember] = ()
    error: str | None = None
    message: str | None = None


async def remove_members(
    caller: Caller,
    group: str,
    members: Iterable[MemberToRemove] | None,
    reason: str | None,
    timeout: float | None,
) -> list[RemovedMember]:
    wanted = await _all_members(caller, group, timeout) if members is None else list(members)
    if not wanted:
        return []
    request = LeaveGroupRequest(
        group,
        members=[
            MemberIdentity(each.member_id, each.instance_id, reason or _REASON) for each in wanted
        ],
    )

    async def ask(broker: int, mine: list[str], seconds: float) -> Mapping[str, _LeaveResult]:
        reply = await caller.call_owner(
            request, LeaveGroupResponse, to=broker, timeout=seconds, versions=_MANY_MEMBERS
        )
        error, message = failure(reply.body.error_code)
        if error is not None:
            return {group: _LeaveResult((), error, message)}
        # By both ids: a broker may answer in an order of its own.
        codes = {
            (each.member_id, each.group_instance_id): each.error_code for each in reply.body.members
        }
        left = []
        for each in wanted:
            code = answer_of((each.member_id, each.instance_id), codes)
            left.append(RemovedMember(each.member_id, each.instance_id, *failure(code)))
        return {group: _LeaveResult(left)}

    def failed(group: str, why: Failure) -> _LeaveResult:
        return _LeaveResult((), *why)

    (left,) = await ask_coordinators(caller, [group], KeyType.GROUP, ask, failed, timeout=timeout)
    if left.error is not None:
        return [
            RemovedMember(each.member_id, each.instance_id, left.error, left.message)
            for each in wanted
        ]
    return list(left.members)


async def _all_members(caller: Caller, group: str, timeout: float | None) -> list[MemberToRemove]:
    """The members of a group, static ones by their instance ids. Raises BrokerError."""
    (description,) = await describe_groups(caller, [group], False, timeout)
    if description.error is not None:
        name = description.error
        # A code that is not known is its own name.
        code = int(name) if name.lstrip("-").isdigit() else error_code(name).code
        raise BrokerError(code, description.message, context=f"group {group!r}")
    return [
        MemberToRemove("" if each.instance_id else each.member_id, each.instance_id)
        for each in description.members
    ]
