"""Epochs, votes and leaders of one voter: the rules of voting, and the votes it has given.

The rules are KIP-595's; with ``prospective`` and ``VoteQuestion.pre_vote`` they are those that 4.3
ships (KIP-996), which only ``shipped`` uses. Nothing is sent here and nothing waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.schema.scalars import ZERO_UUID

#: Kafka's defaults of controller.quorum.election.timeout.ms, .fetch.timeout.ms and
#: .election.backoff.max.ms, and what a candidate backs off at least.
ELECTION_TIMEOUT_MS = 1000
FETCH_TIMEOUT_MS = 2000
BACKOFF_MAX_MS = 1000
BACKOFF_BASE_MS = 100
#: How long a leader keeps a Fetch to which it has nothing new to say.
FETCH_WAIT_MS = 500
#: Until a request that was lost is sent again.
RETRY_MS = 500

#: Stands for no node where a leader or a candidate would be.
NOBODY = -1

#: - ``unattached``: no leader of the epoch is known; the voter may have voted in it
#: - ``prospective``: asks whether it would be elected, in its old epoch (KIP-996)
#: - ``candidate``: has voted for itself
#: - ``resigned``: was the leader of this epoch, before it gave up or ended
Role = Literal["unattached", "prospective", "candidate", "follower", "leader", "resigned"]


class InconsistentLeaderError(Exception):
    """Two leaders of one epoch: no message may ever say that, so a real node ends itself."""


class LogEnd(NamedTuple):
    """The epoch of the last record and the offset behind it: logs are compared in this order."""

    epoch: int = 0
    offset: int = 0


class VoteQuestion(NamedTuple):
    """The fields of a Vote request, of any version."""

    epoch: int
    candidate_id: int
    end: LogEnd
    directory_id: UUID = ZERO_UUID
    pre_vote: bool = False


class Saved(NamedTuple):
    """The state that outlives a crash, as the file ``quorum-state`` has it."""

    epoch: int = 0
    leader_id: int = NOBODY
    voted_id: int = NOBODY
    voted_directory_id: UUID = ZERO_UUID


class QuorumState:
    """The state of one voter (or observer); ``save`` writes what must outlive a crash.

    Codes are Kafka's error codes of the partition, 0 where there is none.
    """

    def __init__(self, node_id: int, save: Callable[[Saved], None], saved: Saved | None) -> None:
        self.node_id: int = node_id
        self.role: Role = "unattached"
        self.epoch: int = 0
        self.leader_id: int = NOBODY
        self.voted_id: int = NOBODY
        self.voted_directory_id: UUID = ZERO_UUID
        self._save = save
        if saved is not None:
            self._restore(saved)

    def _restore(self, saved: Saved) -> None:
        """Start in the role of the last life; who led is resigned, so that it cannot vote again."""
        self.epoch, self.leader_id, self.voted_id, self.voted_directory_id = saved
        if self.leader_id == self.node_id:
            self.role = "resigned"
        elif self.voted_id == self.node_id:
            self.role = "candidate"
        elif self.leader_id != NOBODY:
            self.role = "follower"

    def vote(self, asked: VoteQuestion, end: LogEnd, *, key_fits: bool = True) -> tuple[int, bool]:
        """The code, and whether the vote is granted; ``end`` is that of the voter's own log.

        An epoch above the voter's is adopted whatever the answer is then; ``key_fits`` says whether
        the request is meant for this voter.
        """
        newest = asked.epoch if asked.pre_vote else asked.epoch - 1
        if asked.end.offset < 0 or not 0 <= asked.end.epoch <= newest:
            return codes.INVALID_REQUEST, False
        if code := self._check(asked.candidate_id, asked.epoch):
            return code, False
        if asked.epoch > self.epoch:
            self.become_unattached(asked.epoch)
        if not key_fits:
            return codes.INVALID_VOTER_KEY, False
        granted = self.may_grant(asked, self.is_up_to_date(asked.end, end))
        if granted and not asked.pre_vote and self.voted_id == NOBODY:
            if asked.candidate_id == self.node_id:
                raise InconsistentLeaderError(f"node {self.node_id} asks itself for its vote")
            self.become_voted(asked.candidate_id, asked.directory_id)
        return codes.NONE, granted

    def begin_epoch(self, leader_id: int, epoch: int, *, key_fits: bool = True) -> int:
        """A leader says that its epoch has begun.

        Raises InconsistentLeaderError where another leader of that epoch is known.
        """
        if code := self._check(leader_id, epoch):
            return code
        self.learn(epoch, leader_id)
        return codes.NONE if key_fits else codes.INVALID_VOTER_KEY

    def end_epoch(self, leader_id: int, epoch: int) -> int:
        """A leader resigns. Raises InconsistentLeaderError as ``begin_epoch`` does."""
        return self.begin_epoch(leader_id, epoch)

    def learn(self, epoch: int, leader_id: int) -> None:
        """Take the epoch and leader that a message names, where they are news.

        Raises InconsistentLeaderError where another leader of the own epoch is known, or this node
        is named that is not the leader.
        """
        if leader_id == self.node_id:
            if (self.role, epoch) != ("leader", self.epoch):
                raise InconsistentLeaderError(
                    f"node {leader_id} is named as leader of epoch {epoch}, but is {self.role}"
                )
            return
        if epoch == self.epoch and NOBODY not in (leader_id, self.leader_id):
            if leader_id != self.leader_id:
                raise InconsistentLeaderError(
                    f"epoch {epoch} has leader {self.leader_id}, and {leader_id} is named"
                )
            return
        if epoch > self.epoch and leader_id == NOBODY:
            self.become_unattached(epoch)
        elif epoch > self.epoch or (leader_id != NOBODY and self.leader_id == NOBODY):
            self.become_follower(epoch, leader_id)

    def _check(self, node_id: int, epoch: int) -> int:
        if self.is_stale(epoch):
            return codes.FENCED_LEADER_EPOCH
        return codes.INVALID_REQUEST if node_id < 0 else codes.NONE

    def is_stale(self, epoch: int) -> bool:
        return epoch < self.epoch

    def is_up_to_date(self, candidate: LogEnd, own: LogEnd) -> bool:
        """Whether the candidate's log has all that this voter's has."""
        return candidate >= own

    def may_grant(self, asked: VoteQuestion, is_up_to_date: bool) -> bool:
        """Whether the vote goes to the candidate: one vote in an epoch, none beside a leader.

        The answer to a pre-vote promises nothing. A follower that has fetched from its leader would
        refuse it; who asks pre-votes here never fetches.
        """
        if asked.pre_vote:
            return is_up_to_date and self.role != "leader"
        if self.role not in ("unattached", "prospective"):
            return False
        if self.voted_id != NOBODY:
            same = self.voted_directory_id in (ZERO_UUID, asked.directory_id)
            return self.voted_id == asked.candidate_id and same
        return self.leader_id == NOBODY and is_up_to_date

    def become_unattached(self, epoch: int) -> None:
        """Enter an epoch whose leader is not known."""
        self._enter("unattached", epoch, NOBODY)

    def become_voted(self, candidate_id: int, directory_id: UUID = ZERO_UUID) -> None:
        """Give the vote of this epoch away."""
        self.voted_id, self.voted_directory_id = candidate_id, directory_id
        self._save(self.saved())

    def become_candidate(self) -> None:
        """Enter the next epoch and vote for oneself."""
        self._enter("candidate", self.epoch + 1, NOBODY, self.node_id)

    def become_follower(self, epoch: int, leader_id: int) -> None:
        self._enter("follower", epoch, leader_id)

    def become_leader(self) -> None:
        """Lead the epoch for which the votes were given."""
        self._enter("leader", self.epoch, self.node_id)

    def become_resigned(self) -> None:
        """Lead no more; who starts again is resigned too, so nothing is written."""
        self.role = "resigned"

    def _enter(self, role: Role, epoch: int, leader_id: int, voted_id: int = NOBODY) -> None:
        self.role, self.epoch = role, epoch
        self.leader_id, self.voted_id, self.voted_directory_id = leader_id, voted_id, ZERO_UUID
        self._save(self.saved())

    def saved(self) -> Saved:
        return Saved(self.epoch, self.leader_id, self.voted_id, self.voted_directory_id)
