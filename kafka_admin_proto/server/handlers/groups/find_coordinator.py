"""FindCoordinator: the cluster has no coordinator, since it stores no records.

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
    CLUSTER_AUTHORIZATION_FAILED,
    COORDINATOR_NOT_AVAILABLE,
    GROUP_AUTHORIZATION_FAILED,
    INVALID_REQUEST,
    MALFORMED,
    NOT_AUTHORIZED,
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
)
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.java import parse_integer
from kafka_admin_proto.server.security.authorizer.access import allows, allows_on_cluster
from kafka_admin_proto.server.security.authorizer.rules import (
    CLUSTER_ACTION,
    DESCRIBE,
    GROUP,
    TRANSACTIONAL_ID,
)
from kafka_admin_proto.topic_ids import topic_id_from_text

_GROUP, _TRANSACTION, _SHARE = 0, 1, 2
_SEVERAL_KEYS = 4
_SHARE_GROUPS = 6
_TEXTS = {
    COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    INVALID_REQUEST: MALFORMED,
    **NOT_AUTHORIZED,
}


def handle(state: View, request: FindCoordinatorRequest, caller: Caller) -> Answer:
    """Answer COORDINATOR_NOT_AVAILABLE for each group and transaction, as a new cluster does.

    A caller who may not describe one gets its error; share groups are for brokers.
    """
    if caller.version >= _SEVERAL_KEYS:
        rows = []
        for key in request.coordinator_keys:
            code, text = _refusal(state, request.key_type, key, caller)
            rows.append(Coordinator(key, -1, "", -1, code, text))
        return Answer(FindCoordinatorResponse(coordinators=rows))
    code, _ = _refusal(state, request.key_type, request.key, caller)
    text = _TEXTS[code] if caller.version >= 1 else ""
    return Answer(
        FindCoordinatorResponse(error_code=code, error_message=text, node_id=-1, host="", port=-1)
    )


def _refusal(state: View, kind: int, key: str, caller: Caller) -> tuple[int, str]:
    """(error code, its message from version 4 on) of a key."""
    if kind == _GROUP and not allows(state, caller, DESCRIBE, GROUP, key):
        return GROUP_AUTHORIZATION_FAILED, ""
    if kind == _TRANSACTION and not allows(state, caller, DESCRIBE, TRANSACTIONAL_ID, key):
        return TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ""
    if kind == _SHARE:
        if caller.version < _SHARE_GROUPS:
            return INVALID_REQUEST, ""
        if not allows_on_cluster(state, caller, CLUSTER_ACTION):
            code = CLUSTER_AUTHORIZATION_FAILED
            return code, NOT_AUTHORIZED[code]
        if state.release >= "4" and not _is_share_key(key):  # 3.9 does not look
            return INVALID_REQUEST, ""
    if kind in (_GROUP, _TRANSACTION, _SHARE):
        return COORDINATOR_NOT_AVAILABLE, ""
    return INVALID_REQUEST, MALFORMED


def _is_share_key(key: str) -> bool:
    """Whether a key is "group:topic id:partition", as Kafka's ``SharePartitionKey``."""
    rest, _, partition = key.rpartition(":")
    group, _, topic_id = rest.rpartition(":")
    try:
        topic_id_from_text(topic_id)
        parse_integer(partition, 32)
    except ValueError:
        return False
    return bool(group.strip())
