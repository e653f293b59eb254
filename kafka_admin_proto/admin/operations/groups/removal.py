"""Deleting groups, and removing members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.admin.operations.common.coordinators import KeyType, ask_coordinators
from kafka_admin_proto.admin.operations.common.failures import failure
from kafka_admin_proto.admin.operations.groups.altering import Altered, alter, altered
from kafka_admin_proto.admin.operations.groups.describing import DescribeGroups
from kafka_admin_proto.admin.operations.groups.model import (
    GroupResult,
    MemberToRemove,
    RemovedMember,
)
from kafka_admin_proto.messages import DeleteGroupsRequest, DeleteGroupsResponse, LeaveGroupResponse
from kafka_admin_proto.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafka_admin_proto.protocol.error_codes import error_code
from kafka_admin_proto.schema.versions import VersionRange

#: Versions that name several members, with instance ids.
_MANY_MEMBERS = VersionRange.parse("3+")

_REASON = "removed by an admin client"


class RemoveGroups(DescribeGroups):
    """DeleteGroups and LeaveGroup."""

    async def delete_groups(
        self, groups: Iterable[str], *, timeout: float | None = None
    ) -> list[GroupResult]:
        """Delete groups without members, and with them their offsets."""

        async def ask(broker: int, mine: list[str], seconds: float) -> Mapping[str, GroupResult]:
            reply = await self.call_owner(
                DeleteGroupsRequest(mine), DeleteGroupsResponse, to=broker, timeout=seconds
            )
            return {
                result.group_id: GroupResult(
                    result.group_id, **failure(result.error_code, result.error_message)
                )
                for result in reply.body.results
            }

        return await ask_coordinators(
            self,
            list(groups),
            KeyType.GROUP,
            ask,
            lambda group, why: GroupResult(group, **why),
            timeout=timeout,
            error_when_done="GROUP_ID_NOT_FOUND",
        )

    async def remove_group_members(
        self,
        group: str,
        members: Iterable[MemberToRemove] | None = None,
        *,
        reason: str | None = None,
        timeout: float | None = None,
    ) -> list[RemovedMember]:
        """Make members leave a group; all of them by default. They may join again.

        ``reason`` is for the coordinator's log. Raises BrokerError where all were asked for and
        the group cannot be described.
        """
        wanted = await self._all_members(group, timeout) if members is None else list(members)
        if not wanted:
            return []
        request = LeaveGroupRequest(
            group,
            members=[
                MemberIdentity(each.member_id, each.instance_id, reason or _REASON)
                for each in wanted
            ],
        )

        async def ask(broker: int, seconds: float) -> Altered[tuple[str, str | None]]:
            reply = await self.call_owner(
                request, LeaveGroupResponse, to=broker, timeout=seconds, versions=_MANY_MEMBERS
            )
            # By both ids: a broker may answer in an order of its own.
            failures = {
                (each.member_id, each.group_instance_id): failure(each.error_code)
                for each in reply.body.members
            }
            return altered(failures, failure(reply.body.error_code))

        ids = [(each.member_id, each.instance_id) for each in wanted]
        outcomes = await alter(self, group, ids, ask, timeout)
        return [RemovedMember(*id_, **why) for id_, why in zip(ids, outcomes, strict=True)]

    async def _all_members(self, group: str, timeout: float | None) -> list[MemberToRemove]:
        """The members of a group, static ones by their instance ids. Raises BrokerError."""
        (description,) = await self.describe_groups([group], timeout=timeout)
        if description.error is not None:
            name = description.error
            # A code that is not known is its own name.
            code = int(name) if name.lstrip("-").isdigit() else error_code(name).code
            raise BrokerError(code, description.message, about={"group": group})
        return [
            MemberToRemove("" if each.instance_id else each.member_id, each.instance_id)
            for each in description.members
        ]
