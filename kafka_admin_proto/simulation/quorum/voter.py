"""A voter of the metadata topic, or an observer, on the drafts' messages (KIP-595, KIP-516).

Before its id is committed the metadata topic has the sentinel id in every request; afterwards a
node uses the id that its ``partition.metadata`` has. The sentinel stays understood: who was away
when the id was given asks with it. A node that gets an id that it does not know yet answers
UNKNOWN_TOPIC_ID, and is asked again with the sentinel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from kafka_admin_proto.messages import FetchRequest
from kafka_admin_proto.messages.kip_516 import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    VoteRequest,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.node import Cancel, NodeContext, Request
from kafka_admin_proto.simulation.quorum import draft
from kafka_admin_proto.simulation.quorum.fetching import Fetching
from kafka_admin_proto.simulation.quorum.folder import MetadataFolder
from kafka_admin_proto.simulation.quorum.followers import successor_backoff_ms
from kafka_admin_proto.simulation.quorum.state import (
    BACKOFF_BASE_MS,
    BACKOFF_MAX_MS,
    ELECTION_TIMEOUT_MS,
    FETCH_TIMEOUT_MS,
    NOBODY,
    RETRY_MS,
    QuorumState,
    VoteQuestion,
)
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, topic_id_to_text
from kafka_admin_proto.values import Message


class Voter:
    """One life of a node of the quorum; ``folder`` is what its lives share.

    A node that is not among the ``voters`` is an observer: it fetches and has no vote.
    """

    def __init__(self, context: NodeContext, folder: MetadataFolder, voters: Sequence[int]) -> None:
        self.context: NodeContext = context
        self.folder: MetadataFolder = folder
        self.voters: Sequence[int] = voters
        self.quorum: QuorumState = QuorumState(context.node_id, folder.save, folder.saved())
        self.fetching: Fetching = Fetching(self)
        self._granted: set[int] = set()
        self._rejected: set[int] = set()
        self._elections = 0
        self._successors: list[int] = []
        self._timer: Cancel | None = None
        #: When this node runs for election if it hears of no leader.
        self._election_at_ms = 0
        self._seen: tuple[object, ...] = ()
        #: Grows with each change of role or epoch: what was sent before does not count any more.
        self.term: int = 0

    # ---- what the world calls

    def start(self) -> None:
        """Go on from where the last life ended."""
        self.apply_role()

    def handle(self, request: Request) -> Message | None:
        """Answer a request; a Fetch may wait."""
        if isinstance(request.body, FetchRequest):
            return self.fetching.answer(request)
        body = request.body
        assert isinstance(body, VoteRequest | BeginQuorumEpochRequest | EndQuorumEpochRequest)
        if draft.is_of_another_cluster(body):
            return draft.refusal(body)
        if code := self.fetching.knows(draft.topic_id_of(body)):
            return draft.response(body, self.quorum, code)
        answer = self._answer(body)
        self.apply_role()
        if isinstance(body, EndQuorumEpochRequest):
            self._run_sooner(body)
        return answer

    def state(self) -> dict[str, Any]:
        """Role, epoch, leader and log, as the page shows them."""
        quorum, log = self.quorum, self.fetching.log
        return {
            "role": quorum.role if self.is_voter else "observer",
            "epoch": quorum.epoch,
            "leader": _node(quorum.leader_id),
            "voted for": _node(quorum.voted_id),
            "log end": log.end.offset,
            "high watermark": max(self.fetching.high_watermark, 0),
            "topic id": topic_id_to_text(self.topic_id),
        }

    # ---- ids

    @property
    def topic_id(self) -> UUID:
        """The metadata topic's id as far as this node knows it: its own or the sentinel."""
        return self.folder.topic_id or METADATA_TOPIC_ID

    def new_topic_id(self) -> UUID:
        """An id for the metadata topic; of version 4, so none of the reserved ones."""
        while True:
            topic_id = UUID(int=self.context.random.getrandbits(128), version=4)
            if not topic_id_to_text(topic_id).startswith("-"):
                return topic_id

    # ---- answers

    @property
    def is_voter(self) -> bool:
        return self.context.node_id in self.voters

    def _answer(self, body: draft.VoterRequest) -> Message:
        if isinstance(body, VoteRequest):
            code, granted = self.quorum.vote(draft.question_of(body), self.fetching.log.end)
            return draft.response(body, self.quorum, code, vote_granted=granted)
        (partition,) = body.topics[0].partitions
        if isinstance(body, EndQuorumEpochRequest):
            code = self.quorum.end_epoch(partition.leader_id, partition.leader_epoch)
        else:
            code = self.quorum.begin_epoch(partition.leader_id, partition.leader_epoch)
        return draft.response(body, self.quorum, code)

    def _run_sooner(self, body: EndQuorumEpochRequest) -> None:
        """The leader has resigned: run for election sooner, the best successor at once."""
        (partition,) = body.topics[0].partitions
        if self.quorum.role != "follower" or not self.is_voter:
            return
        if (partition.leader_epoch, partition.leader_id) != (
            self.quorum.epoch, self.quorum.leader_id
        ):  # fmt: skip
            return
        order = partition.preferred_successors
        me = self.context.node_id
        position = order.index(me) if me in order else len(order)
        delay = successor_backoff_ms(position, len(order), BACKOFF_MAX_MS)
        self.wait(delay, self.run_for_election)

    # ---- roles

    def apply_role(self) -> None:
        """Act on a change of role, epoch or vote; nothing where there was none."""
        quorum = self.quorum
        now = (quorum.role, quorum.epoch, quorum.leader_id, quorum.voted_id)
        if now == self._seen:
            return
        was, self._seen = self._seen[:1], now
        self.term += 1
        self._cancel()
        self.fetching.stop()
        if quorum.role == "unattached":
            self._become_unattached(was)
        elif quorum.role == "candidate":
            self._become_candidate()
        elif quorum.role == "follower":
            self.context.note(
                f"follows node {quorum.leader_id} in epoch {quorum.epoch}",
                epoch=quorum.epoch, follows=quorum.leader_id,
            )  # fmt: skip
            self.fetching.follow()
        elif quorum.role == "leader":
            self._become_leader()
        else:
            self._become_resigned(after_start=was == ())

    def _become_unattached(self, was: tuple[object, ...]) -> None:
        quorum = self.quorum
        if quorum.voted_id != NOBODY or not self.keeps_waiting(was):
            self._election_at_ms = self.context.now_ms + self._election_timeout_ms()
        if quorum.voted_id != NOBODY:
            self.context.note(
                f"votes for node {quorum.voted_id} in epoch {quorum.epoch}",
                epoch=quorum.epoch, voted_for=quorum.voted_id,
            )  # fmt: skip
        if self.is_voter:
            self.wait(max(0, self._election_at_ms - self.context.now_ms), self.run_for_election)
        else:
            self.fetching.find_leader()

    def keeps_waiting(self, was: tuple[object, ...]) -> bool:
        """Whether an epoch that brings no leader leaves the time until the own candidacy as it is.

        Else a candidate that cannot win, as its log is too short, would hold up those that can.
        """
        return was in (("unattached",), ("candidate",))

    def _become_candidate(self) -> None:
        quorum, me = self.quorum, self.context.node_id
        self.context.note(
            f"is a candidate in epoch {quorum.epoch}", epoch=quorum.epoch, voted_for=me
        )
        self._granted, self._rejected = {me}, set()
        self._elections += 1
        timeout_ms = self._election_timeout_ms()
        self._election_at_ms = self.context.now_ms + timeout_ms
        self.wait(timeout_ms, self._back_off)
        question = VoteQuestion(quorum.epoch, me, self.fetching.log.end)
        if self._elected():
            return
        for voter in self._others():
            self._ask(voter, lambda topic_id: draft.vote_request(topic_id, question), self._counted)

    def _counted(self, voter: int, answer: draft.Answer) -> None:
        if answer.error_code:
            return
        (self._granted if answer.granted else self._rejected).add(voter)
        if not self._elected() and 2 * len(self._rejected) > len(self.voters):
            self._back_off()

    def _elected(self) -> bool:
        if not self.is_majority(len(self._granted)):
            return False
        self.quorum.become_leader()
        self.apply_role()
        return True

    def is_majority(self, votes: int) -> bool:
        return 2 * votes > len(self.voters)

    def _become_leader(self) -> None:
        quorum = self.quorum
        self._elections = 0
        self.context.note(f"leads epoch {quorum.epoch}", epoch=quorum.epoch, leads=True)
        self.fetching.lead()
        for voter in self._others():
            self._begin(voter)
        self._listen()

    def _begin(self, voter: int) -> None:
        """Say that the epoch has begun, until the voter has heard of it."""
        me, epoch = self.context.node_id, self.quorum.epoch
        self._ask(
            voter,
            lambda topic_id: draft.begin_request(topic_id, me, epoch),
            lambda voter, answer: None,
            unless=lambda: self.fetching.has_fetched(voter),
        )

    def _listen(self) -> None:
        """Resign where no majority has fetched for as long as followers wait for their leader."""
        since = self.context.now_ms

        def check() -> None:
            if self.fetching.is_heard(since):
                self._listen()
            else:
                self.resign()

        self.wait(FETCH_TIMEOUT_MS, check)

    def resign(self) -> None:
        """Resign as a leader that is shut down in order; nothing where it does not lead."""
        if self.quorum.role == "leader":
            self._successors = self.fetching.successors()
            self.quorum.become_resigned()
            self.apply_role()

    def _become_resigned(self, *, after_start: bool) -> None:
        me, epoch = self.context.node_id, self.quorum.epoch
        self.context.note(f"has resigned in epoch {epoch}", epoch=epoch)
        self.wait(self._election_timeout_ms(), self.run_for_election)
        if after_start:
            return
        successors = self._successors
        for voter in self._others():
            self._ask(
                voter,
                lambda topic_id: draft.end_request(topic_id, me, epoch, successors),
                lambda voter, answer: None,
            )

    def run_for_election(self) -> None:
        """Enter the next epoch as a candidate."""
        self.quorum.become_candidate()
        self.apply_role()

    def _back_off(self) -> None:
        """This election is lost: wait a while, longer each time, and hold the next."""
        steps = self.context.random.randrange(2 << min(20, self._elections - 1))
        self.wait(min(BACKOFF_BASE_MS * steps, BACKOFF_MAX_MS), self.run_for_election)

    # ---- asking others

    def _others(self) -> list[int]:
        return [each for each in self.voters if each != self.context.node_id]

    def _ask(
        self,
        node_id: int,
        make: Callable[[UUID], draft.VoterRequest],
        then: Callable[[int, draft.Answer], None],
        *,
        unless: Callable[[], bool] = lambda: False,
    ) -> None:
        """Send until an answer comes, as long as role and epoch last."""
        term = self.term

        def send(topic_id: UUID) -> None:
            if term != self.term or unless():
                return
            body = make(topic_id)
            self.context.send(node_id, body, draft.VERSION, answered)

        def answered(body: Message | None) -> None:
            if term != self.term:
                return
            if body is None:
                self.context.call_later(RETRY_MS, lambda: send(self.topic_id))
                return
            answer = draft.answer_of(body)
            if answer is None or self.learn(answer.error_code, answer.epoch, answer.leader_id):
                return
            if answer.error_code == codes.UNKNOWN_TOPIC_ID:
                send(METADATA_TOPIC_ID)
            else:
                then(node_id, answer)

        send(self.topic_id)

    def learn(self, code: int, epoch: int, leader_id: int) -> bool:
        """Take epoch and leader out of a response; True where the response has nothing else."""
        if epoch < self.quorum.epoch:
            return True
        stale = epoch > self.quorum.epoch or code in (
            codes.FENCED_LEADER_EPOCH,
            codes.NOT_LEADER_OR_FOLLOWER,
        )
        if stale or (leader_id != NOBODY and self.quorum.leader_id == NOBODY):
            self.quorum.learn(epoch, leader_id)
            self.apply_role()
            return stale or code != codes.NONE or self.quorum.role == "follower"
        return False

    # ---- time

    def wait(self, delay_ms: int, call: Callable[[], None]) -> None:
        """Set this role's one timer anew."""
        self._cancel()
        self._timer = self.context.call_later(delay_ms, call)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer()
            self._timer = None

    def _election_timeout_ms(self) -> int:
        return ELECTION_TIMEOUT_MS + self.context.random.randrange(ELECTION_TIMEOUT_MS)


def _node(node_id: int) -> int | None:
    return None if node_id == NOBODY else node_id
