"""Committed offsets of groups: fetch, commit, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.operations.common.coordinators import KeyType, ask_coordinators
from kafka_admin_proto.admin.operations.common.failures import Failure, failure
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.operations.groups.altering import Altered, alter, altered
from kafka_admin_proto.admin.operations.groups.model import (
    AlteredOffset,
    GroupOffset,
    GroupOffsets,
    NewOffset,
)
from kafka_admin_proto.admin.retry import TRANSIENT
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import OffsetCommitResponse, OffsetDeleteResponse
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kafka_admin_proto.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
)
from kafka_admin_proto.schema.versions import VersionRange

#: Version 10 names topics by their ids alone. Before version 8 each group needs a request of its
#: own; 0 reads offsets from ZooKeeper, and only from 2 on can all partitions be asked for.
_FETCH_MANY = VersionRange(8, 9)
_FETCH_ONE, _FETCH_ONE_WHOLE, _FETCH_ONE_STABLE = (
    VersionRange(1, 7),
    VersionRange(2, 7),
    VersionRange(7, 7),
)
#: Version 0 writes offsets to ZooKeeper, 1 has a time for each, 10 names topics by their ids.
_COMMIT = VersionRange(2, 9)


class CommittedOffsets(Caller):
    """OffsetFetch, OffsetCommit and OffsetDelete."""

    async def list_group_offsets(
        self,
        groups: Mapping[str, Iterable[tuple[str, int]] | None],
        *,
        require_stable: bool = False,
        timeout: float | None = None,
    ) -> list[GroupOffsets]:
        """The committed offsets of groups: of (topic, partition) pairs, or with None of all.

        Pairs without a committed offset have None. ``require_stable`` waits for transactions that
        have offsets to commit, up to the timeout.
        """
        topics = {
            group: None if partitions is None else by_topic(partitions)
            for group, partitions in groups.items()
        }

        async def ask(broker: int, mine: list[str], seconds: float) -> Mapping[str, GroupOffsets]:
            try:
                return await _fetch_many(
                    self, broker, {group: topics[group] for group in mine}, require_stable, seconds
                )
            except UnsupportedVersionError:
                offsets = await asyncio.gather(
                    *(
                        _fetch_one(self, broker, group, topics[group], require_stable, seconds)
                        for group in mine
                    )
                )
                return dict(zip(mine, offsets, strict=True))

        def failed(group: str, why: Failure) -> GroupOffsets:
            return GroupOffsets(group, (), **why)

        return await ask_coordinators(
            self, list(groups), KeyType.GROUP, ask, failed, timeout=timeout
        )

    async def alter_group_offsets(
        self,
        group: str,
        offsets: Mapping[tuple[str, int], int | NewOffset],
        *,
        timeout: float | None = None,
    ) -> list[AlteredOffset]:
        """Commit offsets by (topic, partition) for a group without members.

        A group that does not exist is created. One with members answers UNKNOWN_MEMBER_ID.
        """
        values = {
            partition: NewOffset(offset) if isinstance(offset, int) else offset
            for partition, offset in offsets.items()
        }
        request = OffsetCommitRequest(
            group,
            topics=[
                OffsetCommitRequestTopic(
                    topic,
                    partitions=[
                        OffsetCommitRequestPartition(
                            partition,
                            value.offset,
                            -1 if value.leader_epoch is None else value.leader_epoch,
                            committed_metadata=value.metadata,
                        )
                        for partition, value in ((each, values[topic, each]) for each in partitions)
                    ],
                )
                for topic, partitions in by_topic(values).items()
            ],
        )

        async def ask(broker: int, seconds: float) -> Altered[Partition]:
            reply = await self.call_owner(
                request, OffsetCommitResponse, to=broker, timeout=seconds, versions=_COMMIT
            )
            return altered(
                {
                    (topic.name, each.partition_index): failure(each.error_code)
                    for topic in reply.body.topics
                    for each in topic.partitions
                }
            )

        found = await alter(self, group, values, ask, timeout)
        return [AlteredOffset(*place, **why) for place, why in zip(values, found, strict=True)]

    async def delete_group_offsets(
        self, group: str, partitions: Iterable[tuple[str, int]], *, timeout: float | None = None
    ) -> list[AlteredOffset]:
        """Delete committed offsets of (topic, partition) pairs.

        Those of topics that members are subscribed to stay: GROUP_SUBSCRIBED_TO_TOPIC.
        """
        wanted = list(dict.fromkeys(partitions))
        request = OffsetDeleteRequest(
            group,
            [
                OffsetDeleteRequestTopic(
                    topic, [OffsetDeleteRequestPartition(each) for each in own]
                )
                for topic, own in by_topic(wanted).items()
            ],
        )

        async def ask(broker: int, seconds: float) -> Altered[Partition]:
            reply = await self.call_owner(request, OffsetDeleteResponse, to=broker, timeout=seconds)
            failures = {
                (topic.name, each.partition_index): failure(each.error_code)
                for topic in reply.body.topics
                for each in topic.partitions
            }
            return altered(failures, failure(reply.body.error_code))

        outcomes = await alter(self, group, wanted, ask, timeout)
        return [AlteredOffset(*place, **why) for place, why in zip(wanted, outcomes, strict=True)]


async def _fetch_many(
    caller: Caller,
    broker: int,
    groups: Mapping[str, Mapping[str, Sequence[int]] | None],
    require_stable: bool,
    timeout: float,
) -> dict[str, GroupOffsets]:
    request = OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group,
                topics=None
                if topics is None
                else [
                    OffsetFetchRequestTopics(topic, partition_indexes=list(partitions))
                    for topic, partitions in topics.items()
                ],
            )
            for group, topics in groups.items()
        ],
        require_stable=require_stable,
    )
    reply = await caller.call_owner(
        request, OffsetFetchResponse, to=broker, timeout=timeout, versions=_FETCH_MANY
    )
    return {
        group.group_id: _offsets(
            group.group_id,
            [(topic.name, partition) for topic in group.topics for partition in topic.partitions],
            group.error_code,
        )
        for group in reply.body.groups
    }


async def _fetch_one(
    caller: Caller,
    broker: int,
    group: str,
    topics: Mapping[str, Sequence[int]] | None,
    require_stable: bool,
    timeout: float,
) -> GroupOffsets:
    request = OffsetFetchRequest(
        group,
        None
        if topics is None
        else [OffsetFetchRequestTopic(topic, list(each)) for topic, each in topics.items()],
        require_stable=require_stable,
    )
    versions = _FETCH_ONE_WHOLE if topics is None else _FETCH_ONE
    reply = await caller.call_owner(
        request,
        OffsetFetchResponse,
        to=broker,
        timeout=timeout,
        versions=_FETCH_ONE_STABLE if require_stable else versions,
    )
    found = [(topic.name, each) for topic in reply.body.topics for each in topic.partitions]
    return _offsets(group, found, reply.body.error_code)


def _offsets(
    group: str,
    partitions: Sequence[tuple[str, OffsetFetchResponsePartition | OffsetFetchResponsePartitions]],
    code: int,
) -> GroupOffsets:
    offsets = []
    for topic, row in sorted(partitions, key=lambda pair: (pair[0], pair[1].partition_index)):
        none = row.committed_offset < 0
        offsets.append(
            GroupOffset(
                topic,
                row.partition_index,
                None if none else row.committed_offset,
                None if row.committed_leader_epoch < 0 else row.committed_leader_epoch,
                None if none else row.metadata,
                **failure(row.error_code),
            )
        )
    why = failure(code)
    if why["error"] is None:
        # Before version 2 the error of the group is that of each partition.
        passing = [offset for offset in offsets if offset.error in TRANSIENT]
        if passing:
            why = Failure(error=passing[0].error, message=passing[0].message)
    return GroupOffsets(group, offsets, **why)
