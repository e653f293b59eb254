"""The refusals of the apis of share groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import (
    alter_share_group_offsets_request,
    delete_share_group_offsets_request,
    delete_share_group_state_request,
    describe_share_group_offsets_request,
    initialize_share_group_state_request,
    read_share_group_state_request,
    read_share_group_state_summary_request,
    share_acknowledge_request,
    share_fetch_request,
    write_share_group_state_request,
)
from kafka_admin_proto.values import Message
from tests.server.security.authorizer.case import Case


def share_cases(topic_id: UUID) -> Iterator[tuple[str, Case]]:
    """Nothing coordinates groups there (16), and there are no sessions."""

    def top(response: Any) -> list[int]:
        return [response.error_code]

    def groups(response: Any) -> list[int]:
        return [each.error_code for each in response.groups]

    def states(response: Any) -> list[int]:
        return [part.error_code for each in response.results for part in each.partitions]

    read, describe, delete = [("READ", "group")], [("DESCRIBE", "group")], [("DELETE", "group")]
    on_cluster = [("CLUSTER_ACTION", "cluster")]
    yield (
        "ShareGroupHeartbeat, the group",
        Case(m.ShareGroupHeartbeatRequest("g", "m", 1), read, 30, top, 16),
    )
    yield (
        "ShareGroupDescribe, the group",
        Case(m.ShareGroupDescribeRequest(["g"]), describe, 30, groups, 16),
    )
    fetched = share_fetch_request.FetchPartition(
        0, 0, [share_fetch_request.AcknowledgementBatch(0, 0, [1])]
    )
    yield "ShareFetch, the group", Case(
        m.ShareFetchRequest(
            "g", "m", 1, topics=[share_fetch_request.FetchTopic(topic_id, [fetched])]
        ),
        read, 30, top, 122,
    )  # fmt: skip
    acknowledged = share_acknowledge_request.AcknowledgePartition(
        0, [share_acknowledge_request.AcknowledgementBatch(0, 0, [1])]
    )
    yield "ShareAcknowledge, the group", Case(
        m.ShareAcknowledgeRequest(
            "g", "m", 1,
            topics=[share_acknowledge_request.AcknowledgeTopic(topic_id, [acknowledged])],
        ),
        read, 30, top, 122,
    )  # fmt: skip
    described = describe_share_group_offsets_request
    yield "DescribeShareGroupOffsets, the group", Case(
        m.DescribeShareGroupOffsetsRequest(
            [
                described.DescribeShareGroupOffsetsRequestGroup(
                    "g", [described.DescribeShareGroupOffsetsRequestTopic("a", [0])]
                )
            ]
        ),
        describe, 30, groups, 0,  # any broker describes partitions that are named
    )  # fmt: skip
    altered = alter_share_group_offsets_request
    row = altered.AlterShareGroupOffsetsRequestPartition(0, 0)
    yield "AlterShareGroupOffsets, the group", Case(
        m.AlterShareGroupOffsetsRequest(
            "g", [altered.AlterShareGroupOffsetsRequestTopic("a", [row])]
        ),
        read, 30, top, 16,
    )  # fmt: skip
    yield "DeleteShareGroupOffsets, the group", Case(
        m.DeleteShareGroupOffsetsRequest(
            "g", [delete_share_group_offsets_request.DeleteShareGroupOffsetsRequestTopic("a")]
        ),
        delete, 30, top, 16,
    )  # fmt: skip
    begun, kept = initialize_share_group_state_request, write_share_group_state_request
    gone, loaded = delete_share_group_state_request, read_share_group_state_request
    summed = read_share_group_state_summary_request
    batch = kept.StateBatch(0, 0, 0, 1)
    requests: list[Message] = [
        m.InitializeShareGroupStateRequest(
            "g", [begun.InitializeStateData(topic_id, [begun.PartitionData(0)])]
        ),
        m.ReadShareGroupStateRequest(
            "g", [loaded.ReadStateData(topic_id, [loaded.PartitionData(0)])]
        ),
        m.WriteShareGroupStateRequest(
            "g", [kept.WriteStateData(topic_id, [kept.PartitionData(0, state_batches=[batch])])]
        ),
        m.DeleteShareGroupStateRequest(
            "g", [gone.DeleteStateData(topic_id, [gone.PartitionData(0)])]
        ),
        m.ReadShareGroupStateSummaryRequest(
            "g", [summed.ReadStateSummaryData(topic_id, [summed.PartitionData(0)])]
        ),
    ]
    for request in requests:
        name = request.message_name.removesuffix("Request")
        yield name, Case(request, on_cluster, 31, states, 16)
