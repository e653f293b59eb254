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
from kafka_admin_proto.server.authorizer.access import allows, allows_on_cluster
from kafka_admin_proto.server.authorizer.rules import (
    CLUSTER_ACTION,
    DESCRIBE,
    GROUP,
    TRANSACTIONAL_ID,
)
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import (
    CLUSTER_AUTHORIZATION_FAILED,
    COORDINATOR_NOT_AVAILABLE,
    GROUP_AUTHORIZATION_FAILED,
    INVALID_REQUEST,
    MALFORMED,
    NOT_AUTHORIZED,
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)
from kafka_admin_proto.server.handlers import Answer, Caller

_GROUP, _TRANSACTION, _SHARE = 0, 1, 2
_SEVERAL_KEYS = 4
_SHARE_GROUPS = 6
_TEXTS = {
    COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    INVALID_REQUEST: MALFORMED,
    **NOT_AUTHORIZED,
}


def handle(state: View, request: FindCoordinatorRequest, caller: Caller) -> Answer:
    """COORDINATOR_NOT_AVAILABLE for each group and transaction, as before the first of them.

    A caller who may not describe one has its error; share groups are for brokers.
    """
    share = request.key_type == _SHARE
    if request.key_type in (_GROUP, _TRANSACTION) or (share and state.release < "4"):
        code, text = COORDINATOR_NOT_AVAILABLE, ""
    elif share:
        code, text = INVALID_REQUEST, ""
    else:
        code, text = INVALID_REQUEST, MALFORMED
    if caller.version >= _SEVERAL_KEYS:
        if (
            share
            and caller.version >= _SHARE_GROUPS
            and not allows_on_cluster(state, caller, CLUSTER_ACTION)
        ):
            code, text = CLUSTER_AUTHORIZATION_FAILED, NOT_AUTHORIZED[CLUSTER_AUTHORIZATION_FAILED]
        rows = [
            Coordinator(key, -1, "", -1, _unauthorized(state, caller, request, key) or code, text)
            for key in request.coordinator_keys
        ]
        return Answer(FindCoordinatorResponse(coordinators=rows))
    code = _unauthorized(state, caller, request, request.key) or code
    if caller.version >= 1:
        text = text or _TEXTS[code]
    return Answer(
        FindCoordinatorResponse(error_code=code, error_message=text, node_id=-1, host="", port=-1)
    )


def _unauthorized(state: View, caller: Caller, request: FindCoordinatorRequest, key: str) -> int:
    """The error of a key that the caller may not describe; 0 where it may."""
    if request.key_type == _GROUP and not allows(state, caller, DESCRIBE, GROUP, key):
        return GROUP_AUTHORIZATION_FAILED
    if request.key_type == _TRANSACTION and not allows(
        state, caller, DESCRIBE, TRANSACTIONAL_ID, key
    ):
        return TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    return 0
