"""Changes of a partition's replicas, in-sync replicas and leader, as one record each.

The rules are those of Kafka's ``PartitionChangeBuilder`` and of what it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING
from uuid import UUID

from kafka_admin_proto.messages import PartitionChangeRecord
from kafka_admin_proto.records.metadata.entities import Partition, Topic
from kafka_admin_proto.server.topics.assignments import directory_of, is_online

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

NO_LEADER = -1
_SAME_LEADER = -2
_RECOVERED, _RECOVERING = 0, 1
#: The feature by which partitions have eligible leader replicas (KIP-966).
ELIGIBLE_REPLICAS = "eligible.leader.replicas.version"


class Election(Enum):
    """How a leader is chosen."""

    #: The leader stays as long as it can; else any replica that is in sync.
    ONLINE = "online"
    #: The first replica leads if it can.
    PREFERRED = "preferred"
    #: A replica that is not in sync leads where no other can; records may be lost.
    UNCLEAN = "unclean"


def change_partition(
    state: State,
    topic_id: UUID,
    number: int,
    *,
    in_sync: Sequence[int] | None = None,
    replicas: Sequence[int] | None = None,
    removing: Sequence[int] | None = None,
    adding: Sequence[int] | None = None,
    election: Election = Election.ONLINE,
    can_lead: Callable[[int], bool] | None = None,
    unclean_shutdown: int | None = None,
    recovered: bool = False,
    directory: tuple[int, UUID] | None = None,
) -> PartitionChangeRecord | None:
    """The record that changes a partition; None if nothing changes.

    Arguments that are None change nothing. A reassignment with its new replicas in sync ends.
    ``can_lead`` says which brokers may lead, by default the active ones; the directory of a
    leader's replica is online in any case. ``unclean_shutdown`` is a broker that may have lost
    records, ``recovered`` says that the leader has what is left, and ``directory`` is the new
    directory of a broker's replica.
    """
    topic = state.cluster.topics[topic_id]
    now = topic.partitions[number]
    target = _Target(
        list(now.isr if in_sync is None else in_sync),
        list(now.replicas if replicas is None else replicas),
        list(now.removing_replicas if removing is None else removing),
        list(now.adding_replicas if adding is None else adding),
        now.elr,
    )
    target.complete_reassignment(needs_all=state.release < (4,))
    elr_enabled = eligible_replicas(state)
    if elr_enabled:
        target.choose_eligible(now, min_in_sync(state, topic), unclean_shutdown)
    is_acceptable = can_lead or state.is_active
    directories = dict(zip(now.replicas, now.directories, strict=True))

    def has_directory(broker: int) -> bool:
        """False for no replica: a last known leader may be none any more, and Kafka fails then."""
        found = directories.get(broker)
        return found is not None and is_acceptable(broker) and is_online(state, broker, found)

    election_of = _LeaderElection(now, target, has_directory, elr_enabled)
    leader, unclean = election_of.choose(election)
    unclean = unclean and leader != now.leader
    record = PartitionChangeRecord(partition_id=number, topic_id=topic_id)
    if leader != now.leader:
        record.leader = leader
        if leader in target.eligible:
            target.in_sync = [leader]
            target.eligible = [each for each in target.eligible if each != leader]
        if unclean:
            record.isr = [leader]
            if now.leader_recovery_state != _RECOVERING:
                record.leader_recovery_state = _RECOVERING
    elif set(now.replicas) - set(target.replicas):
        record.leader = now.leader  # a new leader epoch fences the removed replicas
    if unclean or not elr_enabled:
        target.eligible = []
    if target.eligible != now.elr:
        record.eligible_leader_replicas = target.eligible
    may_be_empty = bool(target.in_sync) or elr_enabled
    if record.isr is None and may_be_empty and target.in_sync != now.isr:
        record.isr = target.in_sync
    if elr_enabled:
        record.last_known_elr = _last_known_leader(now, record.leader)
    if recovered and now.leader_recovery_state != _RECOVERED:
        record.leader_recovery_state = _RECOVERED
    known = directories if directory is None else {**directories, directory[0]: directory[1]}
    _assign(state, record, now, target, known)
    unchanged = PartitionChangeRecord(partition_id=number, topic_id=topic_id)
    return None if record == unchanged else record


def unclean_allowed(state: State, topic: str) -> bool:
    """Whether a replica that is not in sync may lead a topic's partitions."""
    allowed: bool = state.topic_value(topic, "unclean.leader.election.enable")
    return allowed


