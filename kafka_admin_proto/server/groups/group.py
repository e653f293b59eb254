"""A group of the classic protocol, its members and what they agreed on (``ClassicGroup``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Literal
from uuid import uuid4

import msgspec

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages import SyncGroupResponse
from kafka_admin_proto.messages.join_group_response import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.consumer_protocol import CONSUMER, read_subscribed_topics
from kafka_admin_proto.server.coordination.replies import Reply
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import hash_order

GroupState = Literal["Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"]


#: (name, metadata) of a protocol that a member supports, the one that it likes best first.
Protocols = list[tuple[str, bytes]]


class Member(msgspec.Struct):
    """A member; ``join`` and ``sync`` are its requests that wait.

    ``is_new`` until its first JoinGroup is answered: it cannot send heartbeats yet.
    """

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    is_new: bool = False
    join: Reply | None = None
    sync: Reply | None = None

    def metadata(self, protocol: str | None) -> bytes:
        """What the member sent for a protocol."""
        return next((data for name, data in self.protocols if name == protocol), b"")

    def vote(self, candidates: Collection[str]) -> str:
        """The protocol of the candidates that the member likes best."""
        return next(name for name, _ in self.protocols if name in candidates)

    @property
    def keeps_alive(self) -> bool:
        """Whether the member needs no heartbeat: it waits for the group."""
        return not self.is_new and (self.join is not None or self.sync is not None)


class Group:
    """The state of a group; ``now_ms`` of its methods is milliseconds since 1970."""

    def __init__(self, name: str, now_ms: int) -> None:
        self.name = name
        self.state: GroupState = "Empty"
        self.previous_state: GroupState = "Empty"
        self.state_since_ms: int = now_ms
        self.generation: int = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        #: How many members support each protocol.
        self._supporters: Counter[str] = Counter()
        #: Static members: instance id → member id.
        self.static: dict[str, str] = {}
        #: Ids that were given to clients which have not joined with them yet.
        self.pending_joins: set[str] = set()
        #: Members that have not sent SyncGroup in this generation.
        self.pending_syncs: set[str] = set()
        #: Whether a member has come since the first rebalance was put off the last time.
        self.has_new_member = False
        #: The topics that the members subscribe; None if that is not known.
        self.topics: set[str] | None = None

    def go(self, state: GroupState, now_ms: int) -> None:
        """Change the state."""
        self.previous_state, self.state = self.state, state
        self.state_since_ms = now_ms

    # Members.

    @staticmethod
    def new_member_id(client_id: str | None, instance_id: str | None) -> str:
        """The id of a new member."""
        return f"{client_id or '' if instance_id is None else instance_id}-{uuid4()}"

    def add(self, member: Member, protocol_type: str) -> None:
        """Add a member whose protocols the group supports; the first one leads."""
        if not self.members:
            self.protocol_type = protocol_type
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id
        if self.leader is None:
            self.leader = member.id
        if member.id in self.members:  # of a record that has it twice
            self.change_protocols(self.members[member.id], [])
        self.members[member.id] = member
        self._supporters.update(_names(member.protocols))
        self.pending_joins.discard(member.id)

    def change_protocols(self, member: Member, protocols: Protocols) -> None:
        """Take what a member supports from now on."""
        self._supporters -= Counter(_names(member.protocols))
        self._supporters.update(_names(protocols))
        member.protocols = protocols

    def remove(self, member_id: str) -> None:
        """Remove a member, or an id without one; another member leads then."""
        removed = self.members.pop(member_id, None)
        if removed is not None:
            self.change_protocols(removed, [])
            if removed.instance_id is not None:
                self.static.pop(removed.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.pending_joins.discard(member_id)
        self.pending_syncs.discard(member_id)

    def replace_static(self, instance_id: str, new_id: str) -> Member:
        """Give a static member a new id; requests that wait under the old one are fenced."""
        old_id = self.static[instance_id]
        member = self.members.pop(old_id)
        fenced = codes.FENCED_INSTANCE_ID
        self.answer_join(member, JoinGroupResponse(error_code=fenced, member_id=old_id))
        self.answer_sync(member, SyncGroupResponse(error_code=fenced))
        member.id = new_id
        self.members[new_id] = member
        self.static[instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id
        return member

    def check_member(self, member_id: str, instance_id: str | None) -> Member:
        """The member of these ids. Raises ApiFailure."""
        if instance_id is not None:
            known = self.static.get(instance_id)
            if known is None:
                raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
            if known != member_id:
                raise ApiFailure(codes.FENCED_INSTANCE_ID)
        if member_id not in self.members:
            raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
        return self.members[member_id]

    @property
    def waiting_joins(self) -> int:
        """The number of members whose JoinGroup waits."""
        return sum(each.join is not None for each in self.members.values())

    @property
    def all_joined(self) -> bool:
        """Whether every known member waits for the next generation."""
        return not self.pending_joins and all(
            each.join is not None for each in self.members.values()
        )

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of the members'."""
        return max((each.rebalance_timeout_ms for each in self.members.values()), default=0)

    def accepts(self, member_id: str, max_size: int) -> bool:
        """Whether there is room for a member that joins."""
        member = self.members.get(member_id)
        if self.state == "PreparingRebalance":
            return (member is not None and member.join is not None) or self.waiting_joins < max_size
        if self.state in ("CompletingRebalance", "Stable"):
            return member is not None or len(self.members) < max_size
        return True

    # Protocols.

    def _candidates(self) -> set[str]:
        """The protocols that all members support."""
        return {name for name, count in self._supporters.items() if count == len(self.members)}

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member with these protocols can join."""
        if self.state == "Empty":
            return bool(protocol_type and protocols)
        if protocol_type != self.protocol_type:
            return False
        # Of no members, as where the first one has left amid the first rebalance, all support it.
        return any(self._supporters[name] == len(self.members) for name, _ in protocols)

    def select_protocol(self) -> str:
        """The protocol with the most votes; of several the first in a HashMap of Java's."""
        candidates = self._candidates()
        votes = Counter(each.vote(candidates) for each in self.members.values())
        return max(hash_order(votes), key=lambda name: votes[name])

    def subscribed_topics(self) -> set[str] | None:
        """The topics in the members' metadata, if they are consumers; None if unknown."""
        if self.protocol_type is None:
            return None
        if not self.members:
            return set()
        if self.protocol_type != CONSUMER or self.protocol is None:
            return None
        topics: set[str] = set()
        try:
            for each in self.members.values():
                topics.update(read_subscribed_topics(each.metadata(self.protocol)))
        except DecodeError:
            return None
        return topics

    def is_subscribed(self, topic: str) -> bool:
        """Whether a member may read a topic."""
        return self.protocol_type == CONSUMER if self.topics is None else topic in self.topics

    # Generations.

    def elect_leader(self) -> bool:
        """Let a member lead that has joined again; False if none has."""
        if self.leader is None:
            return False
        if self.members[self.leader].join is None:
            joined = [each.id for each in self.members.values() if each.join is not None]
            if not joined:
                return False
            self.leader = joined[0]
        return True

    def begin_generation(self, now_ms: int) -> None:
        """Begin the next generation with the members that there are."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.topics = self.subscribed_topics()
        self.go("CompletingRebalance" if self.members else "Empty", now_ms)
        self.pending_syncs.clear()

    # Answers.

    def joined(
        self, member_id: str, *, leader: str | None = None, skip_assignment: bool = False
    ) -> JoinGroupResponse:
        """The answer to a member that belongs to this generation; the leader gets the members."""
        leads = self.leader == member_id
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=(self.leader if leader is None else leader) or "",
            member_id=member_id,
            members=self._metadata() if leads else [],
            skip_assignment=skip_assignment,
        )

    def _metadata(self) -> list[JoinGroupResponseMember]:
        return [
            JoinGroupResponseMember(each.id, each.instance_id, each.metadata(self.protocol))
            for each in self.members.values()
        ]

    def synced(self, member: Member) -> SyncGroupResponse:
        """The answer to a member that asks for its assignment."""
        return SyncGroupResponse(
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            assignment=member.assignment,
        )

    @staticmethod
    def answer_join(member: Member, response: JoinGroupResponse) -> bool:
        """Answer a JoinGroup that waits; whether there was one."""
        reply, member.join = member.join, None
        return _sent(reply, response)

    @staticmethod
    def answer_sync(member: Member, response: SyncGroupResponse) -> bool:
        """Answer a SyncGroup that waits; whether there was one."""
        reply, member.sync = member.sync, None
        return _sent(reply, response)


def _names(protocols: Protocols) -> set[str]:
    return {name for name, _ in protocols}


def _sent(reply: Reply | None, response: JoinGroupResponse | SyncGroupResponse) -> bool:
    if reply is not None:
        reply.send(response)
    return reply is not None
