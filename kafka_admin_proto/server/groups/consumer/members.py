"""The members of groups of the consumer protocol (``ConsumerGroupMember`` in Kafka)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self
from uuid import UUID

import msgspec

from kafka_admin_proto.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kafka_admin_proto.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ConsumerGroupMemberMetadataValue,
)
from kafka_admin_proto.server.groups.modern import RevokingMember, known_state

#: Partitions by topic and number, with the epoch in which each was assigned.
Epochs = Mapping[UUID, Mapping[int, int]]


class ConsumerMember(RevokingMember, frozen=True):
    """A member, what it subscribes, and what it has.

    ``classic`` is set for a member that uses the classic protocol in a group of this one.
    """

    topics: frozenset[str] = frozenset()
    regex: str | None = ""
    assignor: str | None = None
    assigned: Epochs = {}
    #: What it has to give back.
    revoked: Epochs = {}
    classic: ClassicMemberMetadata | None = None

    @property
    def is_revoking(self) -> bool:
        """Of a member that uses the classic protocol, the time to join again takes that place."""
        return super().is_revoking and self.classic is None

    def assignment_epoch(self, topic_id: UUID, number: int) -> int | None:
        """The epoch in which a partition was assigned that the member has or gives back."""
        epoch = self.assigned.get(topic_id, {}).get(number)
        return self.revoked.get(topic_id, {}).get(number) if epoch is None else epoch

    def with_metadata(self, value: ConsumerGroupMemberMetadataValue) -> Self:
        return msgspec.structs.replace(
            self,
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            client_id=value.client_id,
            client_host=value.client_host,
            topics=frozenset(value.subscribed_topic_names),
            regex=value.subscribed_topic_regex,
            assignor=value.server_assignor,
            classic=value.classic_member_metadata,
        )

    def with_assignment(self, value: ConsumerGroupCurrentMemberAssignmentValue) -> Self:
        return msgspec.structs.replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=known_state(value.state),
            assigned=_epochs(value.assigned_partitions, value.member_epoch),
            revoked=_epochs(value.partitions_pending_revocation, value.member_epoch),
        )


def _epochs(rows: list[TopicPartitions], default: int) -> Epochs:
    by_topic: dict[UUID, Mapping[int, int]] = {}
    for row in rows:
        epochs = row.assignment_epochs
        if epochs is None or len(epochs) != len(row.partitions):
            epochs = [max(default, 0)] * len(row.partitions)
        by_topic[row.topic_id] = dict(zip(row.partitions, epochs, strict=True))
    return by_topic
