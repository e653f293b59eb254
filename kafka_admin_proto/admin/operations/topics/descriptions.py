"""Listing and describing topics."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.errors import AdminError, InstructionError
from kafka_admin_proto.admin.operations.common.authorized_operations import operation_names
from kafka_admin_proto.admin.operations.common.failures import failure
from kafka_admin_proto.admin.operations.common.metadata import (
    all_metadata,
    metadata_of_ids,
    metadata_of_names,
    topic_id_text,
    topic_uuid,
)
from kafka_admin_proto.admin.operations.configs.overrides import read_overrides
from kafka_admin_proto.admin.operations.topics.replica_lag import ReplicaLag, lag_of_replicas
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.messages import MetadataResponse
from kafka_admin_proto.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from kafka_admin_proto.messages.describe_topic_partitions_response import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from kafka_admin_proto.protocol import api_keys, codes


class ListedTopic(msgspec.Struct, frozen=True):
    """A topic, with the number of its partitions. Brokers before 2.8 have no topic ids."""

    name: str
    topic_id: str | None
    internal: bool
    partitions: int


class PartitionDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One partition. Brokers are ids; the first replica is the preferred leader.

    ``leader`` is None where there is none. ``elr`` are eligible leader replicas and
    ``last_known_elr`` those before the last of them was lost; None where brokers do not have that
    (before 4.0, and with ZooKeeper). ``lag`` is there where it was asked for.
    """

    partition: int
    leader: int | None
    leader_epoch: int | None
    replicas: list[int]
    isr: list[int]
    offline: list[int]
    elr: list[int] | None = None
    last_known_elr: list[int] | None = None
    lag: list[ReplicaLag] | None = None
    error: str | None = None
    message: str | None = None


class TopicDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One topic. ``configs`` are those set for the topic itself, by name.

    ``configs`` and ``authorized_operations`` (Kafka's names) are None where they were not asked
    for, or where the client may not know them.
    """

    name: str | None
    topic_id: str | None = None
    internal: bool = False
    partitions: list[PartitionDescription] = []
    configs: dict[str, str | None] | None = None
    authorized_operations: list[str] | None = None
    error: str | None = None
    message: str | None = None


class DescribeTopics(Caller):
    """Metadata and DescribeTopicPartitions; neither of them ever creates a topic here."""

    async def list_topics(
        self,
        *,
        pattern: str | None = None,
        include_internal: bool = True,
        timeout: float | None = None,
    ) -> list[ListedTopic]:
        """The topics that the client may describe, by name.

        ``pattern`` is a regular expression of Python's that whole names match.
        """
        matches = matcher(pattern)
        return sorted(
            (
                ListedTopic(
                    topic.name,
                    topic_id_text(topic.topic_id),
                    topic.is_internal,
                    len(topic.partitions),
                )
                for topic in await all_metadata(self, timeout=timeout)
                if topic.name is not None
                and matches(topic.name)
                and (include_internal or not topic.is_internal)
            ),
            key=lambda topic: topic.name,
        )

    async def describe_topics(
        self,
        names: Iterable[str] | None = None,
        *,
        topic_ids: Iterable[str | UUID] = (),
        pattern: str | None = None,
        include_internal: bool = True,
        lag: bool = False,
        configs: bool = False,
        authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> list[TopicDescription]:
        """Describe topics by name, by id, or all that match a pattern; all of them without either.

        Topics that are named come in the order of the call, each unknown one with its error;
        others by name. ``pattern`` is a regular expression of Python's that whole names match; it
        and ``include_internal`` choose among all topics. ``lag`` asks the brokers of all replicas
        where their logs end; ``configs`` asks for what is set for the topics themselves.

        Where brokers have DescribeTopicPartitions, answers come in pages of 2,000 partitions. No
        topic is created, whatever the brokers' auto.create.topics.enable.
        """
        deadline = call_deadline(self, timeout)
        ids = [topic_uuid(each) for each in topic_ids]
        if names is None and not ids:
            topics = await _read(self, None, authorized_operations, deadline)
            matches = matcher(pattern)
            described = [
                topics[name]
                for name in sorted(topics)
                if matches(name) and (include_internal or not topics[name].internal)
            ]
        elif pattern is not None:
            raise InstructionError(
                "a pattern chooses among all topics; give names, ids or a pattern"
            )
        else:
            described = await _named(
                self, list(dict.fromkeys(names or ())), ids, authorized_operations, deadline
            )
        if configs:
            described = await _with_configs(self, described, deadline)
        if lag:
            described = await _with_lag(self, described, deadline)
        return described


async def _named(
    caller: Caller, names: list[str], ids: list[UUID], operations: bool, deadline: Deadline
) -> list[TopicDescription]:
    found = await metadata_of_ids(caller, ids, timeout=deadline.left)
    named = {id_: topic.name for id_, topic in found.items() if topic.name is not None}
    topics = await _read(caller, [*names, *named.values()], operations, deadline)
    unknown = failure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    by_name = [topics.get(name) or TopicDescription(name=name, **unknown) for name in names]
    # A topic that was deleted and created anew since then has the name and another id.
    by_id = [
        topics[named[each]]
        if each in named
        and named[each] in topics
        and topics[named[each]].topic_id in (topic_id_text(each), None)
        else _unknown_id(each)
        for each in dict.fromkeys(ids)
    ]
    return [*by_name, *by_id]


async def _read(
    caller: Caller, names: list[str] | None, operations: bool, deadline: Deadline
) -> dict[str, TopicDescription]:
    topics: dict[str, TopicDescription] = {}
    if names is not None and not names:
        return topics
    if api_keys.DESCRIBE_TOPIC_PARTITIONS in await caller.versions(
        Target.ANY, timeout=deadline.left
    ):
        for topic in (await read_pages(caller, names, deadline)).values():
            if topic.name is not None:
                topics[topic.name] = _described(topic, operations)
        return topics
    if names is None:
        everything = await all_metadata(
            caller, authorized_operations=operations, timeout=deadline.left
        )
        return {
            topic.name: _described(topic, operations)
            for topic in everything
            if topic.name is not None
        }
    answer = await metadata_of_names(
        caller, names, authorized_operations=operations, timeout=deadline.left
    )
    return {name: _described(topic, operations) for name, topic in answer.items()}


async def _with_configs(
    caller: Caller, topics: Sequence[TopicDescription], deadline: Deadline
) -> list[TopicDescription]:
    names = [each.name for each in topics if each.error is None and each.name is not None]
    overrides = await read_overrides(caller, names, timeout=deadline.left)
    return [
        msgspec.structs.replace(each, configs=overrides.get(each.name or "")) for each in topics
    ]


async def _with_lag(
    caller: Caller, topics: Sequence[TopicDescription], deadline: Deadline
) -> list[TopicDescription]:
    partitions = {
        (topic.name, each.partition): (each.leader, each.replicas)
        for topic in topics
        if topic.name is not None
        for each in topic.partitions
    }
    lags = await lag_of_replicas(caller, partitions, timeout=deadline.left)
    return [
        msgspec.structs.replace(
            topic,
            partitions=[
                msgspec.structs.replace(each, lag=lags.get((topic.name or "", each.partition)))
                for each in topic.partitions
            ],
        )
        for topic in topics
    ]


def matcher(pattern: str | None) -> Callable[[str], object]:
    """Truth for names that match as a whole; raises InstructionError for what is no pattern."""
    if pattern is None:
        return bool
    try:
        return re.compile(pattern).fullmatch
    except re.error as error:
        raise InstructionError(f"{pattern!r} is no regular expression: {error}") from None


def _unknown_id(topic_id: UUID) -> TopicDescription:
    return TopicDescription(
        name=None, topic_id=topic_id_text(topic_id), **failure(codes.UNKNOWN_TOPIC_ID)
    )


def _described(
    topic: MetadataResponse.MetadataResponseTopic | DescribeTopicPartitionsResponseTopic,
    operations: bool,
) -> TopicDescription:
    partitions: Sequence[
        MetadataResponse.MetadataResponsePartition | DescribeTopicPartitionsResponsePartition
    ] = topic.partitions
    return TopicDescription(
        name=topic.name,
        topic_id=topic_id_text(topic.topic_id),
        internal=topic.is_internal,
        partitions=[
            _partition(each) for each in sorted(partitions, key=lambda each: each.partition_index)
        ],
        authorized_operations=operation_names(topic.topic_authorized_operations)
        if operations
        else None,
        **failure(topic.error_code),
    )


def _partition(
    each: MetadataResponse.MetadataResponsePartition | DescribeTopicPartitionsResponsePartition,
) -> PartitionDescription:
    elr = last_known_elr = None
    if isinstance(each, DescribeTopicPartitionsResponsePartition):
        elr, last_known_elr = each.eligible_leader_replicas, each.last_known_elr
    return PartitionDescription(
        partition=each.partition_index,
        leader=each.leader_id if each.leader_id >= 0 else None,
        leader_epoch=each.leader_epoch if each.leader_epoch >= 0 else None,
        replicas=each.replica_nodes,
        isr=each.isr_nodes,
        offline=each.offline_replicas,
        elr=elr,
        last_known_elr=last_known_elr,
        **failure(each.error_code),
    )


#: Brokers' own limit by default (max.request.partition.size.limit): a larger one changes nothing.
_PARTITIONS_PER_PAGE = 2000


async def read_pages(
    caller: Caller, names: list[str] | None, deadline: Deadline
) -> dict[str, DescribeTopicPartitionsResponseTopic]:
    """These topics, or all of them, by name; a topic that two pages share is one here.

    Any broker goes on from another's cursor: it is a topic's name and a partition. A topic that is
    deleted between two of its pages is left out, or is in the last page with its error.
    """
    by_name: dict[str, DescribeTopicPartitionsResponseTopic] = {}
    topics = [TopicRequest(name=name) for name in sorted(set(names or ()))]
    cursor: Cursor | None = None
    while True:
        reply = await caller.call(
            DescribeTopicPartitionsRequest(
                topics=topics, response_partition_limit=_PARTITIONS_PER_PAGE, cursor=cursor
            ),
            DescribeTopicPartitionsResponse,
            timeout=deadline.left,
        )
        page = {topic.name: topic for topic in reply.body.topics if topic.name is not None}
        if cursor is not None:
            begun = by_name.pop(cursor.topic_name, None)
            rest = page.get(cursor.topic_name)
            if begun is not None and rest is not None and rest.error_code == 0:
                rest.partitions = [*begun.partitions, *rest.partitions]
        by_name |= page
        after = reply.body.next_cursor
        if after is None:
            return by_name
        place = after.topic_name, after.partition_index
        if cursor is not None and place <= (cursor.topic_name, cursor.partition_index):
            raise AdminError(
                f"broker {reply.broker} answers DescribeTopicPartitions with the cursor "
                f"{after.topic_name!r}, {after.partition_index} where it was asked from: the pages "
                "would have no end; describe the topics by name"
            )
        cursor = Cursor(topic_name=after.topic_name, partition_index=after.partition_index)
