"""FindCoordinator: there is none, since nothing is produced or consumed here.

Versions: 1 types of keys and messages, 2 nothing, 3 flexible, 4 several keys (KIP-699),
5 nothing, 6 share groups (KIP-932).
"""

from __future__ import annotations

from kafka_admin_proto.messages.find_coordinator_request import FindCoordinatorRequest
from kafka_admin_proto.messages.find_coordinator_response import (
    Coordinator,
    FindCoordinatorResponse,
)
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import (
    COORDINATOR_NOT_AVAILABLE,
    INVALID_REQUEST,
    MALFORMED,
)
from kafka_admin_proto.server.handlers import Answer, Caller

_GROUP, _TRANSACTION, _SHARE = 0, 1, 2
_SEVERAL_KEYS = 4
_NOT_AVAILABLE = "The coordinator is not available."


def handle(state: View, request: FindCoordinatorRequest, caller: Caller) -> Answer:
    """COORDINATOR_NOT_AVAILABLE for each group and transaction, as before the first of them."""
    share = request.key_type == _SHARE
    if request.key_type in (_GROUP, _TRANSACTION) or (share and state.release < "4"):
        code, text = COORDINATOR_NOT_AVAILABLE, ""
    elif share:
        code, text = INVALID_REQUEST, ""
    else:
        code, text = INVALID_REQUEST, MALFORMED
    if caller.version >= _SEVERAL_KEYS:
        rows = [Coordinator(key, -1, "", -1, code, text) for key in request.coordinator_keys]
        return Answer(FindCoordinatorResponse(coordinators=rows))
    if caller.version >= 1:
        text = text or (_NOT_AVAILABLE if code == COORDINATOR_NOT_AVAILABLE else MALFORMED)
    return Answer(
        FindCoordinatorResponse(error_code=code, error_message=text, node_id=-1, host="", port=-1)
    )
