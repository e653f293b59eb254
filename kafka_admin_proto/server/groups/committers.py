"""Who commits offsets, and whether a group in which the coordinator assigns accepts them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.records import CommittedOffset
from kafka_admin_proto.server.groups.streams.group import StreamsGroup
from kafka_admin_proto.server.groups.streams.members import StreamsMember

#: The first version of OffsetCommit whose generations may be epochs of members.
_EPOCHS = 9


class Commit(msgspec.Struct, frozen=True):
    """An offset to commit."""

    topic: str
    partition: int
    committed: CommittedOffset


class Committer(msgspec.Struct, frozen=True):
    """Who commits: a member of a generation, or a client outside of any (-1)."""

    generation: int
    member_id: str
    instance_id: str | None
    version: int


def check_commit(
    group: ConsumerGroup | StreamsGroup,
    committer: Committer,
    commits: Iterable[Commit],
    *,
    of_transaction: bool,
) -> None:
    """Raises ApiFailure unless the member of a consumer or streams group may commit.

    A member may commit with an older epoch what was assigned to it in that one or before.
    """
    epoch = committer.generation
    if epoch < 0 and not group.members:
        return
    if of_transaction and (epoch, committer.member_id, committer.instance_id) == (-1, "", None):
        return
    member = group.member(committer.member_id)
    is_classic = _is_classic(member)
    if not of_transaction and not is_classic and committer.version < _EPOCHS:
        raise ApiFailure(codes.UNSUPPORTED_VERSION)
    if epoch == member.epoch:
        return
    stale = ApiFailure(
        codes.ILLEGAL_GENERATION if is_classic or of_transaction else codes.STALE_MEMBER_EPOCH
    )
    if epoch > member.epoch:
        raise stale
    for commit in commits:
        if isinstance(group, StreamsGroup):
            task = (group.subtopology_of(commit.topic) or "", commit.partition)
            since = group.member(member.id).assignment_epoch(task)
        else:
            since = group.member(member.id).assignment_epoch(
                commit.committed.topic_id, commit.partition
            )
        if since is None or epoch < since:
            raise stale


def _is_classic(member: ConsumerMember | StreamsMember) -> bool:
    return isinstance(member, ConsumerMember) and member.classic is not None


def check_fetch(group: ConsumerGroup | StreamsGroup, member_id: str | None, epoch: int) -> None:
    """Raises ApiFailure unless the member of a group may fetch the offsets with its epoch."""
    if member_id is None and epoch < 0:
        return
    member = group.member(member_id or "")
    if epoch != member.epoch:
        code = codes.ILLEGAL_GENERATION if _is_classic(member) else codes.STALE_MEMBER_EPOCH
        raise ApiFailure(code)
