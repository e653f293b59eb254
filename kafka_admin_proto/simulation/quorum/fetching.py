"""The metadata log of one node: a follower fetches it, a leader writes and hands it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID
from zlib import crc32

from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchRequest
from kafka_admin_proto.messages.fetch_response import EpochEndOffset, FetchResponse, PartitionData
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.node import NodeContext, Request
from kafka_admin_proto.simulation.quorum import draft
from kafka_admin_proto.simulation.quorum.folder import MetadataFolder, MetadataLog
from kafka_admin_proto.simulation.quorum.followers import Followers
from kafka_admin_proto.simulation.quorum.state import (
    FETCH_TIMEOUT_MS,
    FETCH_WAIT_MS,
    RETRY_MS,
    LogEnd,
    QuorumState,
)
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, topic_id_to_text
from kafka_admin_proto.values import Message


class Member(Protocol):
    """The voter or observer whose log this is, with the members that fetching takes of it."""

    context: NodeContext
    folder: MetadataFolder
    voters: Sequence[int]
    quorum: QuorumState
    term: int

    @property
    def topic_id(self) -> UUID: ...
    @property
    def is_voter(self) -> bool: ...
    def new_topic_id(self) -> UUID: ...
    def apply_role(self) -> None: ...
    def run_for_election(self) -> None: ...
    def learn(self, code: int, epoch: int, leader_id: int) -> bool: ...
    def wait(self, delay_ms: int, call: Callable[[], None]) -> None: ...


class Fetching:
    """The log of a voter or observer, and the Fetch requests about it, both ways."""

    def __init__(self, voter: Member) -> None:
        self._voter = voter
        self._context = voter.context
        self.log: MetadataLog = MetadataLog(voter.folder)
        #: Records below this offset are committed; -1 before this life has heard of any.
        self.high_watermark: int = -1
        self._followers: Followers | None = None
        self._asked_for_leader = 0

    def knows(self, topic_id: UUID) -> int:
        """The code for an id of the metadata topic: the sentinel is always understood."""
        known = {METADATA_TOPIC_ID, self._voter.topic_id, self.log.assigned_topic_id}
        if topic_id in known:
            return codes.NONE
        unknown = self._voter.topic_id == METADATA_TOPIC_ID
        return codes.UNKNOWN_TOPIC_ID if unknown else codes.INCONSISTENT_TOPIC_ID

    # ---- the follower

    def follow(self) -> None:
        """Fetch from the leader of the epoch, which counts as lost without an answer in time."""
        self._expect_leader()
        self._fetch(self._voter.quorum.leader_id, self._voter.topic_id)

    def find_leader(self) -> None:
        """An observer asks one voter after the other: the answer names the leader."""
        voters = self._voter.voters
        self._asked_for_leader += 1
        self._fetch(voters[self._asked_for_leader % len(voters)], self._voter.topic_id)

    def _expect_leader(self) -> None:
        voter = self._voter
        if voter.is_voter:
            voter.wait(FETCH_TIMEOUT_MS, voter.run_for_election)
        else:
            voter.wait(FETCH_TIMEOUT_MS, self._lose_leader)

    def _lose_leader(self) -> None:
        """Without a leader in time an observer asks the voters for the new one."""
        self._voter.quorum.become_unattached(self._voter.quorum.epoch)
        self._voter.apply_role()

    def _fetch(self, node_id: int, topic_id: UUID) -> None:
        term, quorum = self._voter.term, self._voter.quorum
        request = draft.fetch_of(
            topic_id, self._context.node_id, quorum.epoch, self.log.end, FETCH_WAIT_MS
        )

        def fetched(body: Message | None) -> None:
            if term == self._voter.term:
                self._fetched(node_id, topic_id, body)

        self._context.send(node_id, request, draft.FETCH_VERSION, fetched)

    def _fetched(self, node_id: int, topic_id: UUID, body: Message | None) -> None:
        if body is None:
            self._retry()
            return
        assert isinstance(body, FetchResponse)
        (partition,) = body.responses[0].partitions
        code, leader = partition.error_code, partition.current_leader
        term = self._voter.term
        if self._voter.learn(code, leader.leader_epoch, leader.leader_id):
            if term == self._voter.term:  # else the new role has begun to fetch, or does not
                self._retry()
            return
        if code == codes.UNKNOWN_TOPIC_ID and topic_id != METADATA_TOPIC_ID:
            self._fetch(node_id, METADATA_TOPIC_ID)
        elif code != codes.NONE:
            self._retry()
        else:
            self._apply_fetched(partition)
            self._expect_leader()
            self._fetch(node_id, self._voter.topic_id)

    def _apply_fetched(self, partition: PartitionData) -> None:
        """Truncate the log where the leader's diverges, or append the records that it sent."""
        if partition.diverging_epoch.epoch >= 0:
            theirs = partition.diverging_epoch
            ours = self.log.end_of(theirs.epoch)
            offset = min(ours.offset, theirs.end_offset)
            self._context.note(f"cuts its log to offset {offset}", cut_to=offset)
            self.log.cut_to(offset)
        elif partition.records:
            self.log.append(partition.records)
        self.commit(min(partition.high_watermark, self.log.end.offset))

    def _retry(self) -> None:
        """Fetch again a little later, if the role lasts."""
        term = self._voter.term

        def again() -> None:
            if term != self._voter.term:
                return
            if self._voter.quorum.role == "follower":
                self._fetch(self._voter.quorum.leader_id, self._voter.topic_id)
            else:
                self.find_leader()

        self._context.call_later(RETRY_MS, again)

    def commit(self, high_watermark: int) -> None:
        """Records below that offset are committed: an id among them is the topic's from now on."""
        if high_watermark <= self.high_watermark:
            return
        self.high_watermark = high_watermark
        for entry in self.log.entries[:high_watermark]:
            if entry.topic_id is not None and entry.topic_id != self._voter.folder.topic_id:
                self._voter.folder.topic_id = entry.topic_id
                text = topic_id_to_text(entry.topic_id)
                self._context.note(
                    f"knows that the metadata topic has id {text}", known_topic_id=text
                )

    # ---- the leader

    def lead(self) -> None:
        """Begin the epoch's log with its first record, and give the topic its id if it has none."""
        voter, now = self._voter, self._context.now_ms
        epoch = voter.quorum.epoch
        self._followers = Followers(self._context.node_id, voter.voters, self.log.end.offset)
        self.log.append_leader_change(self._context.node_id, epoch, list(voter.voters), now)
        if self.needs_topic_id():
            topic_id = voter.new_topic_id()
            self.log.append_topic_id(topic_id, epoch, now)
            text = topic_id_to_text(topic_id)
            self._context.note(f"gives the metadata topic the id {text}", given_topic_id=text)
        self._advance()

    def needs_topic_id(self) -> bool:
        """Whether no record of the log gives the metadata topic its id."""
        return self.log.assigned_topic_id is None

    def stop(self) -> None:
        """Stop leading: Fetch requests that wait are answered."""
        if self._followers is None:
            return
        for node_id in self._followers.waiting():
            request = self._followers.take(node_id)
            assert request is not None
            self._context.respond(request, self._refuse(request, codes.NOT_LEADER_OR_FOLLOWER))
        self._followers = None

    def answer(self, request: Request) -> Message | None:
        """Answer a Fetch; None while it waits for something new."""
        assert isinstance(request.body, FetchRequest)
        ((partition,),) = (topic.partitions for topic in request.body.topics)
        code = self._check(request.body, partition)
        if code != codes.NONE:
            return self._refuse(request, code)
        followers = self._followers
        assert followers is not None
        asked = LogEnd(partition.last_fetched_epoch, partition.fetch_offset)
        valid = self.log.end_of(asked.epoch)
        if valid.epoch != asked.epoch or valid.offset < asked.offset:
            return self._respond(request, b"", EpochEndOffset(valid.epoch, valid.offset))
        followers.fetched(request.source, asked.offset, self._context.now_ms)
        self._advance()
        if followers.has_news(request.source, self.log):
            return self._records(request)
        followers.wait(request, self._context.call_later(FETCH_WAIT_MS, lambda: self._end(request)))
        return None

    def _check(self, body: FetchRequest, partition: FetchPartition) -> int:
        quorum = self._voter.quorum
        if code := self.knows(body.topics[0].topic_id):
            return code
        if partition.current_leader_epoch < quorum.epoch:
            return codes.FENCED_LEADER_EPOCH
        if partition.current_leader_epoch > quorum.epoch:
            return codes.UNKNOWN_LEADER_EPOCH
        return codes.NONE if quorum.role == "leader" else codes.NOT_LEADER_OR_FOLLOWER

    def _end(self, request: Request) -> None:
        """A Fetch has waited long enough."""
        if self._followers is not None and self._followers.take(request.source) is request:
            self._context.respond(request, self._records(request))

    def _advance(self) -> None:
        """Commit the records that a majority has, and answer Fetch requests that wait for them."""
        followers = self._followers
        assert followers is not None
        before = max(self.high_watermark, 0)
        if not followers.advance(self.log):
            return
        for entry in self.log.entries[before : followers.high_watermark]:
            self._context.note(
                f"has committed the record at offset {entry.offset}",
                committed=entry.offset, epoch=entry.epoch, checksum=crc32(entry.data),
            )  # fmt: skip
        self.commit(followers.high_watermark)
        for node_id in followers.waiting():
            request = followers.take(node_id)
            assert request is not None
            self._context.respond(request, self._records(request))

    def _records(self, request: Request) -> FetchResponse:
        assert isinstance(request.body, FetchRequest)
        offset = request.body.topics[0].partitions[0].fetch_offset
        return self._respond(request, self.log.data_from(offset), EpochEndOffset())

    def _respond(
        self, request: Request, records: bytes, diverging: EpochEndOffset
    ) -> FetchResponse:
        followers = self._followers
        assert followers is not None
        if diverging.epoch < 0:
            followers.answered(request.source)
        return draft.fetch_response(
            self._id_in(request),
            self._voter.quorum,
            PartitionData(
                high_watermark=followers.high_watermark, diverging_epoch=diverging, records=records
            ),
        )

    def _refuse(self, request: Request, code: int) -> FetchResponse:
        refused = PartitionData(error_code=code, high_watermark=-1, records=b"")
        return draft.fetch_response(self._id_in(request), self._voter.quorum, refused)

    def _id_in(self, request: Request) -> UUID:
        assert isinstance(request.body, FetchRequest)
        return request.body.topics[0].topic_id

    def successors(self) -> list[int]:
        """The other voters, the best first."""
        return [] if self._followers is None else self._followers.by_offset()

    def is_heard(self, since_ms: int) -> bool:
        """Whether a majority has fetched from this leader since then."""
        return self._followers is not None and self._followers.is_heard(since_ms)

    def has_fetched(self, node_id: int) -> bool:
        """Whether the node has fetched from this leader."""
        return self._followers is not None and self._followers.has_fetched(node_id)
