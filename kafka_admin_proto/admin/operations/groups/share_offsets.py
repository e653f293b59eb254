"""Where share groups begin to read (KIP-932): describe, alter, delete.

Its coordinator keeps a start offset for each partition: all records before it are done with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.operations.common.coordinators import KeyType, ask_coordinators
from kafka_admin_proto.admin.operations.common.failures import Failure, failure
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.operations.groups.altering import Altered, alter, altered
from kafka_admin_proto.admin.operations.groups.model import (
    AlteredOffset,
    DeletedShareOffsets,
    ShareOffset,
    ShareOffsets,
)
from kafka_admin_proto.messages import (
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponse,
)
from kafka_admin_proto.messages.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafka_admin_proto.messages.delete_share_group_offsets_request import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from kafka_admin_proto.messages.describe_share_group_offsets_request import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from kafka_admin_proto.messages.describe_share_group_offsets_response import (
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
)


class ShareStartOffsets(Caller):
    """DescribeShareGroupOffsets, AlterShareGroupOffsets and DeleteShareGroupOffsets."""

    async def list_share_group_offsets(
        self,
        groups: Mapping[str, Iterable[tuple[str, int]] | None],
        *,
        timeout: float | None = None,
    ) -> list[ShareOffsets]:
        """Where share groups begin to read (topic, partition) pairs, or with None all they read.

        Pairs that a group has not begun to read have None (KIP-932, KIP-1226). As coordinators
        answer, a name without a share group has no offsets, and no error.
        """
        of_topic = DescribeShareGroupOffsetsRequestTopic
        asked = {
            group: DescribeShareGroupOffsetsRequestGroup(
                group,
                None
                if partitions is None
                else [of_topic(topic, own) for topic, own in by_topic(partitions).items()],
            )
            for group, partitions in groups.items()
        }

        async def ask(broker: int, mine: list[str], seconds: float) -> Mapping[str, ShareOffsets]:
            reply = await self.call_owner(
                DescribeShareGroupOffsetsRequest([asked[group] for group in mine]),
                DescribeShareGroupOffsetsResponse,
                to=broker,
                timeout=seconds,
            )
            return {each.group_id: _offsets(each) for each in reply.body.groups}

        def failed(group: str, why: Failure) -> ShareOffsets:
            return ShareOffsets(group, (), **why)

        return await ask_coordinators(
            self, list(asked), KeyType.GROUP, ask, failed, timeout=timeout
        )

    async def alter_share_group_offsets(
        self, group: str, offsets: Mapping[tuple[str, int], int], *, timeout: float | None = None
    ) -> list[AlteredOffset]:
        """Let a share group begin at other offsets, by (topic, partition).

        What was delivered and not acknowledged of them is forgotten. A group with members answers
        NON_EMPTY_GROUP.
        """
        of_partition = AlterShareGroupOffsetsRequestPartition
        request = AlterShareGroupOffsetsRequest(
            group,
            [
                AlterShareGroupOffsetsRequestTopic(
                    topic, [of_partition(each, offsets[topic, each]) for each in own]
                )
                for topic, own in by_topic(offsets).items()
            ],
        )

        async def ask(broker: int, seconds: float) -> Altered[Partition]:
            reply = await self.call_owner(
                request, AlterShareGroupOffsetsResponse, to=broker, timeout=seconds
            )
            failures = {
                (topic.topic_name, each.partition_index): failure(
                    each.error_code, each.error_message
                )
                for topic in reply.body.responses
                for each in topic.partitions
            }
            return altered(failures, failure(reply.body.error_code, reply.body.error_message))

        outcomes = await alter(self, group, offsets, ask, timeout)
        return [AlteredOffset(*place, **why) for place, why in zip(offsets, outcomes, strict=True)]

    async def delete_share_group_offsets(
        self, group: str, topics: Iterable[str], *, timeout: float | None = None
    ) -> list[DeletedShareOffsets]:
        """Delete where a share group begins in topics: it begins anew as its configs say.

        A group with members answers NON_EMPTY_GROUP.
        """
        wanted = list(dict.fromkeys(topics))
        request = DeleteShareGroupOffsetsRequest(
            group, [DeleteShareGroupOffsetsRequestTopic(each) for each in wanted]
        )

        async def ask(broker: int, seconds: float) -> Altered[str]:
            reply = await self.call_owner(
                request, DeleteShareGroupOffsetsResponse, to=broker, timeout=seconds
            )
            failures = {
                each.topic_name: failure(each.error_code, each.error_message)
                for each in reply.body.responses
            }
            return altered(failures, failure(reply.body.error_code, reply.body.error_message))

        outcomes = await alter(self, group, wanted, ask, timeout)
        return [
            DeletedShareOffsets(topic, **why) for topic, why in zip(wanted, outcomes, strict=True)
        ]


def _offsets(group: DescribeShareGroupOffsetsResponseGroup) -> ShareOffsets:
    offsets = [
        ShareOffset(
            topic.topic_name,
            each.partition_index,
            None if each.start_offset < 0 else each.start_offset,
            None if each.start_offset < 0 else each.leader_epoch,
            None if each.lag < 0 else each.lag,
            **failure(each.error_code, each.error_message),
        )
        for topic in group.topics
        for each in topic.partitions
    ]
    offsets.sort(key=lambda each: (each.topic, each.partition))
    return ShareOffsets(group.group_id, offsets, **failure(group.error_code, group.error_message))