def eligible_replicas(state: State) -> bool:
    return state.cluster.features.get(ELIGIBLE_REPLICAS, 0) > 0


def min_in_sync(state: State, topic: Topic) -> int:
    """``min.insync.replicas`` of a topic, at most its number of replicas."""
    wanted: int = state.topic_value(topic.name, "min.insync.replicas")
    first = next(iter(topic.partitions.values()))
    return min(wanted, len(first.replicas))


class _Target:
    """The target of a change: ISR, replicas, removed and added ones, eligible leaders."""

    def __init__(
        self,
        in_sync: list[int],
        replicas: list[int],
        removing: list[int],
        adding: list[int],
        eligible: list[int],
    ) -> None:
        self.in_sync = in_sync
        self.replicas = replicas
        self.removing = removing
        self.adding = adding
        self.eligible = eligible

    def complete_reassignment(self, *, needs_all: bool) -> None:
        """End a reassignment whose added replicas are in sync, or all of them: ``needs_all``."""
        if not (self.removing or self.adding):
            return
        staying = [each for each in self.replicas if each not in self.removing]
        in_sync = [each for each in self.in_sync if each not in self.removing]
        if self.removing and not (staying and in_sync):
            return
        needed = set(self.adding)
        if needs_all or len(self.adding) < len(self.removing):
            needed = set(staying)
        if needed <= set(in_sync):
            self.in_sync, self.replicas, self.removing, self.adding = in_sync, staying, [], []

    def choose_eligible(self, now: Partition, least: int, unclean_shutdown: int | None) -> None:
        """Make replicas eligible that leave an ISR of fewer than ``least``."""
        if len(self.in_sync) >= least:
            self.eligible = []
            return
        gone = {*self.in_sync, unclean_shutdown}
        self.eligible = sorted({*self.eligible, *now.isr} - gone)


class _LeaderElection:
    """Chooses a partition's leader."""

    def __init__(
        self, now: Partition, target: _Target, can_lead: Callable[[int], bool], elr_enabled: bool
    ) -> None:
        self._now = now
        self._target = target
        self._can_lead = can_lead
        self._elr_enabled = elr_enabled

    def choose(self, election: Election) -> tuple[int, bool]:
        """(leader or NO_LEADER, whether records may be lost)."""
        now, replicas = self._now, self._target.replicas
        preferred = replicas[:1] if election is Election.PREFERRED else []
        for each in [*preferred, now.leader, *replicas]:
            if self._is_valid(each):
                return each, False
        last_known = self._last_known()
        if last_known is not None:
            return last_known, True
        if election is Election.UNCLEAN:
            for each in replicas:
                if self._can_lead(each):
                    return each, True
        return NO_LEADER, False

    def _is_valid(self, broker: int) -> bool:
        """Whether a broker can lead: in sync, or eligible while no replica is in sync."""
        target = self._target
        return broker in (target.in_sync or target.eligible) and self._can_lead(broker)

    def _last_known(self) -> int | None:
        """The last known leader, if it may lead and no other replica can have all records."""
        known, target = self._now.last_known_elr, self._target
        if not self._elr_enabled or target.eligible or target.in_sync or len(known) != 1:
            return None
        return known[0] if self._can_lead(known[0]) else None


def _last_known_leader(now: Partition, leader: int) -> list[int] | None:
    """The new ``last_known_elr``: the last leader while no replica leads. None: unchanged."""
    if leader == NO_LEADER and not now.last_known_elr:
        return [now.leader]
    if leader >= 0 and now.last_known_elr:
        return []
    return None


def _assign(
    state: State,
    record: PartitionChangeRecord,
    now: Partition,
    target: _Target,
    known: Mapping[int, UUID],
) -> None:
    """Set the fields of the record for changed replicas, with the known ones' directories."""
    if target.replicas != now.replicas:
        record.replicas = target.replicas
    directories = [known.get(each) or directory_of(state, each) for each in target.replicas]
    if directories != now.directories:
        record.directories = directories
    if target.removing != now.removing_replicas:
        record.removing_replicas = target.removing
    if target.adding != now.adding_replicas:
        record.adding_replicas = target.adding
