"""A share group (``ShareGroup`` in Kafka): only its records change it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from kafka_admin_proto import messages as m
from kafka_admin_proto.server.groups.modern import Kind, ModernGroup, Target
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.share.members import ShareMember
from kafka_admin_proto.server.groups.share.records import (
    StatePartitions,
    state_partitions,
)


class ShareGroup(ModernGroup[ShareMember, Target]):
    """The state of a group, with the partitions that have a state at the share coordinator."""

    kind: ClassVar[Kind] = "share"
    target_epoch_value: ClassVar[type[Any]] = m.ShareGroupTargetAssignmentMetadataValue
    keys: ClassVar[tuple[type[Any], ...]] = (
        m.ShareGroupMetadataKey,
        m.ShareGroupTargetAssignmentMetadataKey,
        m.ShareGroupMemberMetadataKey,
        m.ShareGroupCurrentMemberAssignmentKey,
        m.ShareGroupTargetAssignmentMemberKey,
        m.ShareGroupStatePartitionMetadataKey,
    )

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.partitions: StatePartitions = StatePartitions()

    def apply(self, key: Any, value: Any, now_ms: int = 0) -> None:
        super().apply(key, value, now_ms)
        if isinstance(key, m.ShareGroupStatePartitionMetadataKey):
            self.partitions = (
                StatePartitions() if value is None else state_partitions(value, now_ms)
            )

    def _member(self, member_id: str) -> ShareMember:
        return self.members.get(member_id) or ShareMember(member_id)

    def _target_of(self, value: m.ShareGroupTargetAssignmentMemberValue) -> Target:
        return {each.topic_id: each.partitions for each in value.topic_partitions}

    @property
    def has_new_partitions(self) -> bool:
        """Whether partitions have a state by now that no member shall have yet."""
        topics = subscribed(self.members.values())
        targets: dict[object, set[int]] = {}
        for target in self.target.values():
            for topic_id, numbers in target.items():
                targets.setdefault(topic_id, set()).update(numbers)
        return any(
            each.name in topics and targets.get(topic_id, set()) != each.partitions
            for topic_id, each in self.partitions.initialized.items()
        )

    def tombstones(self) -> list[CoordinatorRecord]:
        """The records that end the group, which has no members."""
        group, target_epoch, *_, partitions = self.keys
        return [(key(self.name), None, 0) for key in (target_epoch, partitions, group)]


def subscribed(members: Iterable[ShareMember]) -> set[str]:
    """The topics that any of these members subscribes."""
    return {topic for each in members for topic in each.topics}
