"""Members of groups of each type, joined by requests of our own codecs.

No consumer runs: a member stays until its session is over, which is longer than a test.
"""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

from kafka_admin_proto.admin import AdminClient
from kafka_admin_proto.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    FindCoordinatorRequest,
    JoinGroupRequest,
    ShareGroupHeartbeatRequest,
    StreamsGroupHeartbeatRequest,
    SyncGroupRequest,
)
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.messages.streams_group_heartbeat_request import (
    Subtopology,
    TaskIds,
    Topology,
)
from kafka_admin_proto.messages.sync_group_request import SyncGroupRequestAssignment

SESSION_MS = 45_000
#: A minute in all: a cluster's first group waits until the topic of offsets is there and loaded.
_ATTEMPTS, _PAUSE_S = 300, 0.2
#: COORDINATOR_LOAD_IN_PROGRESS and COORDINATOR_NOT_AVAILABLE.
_LOADING = (14, 15)


async def coordinator(admin: AdminClient, group: str) -> int:
    """The broker; a cluster's first group waits for the topic of offsets."""
    for _ in range(_ATTEMPTS):
        response: Any = await admin.send(FindCoordinatorRequest(group), version=2)
        if response.error_code == 0:
            return int(response.node_id)
        await asyncio.sleep(_PAUSE_S)
    raise AssertionError(f"no coordinator of {group}: {response}")


async def join_classic(
    admin: AdminClient, group: str, topic: str, *, instance_id: str | None = None
) -> str:
    """Join as the only member, assigned to the partitions 0 and 1; gives the member's id."""
    broker = await coordinator(admin, group)
    metadata = b"\0\3" + ConsumerProtocolSubscription([topic], rack_id="west").encode(3)
    join = JoinGroupRequest(
        group, SESSION_MS, SESSION_MS, "", instance_id, "consumer",
        [JoinGroupRequestProtocol("range", metadata)],
    )  # fmt: skip
    for _ in range(_ATTEMPTS):
        joined: Any = await admin.send(join, broker=broker, version=5)
        join.member_id = joined.member_id
        if joined.error_code == 0:
            break
        await asyncio.sleep(_PAUSE_S)
    assert joined.error_code == 0, joined
    partition = ConsumerProtocolAssignment.TopicPartition
    assignment = b"\0\3" + ConsumerProtocolAssignment([partition(topic, [0, 1])]).encode(3)
    synced: Any = await admin.send(
        SyncGroupRequest(
            group, joined.generation_id, joined.member_id, instance_id,
            assignments=[SyncGroupRequestAssignment(joined.member_id, assignment)],
        ),
        broker=broker,
        version=3,
    )  # fmt: skip
    assert synced.error_code == 0, synced
    return str(joined.member_id)


async def join_consumer(admin: AdminClient, group: str, topic: str) -> str:
    """Join a group of KIP-848 until all partitions are assigned."""
    member = str(uuid4())
    request = ConsumerGroupHeartbeatRequest(
        group, member, 0, rack_id="west", rebalance_timeout_ms=SESSION_MS,
        subscribed_topic_names=[topic], topic_partitions=[],
    )  # fmt: skip
    await _beat(admin, group, request)
    return member


async def join_share(admin: AdminClient, group: str, topic: str) -> str:
    """Join a share group until partitions are assigned."""
    member = str(uuid4())
    request = ShareGroupHeartbeatRequest(group, member, 0, "west", [topic])
    await _beat(admin, group, request)
    return member


async def join_streams(admin: AdminClient, group: str, topic: str) -> str:
    """Join a streams group whose topology has one subtopology that reads the topic."""
    member = str(uuid4())
    request = StreamsGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        member_epoch=0,
        endpoint_information_epoch=-1,
        rebalance_timeout_ms=SESSION_MS,
        topology=Topology(1, [Subtopology("0", [topic])]),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id=str(UUID(int=7)),
        client_tags=[],
    )
    await _beat(admin, group, request)
    return member


async def _beat(admin: AdminClient, group: str, request: Any) -> None:
    """Send heartbeats, and own what is assigned, until there is an assignment."""
    broker = await coordinator(admin, group)
    has_some = False
    for _ in range(_ATTEMPTS):
        response: Any = await admin.send(request, broker=broker)
        if response.error_code in _LOADING:
            await asyncio.sleep(_PAUSE_S)
            continue
        assert response.error_code == 0, response
        has_some = has_some or _own(request, response)
        request.member_epoch = response.member_epoch
        if isinstance(request, StreamsGroupHeartbeatRequest):
            request.topology = None
        if has_some and response.member_epoch > 0:
            await admin.send(request, broker=broker)
            return
        await asyncio.sleep(_PAUSE_S)
    raise AssertionError(f"nothing was assigned to {group}: {response}")


def _own(request: Any, response: Any) -> bool:
    """Report an assignment as owned; False without one."""
    if isinstance(request, StreamsGroupHeartbeatRequest):
        if not response.active_tasks:
            return False
        request.active_tasks = [
            TaskIds(each.subtopology_id, each.partitions) for each in response.active_tasks
        ]
        request.standby_tasks = request.warmup_tasks = []
        return True
    if response.assignment is None or not response.assignment.topic_partitions:
        return False
    if isinstance(request, ConsumerGroupHeartbeatRequest):
        request.topic_partitions = [
            ConsumerGroupHeartbeatRequest.TopicPartitions(each.topic_id, each.partitions)
            for each in response.assignment.topic_partitions
        ]
    return True
