"""Our voter and a real controller of the newest release answer the same, request for request.

What ends a real node is asked last, each of a node of its own. ``KAFKA_ADMIN_PROTO_VOTES=600`` asks
so many requests, and all that end a node; CI asks 200 and the first of those.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto.messages import begin_quorum_epoch_request as begin
from kafka_admin_proto.messages import end_quorum_epoch_request as end
from kafka_admin_proto.messages import vote_request as vote
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.quorum.state import InconsistentLeaderError, LogEnd
from tests.helpers.profile import SEED
from tests.helpers.requirements import require_oracle
from tests.simulation.quorum.controller import (
    CLUSTER_ID,
    DIRECTORY_ID,
    LOG_END,
    NODE_ID,
    OTHERS,
    RealController,
    real_controller,
)
from tests.simulation.quorum.shipped_voter import QuorumRequest, QuorumResponse, ShippedVoter

pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("live controller")]
_BY_HAND = "KAFKA_ADMIN_PROTO_VOTES"
REQUESTS = int(os.environ.get(_BY_HAND, "200"))
_TOPIC = "__cluster_metadata"
_STRANGE_ID = UUID(int=77, version=4)


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealController]:
    require_oracle()
    with real_controller(tmp_path_factory.mktemp("controller")) as started:
        yield started


def our_voter() -> ShippedVoter:
    return ShippedVoter(NODE_ID, CLUSTER_ID, DIRECTORY_ID, LOG_END, LOG_END.epoch)


class Drawn:
    """Requests that fit what the voter knows, nearly."""

    def __init__(self, random: Random, voter: ShippedVoter, directory_id: UUID) -> None:
        self._random = random
        self._voter = voter
        self._directory_id = directory_id

    def request(self) -> tuple[QuorumRequest, int]:
        """A request and its version."""
        draws: list[Callable[[], tuple[QuorumRequest, int]]] = [
            self._vote, self._vote, self._begin, self._end,
        ]  # fmt: skip
        return self._random.choice(draws)()

    def _vote(self) -> tuple[vote.VoteRequest, int]:
        version = self._random.randrange(3)
        last = self._random.choice([LOG_END, LOG_END, LogEnd(2, 9), LogEnd(3, 2), LogEnd(4, 1),
                                    LogEnd(0, 0), LogEnd(3, -1), LogEnd(-1, 3)])  # fmt: skip
        epoch = self._epoch()
        if self._random.random() < 0.1:
            last = LogEnd(epoch + self._random.randrange(2), 5)
        partition = vote.PartitionData(
            self._rarely(1, 0), epoch, self._random.choice([*OTHERS, *OTHERS, 9, -1]),
            last_offset_epoch=last.epoch, last_offset=last.offset,
        )  # fmt: skip
        request = vote.VoteRequest(self._cluster_id(), topics=[vote.TopicData(self._topic())])
        request.topics[0].partitions = [partition] * self._rarely(2, 1)
        if version >= 1:
            request.voter_id = self._voter_id()
            partition.voter_directory_id = self._directory()
            partition.replica_directory_id = self._random.choice([ZERO_UUID, _STRANGE_ID])
        if version >= 2:
            partition.pre_vote = self._random.random() < 0.5
        return request, version

    def _begin(self) -> tuple[begin.BeginQuorumEpochRequest, int]:
        version = self._random.randrange(2)
        partition = begin.PartitionData(
            leader_id=self._leader(), leader_epoch=self._epoch(), partition_index=self._rarely(1, 0)
        )
        topic = begin.TopicData(self._topic(), [partition])
        request = begin.BeginQuorumEpochRequest(self._cluster_id(), topics=[topic])
        if version >= 1:
            request.voter_id = self._voter_id()
            partition.voter_directory_id = self._directory()
        return request, version

    def _end(self) -> tuple[end.EndQuorumEpochRequest, int]:
        version = self._random.randrange(2)
        order = self._random.sample([NODE_ID, *OTHERS], self._random.randrange(4))
        partition = end.PartitionData(leader_id=self._leader(), leader_epoch=self._epoch())
        if version == 0:
            partition.preferred_successors = order
        else:
            partition.preferred_candidates = [end.ReplicaInfo(e, self._directory()) for e in order]
        topic = end.TopicData(self._topic(), [partition])
        return end.EndQuorumEpochRequest(self._cluster_id(), topics=[topic]), version

    def _epoch(self) -> int:
        return self._voter.quorum.epoch + self._random.choice([-1, 0, 0, 0, 0, 0, 1, 1, 3])

    def _leader(self) -> int:
        known = self._voter.quorum.leader_id
        return self._random.choice([known, known, *OTHERS, -1])

    def _cluster_id(self) -> str | None:
        return self._random.choice([CLUSTER_ID, CLUSTER_ID, CLUSTER_ID, CLUSTER_ID, None, "other"])

    def _topic(self) -> str:
        return "other" if self._random.random() < 0.05 else _TOPIC

    def _voter_id(self) -> int:
        return self._random.choice([NODE_ID, NODE_ID, NODE_ID, -1, 2])

    def _directory(self) -> UUID:
        return self._random.choice([ZERO_UUID, self._directory_id, self._directory_id, _STRANGE_ID])

    def _rarely(self, rare: int, usual: int) -> int:
        return rare if self._random.random() < 0.05 else usual


def test_drawn_requests(controller: RealController) -> None:
    ours = our_voter()
    drawn = Drawn(Random(SEED), ours, DIRECTORY_ID)
    asked: list[object] = []
    seen: set[tuple[int, int]] = set()
    while len(asked) < REQUESTS:
        request, version = drawn.request()
        before = ours.quorum.saved(), ours.quorum.role
        try:
            expected = ours.answer(request)
        except InconsistentLeaderError:
            continue  # what ends a node is asked below
        asked.append((before, version, request))
        assert answer_of(controller.ask(request, version)) == answer_of(expected), asked[-8:]
        seen.add(codes_of(expected))
    assert {(0, 0), (0, 42), (0, 74), (0, 125), (42, 0), (104, 0)} <= seen


def answer_of(response: Any) -> object:
    """Codes, leader, epoch and vote: what else a response has are endpoints."""
    rows = [
        (p.error_code, p.leader_id, p.leader_epoch, getattr(p, "vote_granted", None))
        for topic in response.topics
        for p in topic.partitions
    ]
    return response.error_code, rows


def codes_of(response: QuorumResponse) -> tuple[int, int]:
    """The code at the top, and that of the partition."""
    codes = [p.error_code for topic in response.topics for p in topic.partitions]
    return response.error_code, codes[0] if codes else 0


def _begins(leader: int, epoch: int) -> begin.BeginQuorumEpochRequest:
    partition = begin.PartitionData(leader_id=leader, leader_epoch=epoch)
    return begin.BeginQuorumEpochRequest(CLUSTER_ID, topics=[begin.TopicData(_TOPIC, [partition])])


def _ends(leader: int, epoch: int) -> end.EndQuorumEpochRequest:
    partition = end.PartitionData(leader_id=leader, leader_epoch=epoch)
    return end.EndQuorumEpochRequest(CLUSTER_ID, topics=[end.TopicData(_TOPIC, [partition])])


def _votes_for_itself(epoch: int) -> vote.VoteRequest:
    partition = vote.PartitionData(0, epoch, NODE_ID, last_offset_epoch=3, last_offset=9)
    return vote.VoteRequest(CLUSTER_ID, topics=[vote.TopicData(_TOPIC, [partition])])


#: Each ends a real node: the request before it, and the one that does.
DEADLY: dict[str, tuple[QuorumRequest, QuorumRequest]] = {
    "another leader begins the epoch": (_begins(2, 10_000), _begins(3, 10_000)),
    "another leader ends the epoch": (_begins(2, 10_000), _ends(3, 10_000)),
    "the node is said to lead": (_begins(2, 10_000), _begins(NODE_ID, 10_001)),
    "the node asks itself for its vote": (_begins(2, 10_000), _votes_for_itself(10_001)),
}


@pytest.mark.parametrize("name", DEADLY if _BY_HAND in os.environ else list(DEADLY)[:1])
def test_what_ends_a_node(controller: RealController, name: str) -> None:
    harmless, deadly = DEADLY[name]
    assert controller.process is not None
    if controller.process.poll() is not None:
        controller.start()
    ours = our_voter()
    ours.answer(harmless)
    assert controller.ask(harmless, 0).error_code == 0
    with pytest.raises(InconsistentLeaderError):
        ours.answer(deadly)
    with pytest.raises(OSError, match=r"closed|reset"):
        controller.ask(deadly, 0)
    assert controller.exit_code() == 1
