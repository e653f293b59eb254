"""Groups in which the coordinator assigns (``ModernGroup`` in Kafka)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import hash_order, timeline_order

#: What a member shall have: numbers of partitions by topic.
Target = Mapping[UUID, Sequence[int]]
_FIRST_EPOCH = 1


class _Named(Protocol):
    """A member that may be static."""

    @property
    def id(self) -> str: ...
    @property
    def instance_id(self) -> str | None: ...


class _Counted(Protocol):
    """A member with the epochs that it has and had."""

    @property
    def epoch(self) -> int: ...
    @property
    def previous_epoch(self) -> int: ...


MemberT = TypeVar("MemberT")
NamedT = TypeVar("NamedT", bound=_Named)
TargetT = TypeVar("TargetT")


class ModernGroup(Generic[MemberT, TargetT]):
    """The state of a group; ``target`` is what members shall have, of ``target_epoch``."""

    def __init__(self, name: str) -> None:
        self.name: str = name
        self.epoch: int = _FIRST_EPOCH
        self.metadata_hash: int = 0
        self.target_epoch: int = _FIRST_EPOCH
        #: When the target was made; 0 if it is not known.
        self.target_ms: int = 0
        self.target: dict[str, TargetT] = {}
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


class GroupWithInstances(ModernGroup[NamedT, TargetT]):
    """A group that may have static members."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        #: The most members that there have been, which decides their order in Kafka's table.
        self._most_members = 0
        #: Static members: instance id → member id.
        self.static: dict[str, str] = {}

    def _keep(self, member: NamedT) -> None:
        """Add or change a member."""
        self._forget_instance(self.members.get(member.id))
        self.members[member.id] = member
        self._most_members = max(self._most_members, len(self.members))
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id

    def _forget_instance(self, member: NamedT | None) -> None:
        """Before 4.4 Kafka kept the instance id that a member had before: that is not done here."""
        if member is not None and member.instance_id is not None:
            self.static.pop(member.instance_id, None)

    def static_member(self, instance_id: str | None) -> NamedT | None:
        """The static member of an instance id, if there is one."""
        return None if instance_id is None else self.members.get(self.static.get(instance_id, ""))

    def checked_static(self, instance_id: str, member_id: str) -> NamedT:
        """The static member of these ids. Raises ApiFailure."""
        known = self.static_member(instance_id)
        if known is None:
            raise ApiFailure(codes.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if known.id != member_id:
            raise ApiFailure(
                codes.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member "
                f"{known.id}.",
            )
        return known

    def replaced_by(self, member: NamedT) -> str:
        """The id of the member whose place a member takes: its own, or that of its instance."""
        return self.static.get(member.instance_id or "", member.id)

    def with_member(self, member: NamedT) -> dict[str, NamedT]:
        """The members once one is changed or added, without the one that it replaces.

        They have the order in which Kafka assigns to them: that of a HashMap to which its table of
        members is copied without the replaced one, and then the added one. Before 4.4 the replaced
        one was in that HashMap for a moment, and could let it grow: that is not done here.
        """
        replaced = self.replaced_by(member)
        kept = (name for name in self._in_table() if name != replaced or name == member.id)
        changed = {**self.members, member.id: member}
        return {name: changed[name] for name in hash_order((*kept, member.id))}

    def in_order(self) -> dict[str, NamedT]:
        """The members as they are, in that order."""
        return {name: self.members[name] for name in hash_order(self._in_table())}

    def _in_table(self) -> list[str]:
        return timeline_order(self.members, self._most_members)


def unreleased(member_id: str, known: _Named) -> ApiFailure:
    """The failure of a static member that joins while another one has its instance."""
    return ApiFailure(
        codes.UNRELEASED_INSTANCE_ID,
        f"Static member {member_id} with instance id {known.instance_id} cannot join the group "
        f"because the instance id is owned by {known.id} member.",
    )


def check_epoch(kind: str, member: _Counted, epoch: int, has_no_more: Callable[[], bool]) -> None:
    """Raises ApiFailure unless the epoch is the member's, or the one before if that was lost.

    It was lost if the member ``has_no_more`` than the coordinator has given it.
    """
    if epoch in (0, member.epoch):
        return
    size = "greater" if epoch > member.epoch else "smaller"
    if epoch > member.epoch or epoch != member.previous_epoch or not has_no_more():
        raise ApiFailure(
            codes.FENCED_MEMBER_EPOCH,
            f"The {kind} group member has a {size} member epoch ({epoch}) than the one known by "
            f"the group coordinator ({member.epoch}). The member must abandon all its partitions "
            "and rejoin.",
        )
