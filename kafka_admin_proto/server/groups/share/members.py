"""The members of share groups (``ShareGroupMember`` in Kafka)."""

from __future__ import annotations

from typing import Self

import msgspec

from kafka_admin_proto import messages as m
from kafka_admin_proto.server.groups.modern import ModernMember, Target


class ShareMember(ModernMember, frozen=True):
    """A member, the topics that it subscribes, and the partitions that it has."""

    topics: frozenset[str] = frozenset()
    assigned: Target = {}

    def with_metadata(self, value: m.ShareGroupMemberMetadataValue) -> Self:
        return msgspec.structs.replace(
            self,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topics=frozenset(value.subscribed_topic_names),
        )

    def with_assignment(self, value: m.ShareGroupCurrentMemberAssignmentValue) -> Self:
        return msgspec.structs.replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            assigned={each.topic_id: each.partitions for each in value.assigned_partitions},
        )
