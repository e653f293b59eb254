"""Groups in which the coordinator assigns (``ModernGroup`` in Kafka): consumer and share groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure

#: What a member shall have: numbers of partitions by topic.
Target = Mapping[UUID, Sequence[int]]
_FIRST_EPOCH = 1

MemberT = TypeVar("MemberT")


class ModernGroup(Generic[MemberT]):
    """The state of a group; ``target`` is what members shall have, of ``target_epoch``."""

    def __init__(self, name: str) -> None:
        self.name: str = name
        self.epoch: int = _FIRST_EPOCH
        self.metadata_hash: int = 0
        self.target_epoch: int = _FIRST_EPOCH
        #: When the target was made; 0 if it is not known.
        self.target_ms: int = 0
        self.target: dict[str, Target] = {}
        self.members: dict[str, MemberT] = {}
        #: Whether topics have changed since their hash was compared.
        self.is_outdated: bool = True

    def _apply_epoch(self, epoch: int, metadata_hash: int) -> None:
        self.epoch, self.metadata_hash = epoch, metadata_hash

    def _apply_target_epoch(self, epoch: int, time_ms: int) -> None:
        self.target_epoch, self.target_ms = epoch, time_ms

    def member(self, member_id: str) -> MemberT:
        """The member of an id. Raises ApiFailure."""
        if member_id not in self.members:
            text = f"Member {member_id} is not a member of group {self.name}."
            raise ApiFailure(codes.UNKNOWN_MEMBER_ID, text)
        return self.members[member_id]
