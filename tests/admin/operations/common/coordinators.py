"""FindCoordinator for a fake cluster: a key's coordinator follows from its length."""

from __future__ import annotations

from kafka_admin_proto.messages import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_admin_proto.messages.find_coordinator_response import Coordinator
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call


def coordinator_of(key: str) -> int:
    """The coordinator's broker, 1 to 3."""
    return 1 + len(key) % 3


def find_coordinator(request: Message, call: Call) -> Message:
    """Both forms of the request."""
    assert isinstance(request, FindCoordinatorRequest)
    if call.version < 4:
        return FindCoordinatorResponse(node_id=coordinator_of(request.key))
    return FindCoordinatorResponse(
        coordinators=[Coordinator(key, coordinator_of(key)) for key in request.coordinator_keys]
    )
