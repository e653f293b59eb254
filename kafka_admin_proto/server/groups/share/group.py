"""A share group (``ShareGroup`` in Kafka): only its records change it."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_admin_proto.messages import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)
from kafka_admin_proto.server.groups.modern import ModernGroup, Target
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.share.members import ShareMember
from kafka_admin_proto.server.groups.share.records import (
    StatePartitions,
    state_partitions,
    tombstones,
)
from kafka_admin_proto.values import Message


class ShareGroup(ModernGroup[ShareMember, Target]):
    """The state of a group, with the partitions that have a state at the share coordinator."""

    kind = "share"
    keys = (
        ShareGroupMetadataKey,
        ShareGroupMemberMetadataKey,
        ShareGroupTargetAssignmentMetadataKey,
        ShareGroupTargetAssignmentMemberKey,
        ShareGroupCurrentMemberAssignmentKey,
        ShareGroupStatePartitionMetadataKey,
    )

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.partitions: StatePartitions = StatePartitions()

    def apply(self, key: Message, value: Message | None, now_ms: int = 0) -> None:
        match key, value:
            case ShareGroupMetadataKey(), ShareGroupMetadataValue():
                self._apply_epoch(value.epoch, value.metadata_hash)
            case ShareGroupMemberMetadataKey(), ShareGroupMemberMetadataValue():
                self.members[key.member_id] = self._member(key.member_id).with_metadata(value)
            case ShareGroupMemberMetadataKey(), None:
                self.members.pop(key.member_id, None)
            case ShareGroupCurrentMemberAssignmentKey(), ShareGroupCurrentMemberAssignmentValue():
                self.members[key.member_id] = self._member(key.member_id).with_assignment(value)
            case ShareGroupTargetAssignmentMemberKey(), ShareGroupTargetAssignmentMemberValue():
                rows = value.topic_partitions
                self.target[key.member_id] = {each.topic_id: each.partitions for each in rows}
            case ShareGroupTargetAssignmentMemberKey(), None:
                self.target.pop(key.member_id, None)
            case ShareGroupTargetAssignmentMetadataKey(), ShareGroupTargetAssignmentMetadataValue():
                self._apply_target_epoch(value.assignment_epoch, value.assignment_timestamp)
            case ShareGroupStatePartitionMetadataKey(), ShareGroupStatePartitionMetadataValue():
                self.partitions = state_partitions(value, now_ms)
            case ShareGroupStatePartitionMetadataKey(), None:
                self.partitions = StatePartitions()

    def _member(self, member_id: str) -> ShareMember:
        return self.members.get(member_id) or ShareMember(member_id)

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
        return tombstones(self.name)


def subscribed(members: Iterable[ShareMember]) -> set[str]:
    """The topics that any of these members subscribes."""
    return {topic for each in members for topic in each.topics}
