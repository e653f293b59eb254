"""ListGroups: the cluster has no groups, since it stores no records.

Versions: 1 a throttle time, 2 nothing, 3 flexible, 4 states (KIP-518), 5 types (KIP-848).
"""

from __future__ import annotations

from kafka_admin_proto.messages.list_groups_request import ListGroupsRequest
from kafka_admin_proto.messages.list_groups_response import ListGroupsResponse
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.handlers import Answer, Caller


def handle(state: View, request: ListGroupsRequest, caller: Caller) -> Answer:
    """Answer as a broker that coordinates no group."""
    return Answer(ListGroupsResponse())
