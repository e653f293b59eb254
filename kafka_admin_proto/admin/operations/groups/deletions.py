"""Planning which committed offsets of a group are deleted, as kafka-consumer-groups.sh does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.admin.operations.groups.lag import SHARE, LagOperations, group_failure
from kafka_admin_proto.admin.operations.groups.model import AlteredOffset, DeletedShareOffsets
from kafka_admin_proto.admin.retry import Deadline


class OffsetDeletion(msgspec.Struct, frozen=True, kw_only=True):
    """A partition whose offset is to be deleted; ``committed`` says whether there is one."""

    topic: str
    partition: int
    committed: bool
    error: str | None = None
    message: str | None = None


class OffsetDeletions(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be deleted for a group; ``error`` where the group cannot be looked at.

    ``uncommitted_topics`` are topics that were named whole, of which the group has no offset.
    ``type`` is that of the group, as in its description, None with an error.
    """

    group_id: str
    type: str | None = None
    offsets: Sequence[OffsetDeletion] = ()
    uncommitted_topics: Sequence[str] = ()
    error: str | None = None
    message: str | None = None


class DeletionOperations(LagOperations):
    """OffsetFetch, for OffsetDelete."""

    async def plan_offset_deletions(
        self,
        group: str,
        *,
        topics: Iterable[str] = (),
        partitions: Iterable[Partition] = (),
        timeout: float | None = None,
    ) -> OffsetDeletions:
        """Which offsets would be deleted; changes nothing, ``run_offset_deletions`` deletes them.

        ``topics`` stand for all their partitions that the group has committed, ``partitions`` are
        (topic, partition) pairs. Of a share group it is where the group begins, which is deleted by
        whole topics: raises InstructionError for partitions of one. A group that does not exist
        has the error GROUP_ID_NOT_FOUND, from brokers of any age.
        """
        whole, single = list(dict.fromkeys(topics)), list(dict.fromkeys(partitions))
        deadline = Deadline(self.default_timeout if timeout is None else timeout)
        (described,) = await self.describe_groups([group], timeout=deadline.left)
        found = await self._all_committed(described, deadline)
        if described.type == SHARE and single:
            raise InstructionError(
                f"{group} is a share group, whose offsets are deleted by whole topics: name the "
                f"topic {single[0][0]} without partitions"
            )
        error, message = found.error, found.message
        if error is None and not found.offsets:
            error, message = group_failure(described)
        if error is not None:
            return OffsetDeletions(
                group_id=group, type=described.type, error=error, message=message
            )
        committed = dict.fromkeys((each.topic, each.partition) for each in found.offsets)
        places = dict.fromkeys([*(place for place in committed if place[0] in whole), *single])
        return OffsetDeletions(
            group_id=group,
            type=described.type,
            offsets=[
                OffsetDeletion(
                    topic=topic, partition=number, committed=(topic, number) in committed
                )
                for topic, number in places
            ],
            uncommitted_topics=[
                topic for topic in whole if all(topic != name for name, _ in committed)
            ],
        )

    async def run_offset_deletions(
        self, deletions: OffsetDeletions, *, timeout: float | None = None
    ) -> OffsetDeletions:
        """Delete the offsets of a plan; of a share group those of its topics.

        The result is the plan with the errors of those that stay. Raises as
        ``delete_group_offsets``.
        """
        group = deletions.group_id
        places = [(each.topic, each.partition) for each in deletions.offsets]
        if not places:
            return deletions
        results: Sequence[AlteredOffset | DeletedShareOffsets]
        if deletions.type == SHARE:
            topics = list(dict.fromkeys(topic for topic, _ in places))
            answers = await self.delete_share_group_offsets(group, topics, timeout=timeout)
            by_topic = {answer.topic: answer for answer in answers}
            results = [by_topic[topic] for topic, _ in places]
        else:
            results = await self.delete_group_offsets(group, places, timeout=timeout)
        offsets = [
            msgspec.structs.replace(each, error=result.error, message=result.message)
            for each, result in zip(deletions.offsets, results, strict=True)
        ]
        return msgspec.structs.replace(deletions, offsets=offsets)
