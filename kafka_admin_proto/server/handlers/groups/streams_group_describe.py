"""StreamsGroupDescribe: the state, the topology and the members of streams groups (KIP-1071).

Versions: 1 the assignor, and descriptions of topologies, which only a plugin keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from kafka_admin_proto.messages import StreamsGroupDescribeRequest
from kafka_admin_proto.messages.streams_group_describe_response import (
    Assignment,
    DescribedGroup,
    Endpoint,
    KeyValue,
    Member,
    StreamsGroupDescribeResponse,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.groups.descriptions import described_groups
from kafka_admin_proto.server.groups.streams.group import StreamsGroup
from kafka_admin_proto.server.groups.streams.members import (
    NO_TASKS,
    StreamsMember,
    Task,
    Tasks,
    by_subtopology,
)
from kafka_admin_proto.server.groups.streams.topology import InternalTopic, unexpected
from kafka_admin_proto.server.handlers.groups.streams_group_heartbeat import check_protocol
from kafka_admin_proto.server.java import hash_order

_ASSIGNOR = "sticky"
#: The status of descriptions where no plugin keeps them.
_NO_PLUGIN = 1


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: StreamsGroupDescribeRequest, caller: Caller) -> Answer:
    """Describe each group that the caller may describe, with all its topics."""
    rows = described_groups(
        state, caller, request,
        check=partial(check_protocol, state, caller),
        describe=lambda shard, name: _described(shard.streams_group(name)),
        topics=_topics,
        failed=DescribedGroup,
    )  # fmt: skip
    for row in rows if request.include_topology_description else ():
        row.topology_description_status = 0 if row.error_code else _NO_PLUGIN
    return Answer(StreamsGroupDescribeResponse(groups=rows))


def _topics(row: DescribedGroup) -> set[str]:
    """The names of all topics of the topology in a row."""
    subtopologies = [] if row.topology is None else row.topology.subtopologies or []
    return {
        name
        for each in subtopologies
        for name in (
            *each.source_topics,
            *each.repartition_sink_topics,
            *(one.name for one in each.repartition_source_topics),
            *(one.name for one in each.state_changelog_topics),
        )
    }


def _described(group: StreamsGroup) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.name,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        topology=_topology(group),
        members=[_member(group, each) for each in group.members.values()],
        assignor_name=_ASSIGNOR,
    )


def _topology(group: StreamsGroup) -> Topology:
    """The topology, with what its topics have once all are there. Raises ApiFailure."""
    known, configured = group.topology, group.configured
    if known is None:
        raise unexpected()
    if configured is not None and configured.problem is None:
        rows = [
            Subtopology(
                name,
                sorted(set(each.sources)),
                sorted(set(each.sinks)),
                _ready_topics(each.changelogs),
                _ready_topics(each.repartition),
            )
            for name, each in (configured.subtopologies or {}).items()
        ]
        return Topology(known.epoch, rows)
    rows = []
    for one in sorted(known.subtopologies, key=lambda one: one.subtopology_id):
        changelogs, repartition = (
            [
                TopicInfo(
                    topic.name,
                    topic.partitions,
                    topic.replication_factor,
                    [KeyValue(config.key, config.value) for config in topic.topic_configs],
                )
                for topic in sorted(topics, key=lambda topic: topic.name)
            ]
            for topics in (one.state_changelog_topics, one.repartition_source_topics)
        )
        rows.append(
            Subtopology(
                one.subtopology_id,
                sorted(one.source_topics),
                sorted(one.repartition_sink_topics),
                changelogs,
                repartition,
            )
        )
    return Topology(known.epoch, rows)


def _ready_topics(topics: Iterable[InternalTopic]) -> list[TopicInfo]:
    return [
        TopicInfo(
            each.name,
            each.partitions,
            each.factor,
            [KeyValue(key, each.configs[key]) for key in hash_order(each.configs)],
        )
        for each in sorted(topics, key=lambda each: each.name)
    ]


def _member(group: StreamsGroup, member: StreamsMember) -> Member:
    endpoint = member.endpoint
    return Member(
        member_id=member.id,
        member_epoch=member.epoch,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else Endpoint(endpoint.host, endpoint.port),
        client_tags=[KeyValue(key, member.tags[key]) for key in hash_order(member.tags)],
        task_offsets=_offsets(group.offsets.get(member.id, {})),
        task_end_offsets=_offsets(group.end_offsets.get(member.id, {})),
        assignment=_assignment(member.assigned),
        target_assignment=_assignment(group.target.get(member.id, NO_TASKS)),
    )


def _offsets(offsets: Mapping[Task, int]) -> list[TaskOffset]:
    return [TaskOffset(*task, offset) for task, offset in sorted(offsets.items())]


def _assignment(tasks: Tasks) -> Assignment:
    active, standby, warmup = (
        [TaskIds(*each) for each in by_subtopology(role).items()]
        for role in (tasks.active, tasks.standby, tasks.warmup)
    )
    return Assignment(active, standby, warmup)
