"""FindCoordinator: the broker that coordinates a group or a transactional id.

Versions: 1 types of keys and messages, 2 nothing, 3 flexible, 4 several keys (KIP-699),
5 nothing, 6 share groups (KIP-932).
"""

from __future__ import annotations

from kafka_admin_proto.messages import FindCoordinatorRequest
from kafka_admin_proto.messages.find_coordinator_response import (
    Coordinator,
    FindCoordinatorResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.routing import partition_of
from kafka_admin_proto.server.failures import MALFORMED, NOT_AUTHORIZED, NOT_COORDINATING
from kafka_admin_proto.server.java import parse_integer
from kafka_admin_proto.server.security.authorizer.access import allows, allows_on_cluster
from kafka_admin_proto.server.security.authorizer.rules import (
    CLUSTER_ACTION,
    DESCRIBE,
    GROUP,
    TRANSACTIONAL_ID,
)
from kafka_admin_proto.server.topics.auto_creation import created_topics
from kafka_admin_proto.server.topics.names import (
    CONSUMER_OFFSETS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
)
from kafka_admin_proto.topic_ids import topic_id_from_text
from kafka_admin_proto.values import Message

_GROUP, _TRANSACTION, _SHARE = 0, 1, 2
#: The topic whose leaders coordinate keys of a kind.
_TOPICS = {_GROUP: CONSUMER_OFFSETS, _TRANSACTION: TRANSACTION_STATE, _SHARE: SHARE_GROUP_STATE}
_SEVERAL_KEYS = 4
_SHARE_GROUPS = 6
_TEXTS = {
    codes.NONE: "NONE",
    **NOT_COORDINATING,
    codes.INVALID_REQUEST: MALFORMED,
    **NOT_AUTHORIZED,
}


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: FindCoordinatorRequest, caller: Caller) -> Answer:
    """Name the leader of each key's partition; the topic is created when a key is first looked for.

    A caller who may not describe one gets its error; share groups are for brokers.
    """
    several = caller.version >= _SEVERAL_KEYS
    keys = request.coordinator_keys if several else [request.key]
    rows = [_row(state, request.key_type, key, caller) for key in keys]
    records: list[Message] = []
    name = _TOPICS.get(request.key_type)
    if (
        name is not None
        and state.topic(name) is None
        and any(each.error_code == codes.COORDINATOR_NOT_AVAILABLE for each in rows)
    ):
        records = created_topics(state, [name], caller)
    if several:
        return Answer(FindCoordinatorResponse(coordinators=rows), records)
    (row,) = rows
    response = FindCoordinatorResponse(
        error_code=row.error_code,
        error_message=_TEXTS[row.error_code] if caller.version >= 1 else "",
        node_id=row.node_id,
        host=row.host,
        port=row.port,
    )
    return Answer(response, records)


def _row(state: View, kind: int, key: str, caller: Caller) -> Coordinator:
    """The coordinator of a key, or why none is named."""
    code, text = _refusal(state, kind, key, caller)
    if kind in _TOPICS and code == codes.COORDINATOR_NOT_AVAILABLE:
        topic = state.topic(_TOPICS[kind])
        if topic is not None:
            leader = topic.partitions[partition_of(key, len(topic.partitions))].leader
            broker = state.cluster.brokers.get(leader)
            if broker is not None and not broker.fenced:
                there = broker.endpoints[caller.listener]
                return Coordinator(key, leader, there.host, there.port, 0, "")
    return Coordinator(key, -1, "", -1, code, text)


def _refusal(state: View, kind: int, key: str, caller: Caller) -> tuple[int, str]:
    """(error code, its message from version 4 on) of a key."""
    if kind == _GROUP and not allows(state, caller, DESCRIBE, GROUP, key):
        return codes.GROUP_AUTHORIZATION_FAILED, ""
    if kind == _TRANSACTION and not allows(state, caller, DESCRIBE, TRANSACTIONAL_ID, key):
        return codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ""
    if kind == _SHARE:
        if caller.version < _SHARE_GROUPS:
            return codes.INVALID_REQUEST, ""
        if not allows_on_cluster(state, caller, CLUSTER_ACTION):
            code = codes.CLUSTER_AUTHORIZATION_FAILED
            return code, NOT_AUTHORIZED[code] if state.release >= (4,) else ""
        if state.release >= (4,) and not _is_share_key(key):  # 3.9 does not look
            return codes.INVALID_REQUEST, ""
    if kind in (_GROUP, _TRANSACTION, _SHARE):
        return codes.COORDINATOR_NOT_AVAILABLE, ""
    return codes.INVALID_REQUEST, MALFORMED


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
