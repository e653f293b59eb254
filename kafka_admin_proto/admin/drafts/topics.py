"""Creating, deleting, listing and describing topics by a draft's messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

import msgspec

from kafka_admin_proto.admin.alter.instructions import Duplicates, once_each
from kafka_admin_proto.admin.caller import call_deadline
from kafka_admin_proto.admin.drafts.caller import INTERNAL, DraftCaller
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import unanswered
from kafka_admin_proto.admin.operations.common.timeouts import waiting_time
from kafka_admin_proto.admin.operations.common.waiting import Missing, missing_partitions
from kafka_admin_proto.admin.operations.topics.creation import CreatedTopic, NewTopic, by_name
from kafka_admin_proto.admin.operations.topics.deletion import DeletedTopic
from kafka_admin_proto.admin.operations.topics.descriptions import (
    ListedTopic,
    TopicDescription,
    matcher,
)
from kafka_admin_proto.messages import MetadataRequest, MetadataResponse, kip_4a, kip_4b
from kafka_admin_proto.messages.kip_4b.create_topic_request import (
    ConfigEntry,
    CreateTopicRequestItem,
    ReplicaAssignment,
)
from kafka_admin_proto.schema.versions import VersionRange

_DELETE = {"kip-4a": kip_4a.DeleteTopicRequest, "kip-4b": kip_4b.DeleteTopicRequest}
#: TopicMetadata as it was before the drafts.
_FIRST = VersionRange(0, 0)
_NOTHING = -1
_ABSENT = "UNKNOWN_TOPIC_OR_PARTITION"


class DraftTopics(DraftCaller):
    """DeleteTopic and TopicMetadata v1."""

    async def delete_topics(
        self,
        names: Iterable[str] = (),
        *,
        topic_ids: Iterable[str | UUID] = (),
        if_exists: bool = False,
        duplicates: Duplicates = "refuse",
        timeout: float | None = None,
    ) -> list[DeletedTopic]:
        """As ``DeleteTopics.delete_topics``, by names alone."""
        if any(True for _ in topic_ids):
            raise InstructionError(f"{self.dialect} has no topic ids; name the topics")
        wanted = once_each(names, str, duplicates=duplicates, what="delete")
        if not wanted:
            return []
        timeout, deadline = waiting_time(self, timeout)
        answers = await self.ask_draft(_DELETE[self.dialect](wanted), deadline)
        results = {}
        for name in wanted:
            why = answers.get(name) or unanswered("topic")
            if if_exists and why["error"] == _ABSENT:
                why = why | {"error": None}
            results[name] = DeletedTopic(name=name, **why)
        if timeout > 0:
            results = await self.on_every_broker(results, _still_known, deadline)
        return list(results.values())

    async def list_topics(
        self,
        *,
        pattern: str | None = None,
        include_internal: bool = True,
        timeout: float | None = None,
    ) -> list[ListedTopic]:
        """As ``DescribeTopics.list_topics``, from an empty list of names.

        The admin schema has it asked with the first version of TopicMetadata, the topic commands
        know the next one alone.
        """
        deadline = call_deadline(self, timeout)
        matches = matcher(pattern)
        if self.dialect == "kip-4a":
            views = await self.topic_views([], deadline)
            counts = {name: len(each.partitions) for name, each in views.items()}
        else:
            await self.check_cluster(deadline)
            reply = await self.call(
                MetadataRequest(topics=[]), MetadataResponse,
                timeout=deadline.left, versions=_FIRST,
            )  # fmt: skip
            counts = {each.name or "": len(each.partitions) for each in reply.body.topics}
        return [
            ListedTopic(name, None, name in INTERNAL, counts[name])
            for name in sorted(counts)
            if matches(name) and (include_internal or name not in INTERNAL)
        ]

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
        """As ``DescribeTopics.describe_topics``; what the message does not have is empty or None.

        The topic commands' has no ISR, no lag and no configs; neither draft has ids, operations,
        leader epochs or replicas that are offline.
        """
        if any(True for _ in topic_ids) or authorized_operations:
            raise InstructionError(
                f"{self.dialect} has neither topic ids nor authorized operations"
            )
        deadline = call_deadline(self, timeout)
        if names is None:
            matches = matcher(pattern)
            views = await self.topic_views([], deadline)
            chosen = [
                views[name]
                for name in sorted(views)
                if matches(name) and (include_internal or not views[name].internal)
            ]
        elif pattern is not None:
            raise InstructionError("a pattern chooses among all topics; give names or a pattern")
        else:
            wanted = list(dict.fromkeys(names))
            views = await self.topic_views(wanted, deadline) if wanted else {}
            chosen = [views.get(name) or self.unknown(name) for name in wanted]
        return [_shown(each, lag=lag, configs=configs) for each in chosen]


class CreateDraftTopics(DraftCaller):
    """CreateTopic, which the admin schema alone has."""

    async def create_topics(
        self,
        topics: Iterable[NewTopic],
        *,
        timeout: float | None = None,
        validate_only: bool = False,
    ) -> list[CreatedTopic]:
        """As ``CreateTopics.create_topics``; raises InstructionError for what cannot be said."""
        wanted = by_name(topics)
        if validate_only:
            raise InstructionError(
                f"{self.dialect} has no request that only validates; leave it out"
            )
        if not wanted:
            return []
        request = kip_4b.CreateTopicRequest([_item(each) for each in wanted.values()])
        timeout, deadline = waiting_time(self, timeout)
        answers = await self.ask_draft(request, deadline)
        results = {}
        for name in wanted:
            results[name] = CreatedTopic(name=name, **(answers.get(name) or unanswered("topic")))
        if timeout > 0:

            def missing(name: str, topic: TopicDescription) -> Iterator[Missing]:
                assignment = wanted[name].assignment
                count = len(assignment) if assignment else wanted[name].partitions
                yield from lacking_partitions(name, topic, count)

            results = await self.on_every_broker(results, missing, deadline)
        return list(results.values())


def lacking_partitions(name: str, topic: TopicDescription, count: int) -> Iterator[Missing]:
    """``missing_partitions`` of a topic that a broker has described."""
    leaders = {each.partition: each.leader for each in topic.partitions}
    return missing_partitions(name, None if topic.error else leaders, count)


def _still_known(name: str, topic: TopicDescription) -> Iterator[Missing]:
    if topic.error is None:
        yield Missing(name, f"topic {name!r} is still known")


def _shown(topic: TopicDescription, *, lag: bool, configs: bool) -> TopicDescription:
    """The description without what was not asked for."""
    partitions = topic.partitions
    if not lag:
        partitions = [msgspec.structs.replace(each, lag=None) for each in partitions]
    return msgspec.structs.replace(
        topic, partitions=partitions, configs=topic.configs if configs else None
    )


def _item(topic: NewTopic) -> CreateTopicRequestItem:
    return CreateTopicRequestItem(
        topic_name=topic.name,
        partitions=topic.partitions,
        replicas=topic.replication_factor,
        replica_assignment=[
            ReplicaAssignment(partition, list(replicas))
            for partition, replicas in (topic.assignment or {}).items()
        ],
        config_entry=[ConfigEntry(key, value or "") for key, value in topic.configs.items()],
    )
