"""ConsumerGroupHeartbeat: a member of KIP-848's protocol comes, stays, and leaves.

Versions: 1 regular expressions, and ids that members make themselves (KIP-1082).
"""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.heartbeat import Beat, heartbeat
from kafka_admin_proto.server.groups.modern import LEAVES, LEAVES_FOR_NOW
from kafka_admin_proto.server.java import hash_order, trim
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_group
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE, READ

_OWN_IDS = 1
_FAILED = partial(ConsumerGroupHeartbeatResponse, 0)


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: ConsumerGroupHeartbeatRequest, caller: Caller) -> Answer:
    """Answer with what the member gets, when replicas have that."""
    try:
        check_protocol(state, caller)
        check_group(state, caller, READ, request.group_id)
        names = request.subscribed_topic_names or ()
        if len(allowed_topics(state, caller, DESCRIBE, names)) < len(set(names)):
            raise ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED)
        coordinators = state.controller_state.coordinators
        _check(request, caller.version, coordinators.limits(caller.node_id).assignors)
        shard = coordinators.shard(state, caller, request.group_id)
        reply = shard.reply(_FAILED)
        allowed = partial(allowed_topics, state, caller, DESCRIBE)
        host = f"/{caller.host}"
        heartbeat(shard, Beat(request, caller.client_id or "", host, allowed), reply)
    except ApiFailure as failure:
        return Answer(_FAILED(failure.code, failure.message))
    return answer_of(reply, ConsumerGroupHeartbeatResponse())


def check_protocol(state: View, caller: Caller) -> None:
    """Raises ApiFailure where the cluster has no groups of the consumer protocol."""
    protocols = state.broker_value("group.coordinator.rebalance.protocols", caller.node_id)
    if (
        state.release < (4,)
        or not state.cluster.features.get("group.version", 0)
        or "consumer" not in protocols
    ):
        raise ApiFailure(codes.UNSUPPORTED_VERSION)


def _check(request: ConsumerGroupHeartbeatRequest, version: int, assignors: list[str]) -> None:
    """Raises ApiFailure for a request that no member may send."""
    epoch = request.member_epoch
    if version >= _OWN_IDS or epoch > 0 or epoch == LEAVES:
        _check_text("MemberId", request.member_id)
    _check_text("GroupId", request.group_id)
    _check_text("InstanceId", request.instance_id)
    _check_text("RackId", request.rack_id)
    if epoch == 0:
        if request.rebalance_timeout_ms == -1:
            raise _invalid("RebalanceTimeoutMs must be provided in first request.")
        if request.topic_partitions is None or request.topic_partitions:
            raise _invalid("TopicPartitions must be empty when (re-)joining.")
        if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
            raise _invalid(
                "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when "
                "(re-)joining."
            )
    elif epoch == LEAVES_FOR_NOW:
        if request.instance_id is None:
            raise _invalid("InstanceId can't be null.")
    elif epoch < LEAVES_FOR_NOW:
        raise _invalid("MemberEpoch is invalid.")
    assignor = request.server_assignor
    if assignor is not None and assignor not in assignors:
        raise ApiFailure(
            codes.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {assignor} is not supported. Supported assignors: "
            f"{', '.join(hash_order(assignors))}.",
        )


def _check_text(name: str, text: str | None) -> None:
    if text is not None and not trim(text):
        raise _invalid(f"{name} can't be empty.")


def _invalid(text: str) -> ApiFailure:
    return ApiFailure(codes.INVALID_REQUEST, text)
