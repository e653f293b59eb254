"""Groups in which the coordinator assigns (``ModernGroup`` in Kafka)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar
from uuid import UUID

import msgspec

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.java import hash_order, timeline_order

#: What a member shall have: numbers of partitions by topic.
Target = Mapping[UUID, Sequence[int]]
Kind = Literal["consumer", "share", "streams"]
State = Literal["Empty", "NotReady", "Assigning", "Reconciling", "Stable"]
#: The states of a member: it has what it shall have, has to give something back, or waits until
#: others have done so. They are consumers' numbers in records.
STABLE, UNREVOKED, UNRELEASED, UNKNOWN = 0, 1, 2, 127
#: The epochs with which members leave, the second one of static members that come again.
LEAVES, LEAVES_FOR_NOW = -1, -2
_FIRST_EPOCH = 1


class ModernMember(msgspec.Struct, frozen=True):
    """What is kept of a member of any such group."""

    id: str
    epoch: int = 0
    previous_epoch: int = -1
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""

    def with_metadata(self, value: Any) -> Self:
        """The member with what a record says that it is."""
        raise NotImplementedError

    def with_assignment(self, value: Any) -> Self:
        """The member with what a record says that it has."""
        raise NotImplementedError


class RevokingMember(ModernMember, frozen=True):
    """A member that gives back before others get; it may be static."""

    state: int = STABLE
    instance_id: str | None = None
    rebalance_timeout_ms: int = -1

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether the member has all of an assignment."""
        return self.state == STABLE and self.epoch == epoch

    @property
    def is_revoking(self) -> bool:
        """Whether the coordinator waits for what the member has to give back."""
        return self.state == UNREVOKED


def known_state(number: int) -> int:
    """The state of a member by its number in a record."""
    return number if STABLE <= number <= UNRELEASED else UNKNOWN


MemberT = TypeVar("MemberT", bound=ModernMember)
RevokingT = TypeVar("RevokingT", bound=RevokingMember)
TargetT = TypeVar("TargetT")


class ModernGroup(Generic[MemberT, TargetT]):
    """The state of a group; ``target`` is what members shall have, of ``target_epoch``.

    ``keys`` are those of all records that are about groups of its kind: first that of the group,
    of the target's epoch, of a member, of what it has, and of what it shall have. The second one's
    value is a ``target_epoch_value``.
    """

    kind: ClassVar[Kind]
    keys: ClassVar[tuple[type[Any], ...]]
    target_epoch_value: ClassVar[type[Any]]

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

    @property
    def state(self) -> State:
        """The state, as its members make it."""
        return "Stable" if self.members else "Empty"

    # Replay.

    def apply(self, key: Any, value: Any, now_ms: int = 0) -> None:
        """Apply a record; the tombstone of the group itself is the shard's."""
        group, target_epoch, member, assignment, target = self.keys[:5]
        if value is None:
            if isinstance(key, target):
                self.target.pop(key.member_id, None)
            elif isinstance(key, member):
                self._remove(key.member_id)
        elif isinstance(key, target):
            self.target[key.member_id] = self._target_of(value)
        elif isinstance(key, member):
            self._put(self._member(key.member_id).with_metadata(value))
        elif isinstance(key, assignment):
            self._put(self._member(key.member_id).with_assignment(value))
        elif isinstance(key, target_epoch):
            self.target_epoch, self.target_ms = value.assignment_epoch, value.assignment_timestamp
        elif isinstance(key, group):
            self.epoch, self.metadata_hash = value.epoch, value.metadata_hash

    def _member(self, member_id: str) -> MemberT:
        """The member of an id, new where there is none."""
        raise NotImplementedError

    def _target_of(self, value: Any) -> TargetT:
        """What a member shall have by a record."""
        raise NotImplementedError

    def _put(self, member: MemberT) -> None:
        self.members[member.id] = member

    def _remove(self, member_id: str) -> None:
        self.members.pop(member_id, None)

    def target_epoch_record(self, epoch: int, time_ms: int) -> CoordinatorRecord:
        """The record of the epoch of what members shall have, and of when it was made."""
        return self.keys[1](self.name), self.target_epoch_value(epoch, time_ms), 0

    def member_tombstones(self, member_id: str) -> list[CoordinatorRecord]:
        """The records that end a member."""
        _, _, member, assignment, target = self.keys[:5]
        return [(key(self.name, member_id), None, 0) for key in (assignment, target, member)]

    # Members.

    def member(self, member_id: str) -> MemberT:
        """The member of an id. Raises ApiFailure."""
        if member_id not in self.members:
            text = f"Member {member_id} is not a member of group {self.name}."
            raise ApiFailure(codes.UNKNOWN_MEMBER_ID, text)
        return self.members[member_id]


