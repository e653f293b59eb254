"""Items whose broker changes while they are asked for, over sockets."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient, ConnectionLostError
from kafka_admin_proto.messages import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    MetadataRequest,
)
from kafka_admin_proto.messages.delete_groups_response import DeletableGroupResult
from kafka_admin_proto.messages.delete_records_response import (
    DeleteRecordsPartitionResult,
    DeleteRecordsTopicResult,
)
from kafka_admin_proto.messages.find_coordinator_response import Coordinator
from kafka_admin_proto.messages.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsTopicResponse,
)
from kafka_admin_proto.messages.metadata_response import (
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.admin.scripted_broker import CLOSE, ScriptedBroker, ScriptedCluster

GROUP_ID_NOT_FOUND, NOT_COORDINATOR = 69, 16


def _cluster(place: dict[str, int], answers: dict[int, list[Any]]) -> ScriptedCluster:
    """Brokers whose answers to DeleteGroups come from lists; after each, the group moves."""

    def find(request: Any, broker: ScriptedBroker) -> FindCoordinatorResponse:
        rows = [Coordinator(key, place["g"]) for key in request.coordinator_keys]
        return FindCoordinatorResponse(coordinators=rows)

    def delete(request: Any, broker: ScriptedBroker) -> Any:
        answer = answers[broker.id].pop(0)
        place["g"] = 3 - broker.id
        if answer is CLOSE:
            return CLOSE
        return DeleteGroupsResponse(results=[DeletableGroupResult("g", answer)])

    cluster = ScriptedCluster([1, 2])
    cluster.on(FindCoordinatorRequest, find)
    cluster.on(DeleteGroupsRequest, delete)
    return cluster


@pytest.mark.parametrize(
    ("first", "second", "error", "noted"),
    [
        (NOT_COORDINATOR, 0, None, False),
        (CLOSE, 0, None, False),
        (CLOSE, GROUP_ID_NOT_FOUND, "GROUP_ID_NOT_FOUND", True),
        (NOT_COORDINATOR, GROUP_ID_NOT_FOUND, "GROUP_ID_NOT_FOUND", False),
    ],
)
async def test_a_group_is_deleted_where_it_has_moved_to(
    first: Any, second: int, error: str | None, noted: bool
) -> None:
    async with (
        _cluster({"g": 1}, {1: [first], 2: [second]}) as cluster,
        AdminClient(cluster.bootstrap, timeout=10) as admin,
    ):
        (result,) = await admin.delete_groups(["g"])
        assert result.error == error
        assert ("earlier attempt" in (result.message or "")) == noted


async def test_a_broker_that_stays_away_is_the_error_when_the_time_is_over() -> None:
    async with (
        _cluster({"g": 1}, {1: [CLOSE] * 99, 2: [CLOSE] * 99}) as cluster,
        AdminClient(cluster.bootstrap, timeout=0.5) as admin,
    ):
        with pytest.raises(ConnectionLostError):
            await admin.delete_groups(["g"])


async def test_a_partition_is_asked_for_at_its_new_leader() -> None:
    """Broker 1 ends each connection that asks it, and broker 2 leads from then on."""
    leader = {"a": 1}

    cluster = ScriptedCluster([1, 2])
    metadata = cluster.handlers[MetadataRequest]

    def with_topic(request: Any, broker: ScriptedBroker) -> Any:
        answer = metadata(request, broker)
        partition = MetadataResponsePartition(leader_id=leader["a"], replica_nodes=[1, 2])
        answer.topics = [MetadataResponseTopic(name="a", partitions=[partition])]
        return answer

    def at_leader(answer: Any) -> Any:
        def handle(request: Any, broker: ScriptedBroker) -> Any:
            if broker.id == 1:
                leader["a"] = 2
                return CLOSE
            return answer

        return handle

    offset = ListOffsetsPartitionResponse(offset=7)
    listed = ListOffsetsResponse(topics=[ListOffsetsTopicResponse("a", [offset])])
    low = DeleteRecordsPartitionResult(low_watermark=5)
    deleted = DeleteRecordsResponse(topics=[DeleteRecordsTopicResult("a", [low])])
    cluster.on(MetadataRequest, with_topic)
    cluster.on(ListOffsetsRequest, at_leader(listed))
    cluster.on(DeleteRecordsRequest, at_leader(deleted))
    async with cluster, AdminClient(cluster.bootstrap, timeout=5) as admin:
        (found,) = await admin.list_offsets({("a", 0): "latest"})
        assert (found.offset, found.error) == (7, None)
        leader["a"] = 1
        (gone,) = await admin.delete_records({("a", 0): 5})
        assert (gone.low_watermark, gone.error) == (5, None)
