"""StreamsGroupHeartbeat: a member of a streams group comes, stays, and leaves (KIP-1071).

Versions: 1 the status of missing tags, and a lag of 64 bits.
"""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages import StreamsGroupHeartbeatResponse
from kafka_admin_proto.messages.streams_group_heartbeat_request import (
    StreamsGroupHeartbeatRequest,
    Topology,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.modern import LEAVES_FOR_NOW
from kafka_admin_proto.server.groups.streams.beat import Beat
from kafka_admin_proto.server.groups.streams.creation import create_missing
from kafka_admin_proto.server.groups.streams.heartbeat import heartbeat
from kafka_admin_proto.server.java import trim
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_group
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE, READ
from kafka_admin_proto.server.topics.names import INTERNAL, is_valid

_FAILED = partial(StreamsGroupHeartbeatResponse, 0)


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: StreamsGroupHeartbeatRequest, caller: Caller) -> Answer:
    """Answer with what the member gets, when replicas have that.

    Topics that its application lacks are created with its rights.
    """
    name = request.group_id
    try:
        check_protocol(state, caller)
        check_group(state, caller, READ, name)
        if request.topology is not None:
            _check_topics(state, caller, request.topology)
        _check(request)
        shard = state.controller_state.coordinators.shard(state, caller, name)
        reply = shard.reply(_FAILED)
        beat = Beat(request, caller.version, caller.client_id or "", f"/{caller.host}")
        response, missing = heartbeat(shard, beat, reply)
    except ApiFailure as failure:
        return Answer(_FAILED(failure.code, failure.message))
    records = create_missing(state, caller, name, missing, response) if missing else []
    answer = answer_of(reply, StreamsGroupHeartbeatResponse())
    answer.records = records
    return answer


def check_protocol(state: View, caller: Caller) -> None:
    """Raises ApiFailure where the cluster has no streams groups."""
    protocols = state.broker_value("group.coordinator.rebalance.protocols", caller.node_id)
    if not state.cluster.features.get("streams.version", 0) or "streams" not in protocols:
        raise ApiFailure(codes.UNSUPPORTED_VERSION)


def _check_topics(state: View, caller: Caller, topology: Topology) -> None:
    """Raises ApiFailure for topics that no application may have, or not that of this caller."""
    rows = (
        name
        for each in topology.subtopologies
        for name in (
            *each.source_topics,
            *each.repartition_sink_topics,
            *(one.name for one in each.repartition_source_topics),
            *(one.name for one in each.state_changelog_topics),
        )
    )
    names = list(dict.fromkeys(rows))
    internal = [name for name in names if name in INTERNAL]
    if internal:
        raise ApiFailure(
            codes.STREAMS_INVALID_TOPOLOGY,
            f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is "
            "prohibited.",
        )
    invalid = [name for name in names if not is_valid(name)]
    if invalid:
        raise ApiFailure(
            codes.STREAMS_INVALID_TOPOLOGY,
            f"Topic names {','.join(invalid)} are not valid topic names.",
        )
    if len(allowed_topics(state, caller, DESCRIBE, names)) < len(names):
        raise ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED)


def _check(request: StreamsGroupHeartbeatRequest) -> None:
    """Raises ApiFailure for a request that no member may send."""
    epoch, topology = request.member_epoch, request.topology
    subtopologies = [] if topology is None else topology.subtopologies
    if any(each.source_topic_regex for each in subtopologies):
        raise _invalid("Regular expressions for source topics are not supported yet.")
    for name, text in (
        ("MemberId", request.member_id),
        ("GroupId", request.group_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
    ):
        if text is not None and not trim(text):
            raise _invalid(f"{name} can't be empty.")
    roles = {
        "ActiveTasks": request.active_tasks,
        "StandbyTasks": request.standby_tasks,
        "WarmupTasks": request.warmup_tasks,
    }
    if epoch == 0:
        if request.rebalance_timeout_ms == -1:
            raise _invalid("RebalanceTimeoutMs must be provided in first request.")
        for name, rows in roles.items():
            if rows is None or rows:
                raise _invalid(f"{name} must be empty when (re-)joining.")
        if topology is None:
            raise _invalid("Topology must be non-null when (re-)joining.")
        for topic in (one for each in subtopologies for one in each.state_changelog_topics):
            if topic.partitions:
                raise ApiFailure(
                    codes.STREAMS_INVALID_TOPOLOGY,
                    f"Changelog topic {topic.name} must have an undefined partition count, but it "
                    f"is set to {topic.partitions}.",
                )
    elif epoch == LEAVES_FOR_NOW:
        if request.instance_id is None:
            raise _invalid("InstanceId can't be null.")
    elif epoch < LEAVES_FOR_NOW:
        raise _invalid(f"MemberEpoch is {epoch}, but must be greater than or equal to -2.")
    if any(rows is None for rows in roles.values()) and any(
        rows is not None for rows in roles.values()
    ):
        raise _invalid("If one task-type is non-null, all must be non-null.")
    if epoch != 0 and topology is not None:
        raise _invalid("Topology can only be provided when (re-)joining.")


def _invalid(text: str) -> ApiFailure:
    return ApiFailure(codes.INVALID_REQUEST, text)