class GroupWithInstances(ModernGroup[RevokingT, TargetT]):
    """A group whose members give back before others get; there may be static ones."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        #: The most members that there have been, which decides their order in Kafka's table.
        self._most_members = 0
        #: Static members: instance id → member id.
        self.static: dict[str, str] = {}

    @property
    def state(self) -> State:
        """The state, as its members make it."""
        if not self.members:
            return "Empty"
        if self.epoch > self.target_epoch:
            return "Assigning"
        if all(each.is_reconciled_to(self.target_epoch) for each in self.members.values()):
            return "Stable"
        return "Reconciling"

    def _keep(self, member: RevokingT) -> None:
        """Add or change a member."""
        self._forget_instance(self.members.get(member.id))
        self.members[member.id] = member
        self._most_members = max(self._most_members, len(self.members))
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id

    def _forget_instance(self, member: RevokingT | None) -> None:
        """Before 4.4 Kafka kept the instance id that a member had before: that is not done here."""
        if member is not None and member.instance_id is not None:
            self.static.pop(member.instance_id, None)

    def static_member(self, instance_id: str | None) -> RevokingT | None:
        """The static member of an instance id, if there is one."""
        return None if instance_id is None else self.members.get(self.static.get(instance_id, ""))

    def checked_static(self, instance_id: str, member_id: str) -> RevokingT:
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

    def checked_member(self, member_id: str, instance_id: str | None) -> RevokingT:
        """The member of these ids, the second one of static members alone. Raises ApiFailure."""
        if instance_id is None:
            return self.member(member_id)
        return self.checked_static(instance_id, member_id)

    def replaced_by(self, member: RevokingT) -> str:
        """The id of the member whose place a member takes: its own, or that of its instance."""
        return self.static.get(member.instance_id or "", member.id)

    def with_member(self, member: RevokingT) -> dict[str, RevokingT]:
        """The members once one is changed or added, without the one that it replaces.

        They have the order in which Kafka assigns to them: that of a HashMap to which its table of
        members is copied without the replaced one, and then the added one. Before 4.4 the replaced
        one was in that HashMap for a moment, and could let it grow: that is not done here.
        """
        replaced = self.replaced_by(member)
        kept = (name for name in self._in_table() if name != replaced or name == member.id)
        changed = {**self.members, member.id: member}
        return {name: changed[name] for name in hash_order((*kept, member.id))}

    def in_order(self) -> dict[str, RevokingT]:
        """The members as they are, in that order."""
        return {name: self.members[name] for name in hash_order(self._in_table())}

    def _in_table(self) -> list[str]:
        return timeline_order(self.members, self._most_members)


def unreleased(member_id: str, known: RevokingMember) -> ApiFailure:
    """The failure of a static member that joins while another one has its instance."""
    return ApiFailure(
        codes.UNRELEASED_INSTANCE_ID,
        f"Static member {member_id} with instance id {known.instance_id} cannot join the group "
        f"because the instance id is owned by {known.id} member.",
    )


def check_epoch(
    kind: str, member: ModernMember, epoch: int, has_no_more: Callable[[], bool]
) -> None:
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


def check_known(kind: str, has_nothing: bool, what: str) -> None:
    """Raises ApiFailure for a member of a state that is not known, unless it ``has_nothing``."""
    if not has_nothing:
        raise ApiFailure(
            codes.FENCED_MEMBER_EPOCH,
            f"The {kind} group member is in a unknown state. The member must abandon all its "
            f"{what} and rejoin.",
        )


def moved(
    member: RevokingT, state: int, epoch: int, assigned: object, revoked: object
) -> RevokingT:
    """The member with another state, at an epoch, with what it has then and has to give back."""
    return msgspec.structs.replace(
        member,
        state=state,
        epoch=epoch,
        previous_epoch=member.epoch,
        assigned=assigned,
        revoked=revoked,
    )
