"""DescribeGroups: the state and the members of groups of the classic protocol.

Versions: 1 a throttle time, 3 authorized operations (KIP-430), 4 static members, 5 flexible,
6 groups that are not there have an error (KIP-1043).
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeGroupsRequest
from kafka_admin_proto.messages.describe_groups_response import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.group import Group
from kafka_admin_proto.server.repeats import Repeats, rows_in
from kafka_admin_proto.server.security.authorizer.access import check_group, group_operations
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE

#: The first version that says that a group is not there.
_NO_GROUP = 6


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: DescribeGroupsRequest, caller: Caller) -> Answer:
    """Describe each group that the caller may describe."""
    rows = []
    repeats = Repeats("members of groups")
    for name in request.groups:
        try:
            check_group(state, caller, DESCRIBE, name)
            repeats.describe(name)
            shard = state.controller_state.coordinators.shard(state, caller, name)
        except ApiFailure as failure:
            rows.append(DescribedGroup(failure.code, group_id=name))
            continue
        group = shard.groups.get(name)
        if group is not None:
            row = _described(group, shows_unstable=state.release >= (4,))
            repeats.described(name, rows_in(row))
        else:
            row = DescribedGroup(group_id=name, group_state="Dead")
            if caller.version >= _NO_GROUP:
                row.error_code = codes.GROUP_ID_NOT_FOUND
                what = "is not a classic group" if shard.has_group(name) else "not found"
                row.error_message = f"Group {name} {what}."
        if request.include_authorized_operations and not row.error_code:
            row.authorized_operations = group_operations(state, caller, name)
        rows.append(row)
    return Answer(DescribeGroupsResponse(groups=rows))


def _described(group: Group, *, shows_unstable: bool) -> DescribedGroup:
    """What members have is shown once all have it; assignments are at any time since 4.0."""
    stable = group.state == "Stable"
    return DescribedGroup(
        group_id=group.name,
        group_state=group.state,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol or "") if stable else "",
        members=[
            DescribedGroupMember(
                each.id,
                each.instance_id,
                each.client_id,
                each.client_host,
                each.metadata(group.protocol) if stable else b"",
                each.assignment if stable or shows_unstable else b"",
            )
            for each in group.members.values()
        ],
    )
