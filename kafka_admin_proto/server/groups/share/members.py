"""The members of share groups (``ShareGroupMember`` in Kafka)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec

from kafka_admin_proto.messages import (
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataValue,
)

#: Numbers of partitions by topic.
Partitions = Mapping[UUID, Sequence[int]]
#: The epoch with which a member leaves.
LEAVES = -1


class ShareMember(msgspec.Struct, frozen=True):
    """A member, the topics that it subscribes, and the partitions that it has."""

    id: str
    epoch: int = 0
    previous_epoch: int = -1
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    assigned: Partitions = {}

    def with_metadata(self, value: ShareGroupMemberMetadataValue) -> ShareMember:
        """The member with what a record says that it subscribes."""
        return msgspec.structs.replace(
            self,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topics=frozenset(value.subscribed_topic_names),
        )

    def with_assignment(self, value: ShareGroupCurrentMemberAssignmentValue) -> ShareMember:
        """The member with what a record says that it has."""
        return msgspec.structs.replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            assigned={each.topic_id: each.partitions for each in value.assigned_partitions},
        )
