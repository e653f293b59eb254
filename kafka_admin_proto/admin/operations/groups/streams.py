"""Members and topologies of streams groups."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.admin.operations.groups.model import (
    GroupMember,
    InternalTopic,
    StreamsMember,
    StreamsTasks,
    StreamsTopology,
    Subtopology,
    SubtopologyTasks,
)
from kafka_admin_proto.messages import StreamsGroupDescribeResponse
from kafka_admin_proto.protocol.addresses import Address


def read_member(member: StreamsGroupDescribeResponse.Member) -> GroupMember:
    """A member: its tasks are in ``streams``, for they name subtopologies and not topics."""
    endpoint = member.user_endpoint
    return GroupMember(
        member.member_id,
        member.client_id,
        member.client_host,
        instance_id=member.instance_id,
        rack=member.rack_id,
        epoch=member.member_epoch,
        streams=StreamsMember(
            member.topology_epoch,
            member.process_id,
            None if endpoint is None else str(Address(endpoint.host, endpoint.port)),
            {tag.key: tag.value for tag in member.client_tags},
            _tasks(member.assignment),
            _tasks(member.target_assignment),
            member.is_classic,
        ),
    )


def read_topology(topology: StreamsGroupDescribeResponse.Topology | None) -> StreamsTopology | None:
    """The topology of a group, None where it has none yet."""
    if topology is None:
        return None
    subtopologies = topology.subtopologies
    return StreamsTopology(
        topology.epoch,
        None
        if subtopologies is None
        else [
            Subtopology(
                each.subtopology_id,
                sorted(each.source_topics),
                sorted(each.repartition_sink_topics),
                _topics(each.state_changelog_topics),
                _topics(each.repartition_source_topics),
            )
            for each in sorted(subtopologies, key=lambda each: each.subtopology_id)
        ],
    )


def _tasks(assignment: StreamsGroupDescribeResponse.Assignment) -> StreamsTasks:
    return StreamsTasks(
        _of_subtopologies(assignment.active_tasks),
        _of_subtopologies(assignment.standby_tasks),
        _of_subtopologies(assignment.warmup_tasks),
    )


def _of_subtopologies(
    tasks: Sequence[StreamsGroupDescribeResponse.TaskIds],
) -> list[SubtopologyTasks]:
    return [
        SubtopologyTasks(each.subtopology_id, sorted(each.partitions))
        for each in sorted(tasks, key=lambda each: each.subtopology_id)
    ]


def _topics(topics: Sequence[StreamsGroupDescribeResponse.TopicInfo]) -> list[InternalTopic]:
    return [
        InternalTopic(
            each.name,
            each.partitions,
            each.replication_factor,
            {config.key: config.value for config in each.topic_configs},
        )
        for each in sorted(topics, key=lambda each: each.name)
    ]
