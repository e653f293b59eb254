"""ListGroups: the groups that the broker coordinates.

Versions: 1 a throttle time, 2 nothing, 3 flexible, 4 states (KIP-518), 5 types (KIP-848).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_admin_proto.messages import ListGroupsRequest
from kafka_admin_proto.messages.list_groups_response import ListedGroup, ListGroupsResponse
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.security.authorizer.access import allows, allows_on_cluster
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE, GROUP

#: The state whose name in a filter is not the one in small letters.
_NAMES = {"NotReady": "not_ready"}


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: ListGroupsRequest, caller: Caller) -> Answer:
    """List the groups of some states and types, or all, that the caller may describe."""
    states = {each.lower() for each in request.states_filter}
    types = {each.lower() for each in request.types_filter}
    everything = allows_on_cluster(state, caller, DESCRIBE)
    rows = [
        row
        for shard in state.controller_state.coordinators.shards(state, caller)
        for row in _rows(shard)
        if (not states or _NAMES.get(row.group_state, row.group_state.lower()) in states)
        and (not types or row.group_type in types)
        and (everything or allows(state, caller, DESCRIBE, GROUP, row.group_id))
    ]
    return Answer(ListGroupsResponse(groups=rows))


def _rows(shard: Shard) -> Iterator[ListedGroup]:
    for each in shard.groups.values():
        yield ListedGroup(each.name, each.protocol_type or "", each.state, "classic")
    for group in shard.modern_groups:
        yield ListedGroup(group.name, group.kind, group.state, group.kind)
