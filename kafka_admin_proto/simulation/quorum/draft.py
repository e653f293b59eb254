"""The quorum's messages as KIP-516 has them: topics by id, one topic, one partition.

Fetch is the shipped version 13, which has topic ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from kafka_admin_proto.messages import fetch_request as fetch
from kafka_admin_proto.messages import fetch_response as fetched
from kafka_admin_proto.messages.kip_516 import begin_quorum_epoch_request as begin
from kafka_admin_proto.messages.kip_516 import begin_quorum_epoch_response as begun
from kafka_admin_proto.messages.kip_516 import end_quorum_epoch_request as end
from kafka_admin_proto.messages.kip_516 import end_quorum_epoch_response as ended
from kafka_admin_proto.messages.kip_516 import vote_request as vote
from kafka_admin_proto.messages.kip_516 import vote_response as voted
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.quorum.state import LogEnd, QuorumState, VoteQuestion
from kafka_admin_proto.values import Message

CLUSTER_ID = "simulated"
VERSION = 0
FETCH_VERSION = 13

#: The requests that only voters send to each other.
VoterRequest = vote.VoteRequest | begin.BeginQuorumEpochRequest | end.EndQuorumEpochRequest


class Answer(NamedTuple):
    """The fields of every response of a voter; ``granted`` is of votes only."""

    error_code: int
    epoch: int
    leader_id: int
    granted: bool = False


def vote_request(topic_id: UUID, question: VoteQuestion) -> vote.VoteRequest:
    partition = vote.Partition(
        candidate_epoch=question.epoch,
        candidate_id=question.candidate_id,
        last_offset_epoch=question.end.epoch,
        last_offset=question.end.offset,
    )
    return vote.VoteRequest(CLUSTER_ID, [vote.Topic(topic_id, [partition])])


def begin_request(topic_id: UUID, leader_id: int, epoch: int) -> begin.BeginQuorumEpochRequest:
    """Say that the epoch has a leader."""
    partition = begin.Partition(leader_id=leader_id, leader_epoch=epoch)
    return begin.BeginQuorumEpochRequest(CLUSTER_ID, [begin.Topic(topic_id, [partition])])


def end_request(
    topic_id: UUID, leader_id: int, epoch: int, successors: Sequence[int]
) -> end.EndQuorumEpochRequest:
    """Say that the leader resigns, and who should follow it, the best first."""
    partition = end.Partition(
        replica_id=leader_id,
        leader_id=leader_id,
        leader_epoch=epoch,
        preferred_successors=list(successors),
    )
    return end.EndQuorumEpochRequest(CLUSTER_ID, [end.Topic(topic_id, [partition])])


def topic_id_of(request: VoterRequest) -> UUID:
    return request.topics[0].topic_id


def question_of(request: vote.VoteRequest) -> VoteQuestion:
    (partition,) = request.topics[0].partitions
    log_end = LogEnd(partition.last_offset_epoch, partition.last_offset)
    return VoteQuestion(partition.candidate_epoch, partition.candidate_id, log_end)


def is_of_another_cluster(request: VoterRequest) -> bool:
    return request.cluster_id != CLUSTER_ID


#: Request → the classes of its response, and of the response's topic and partition.
_RESPONSES: dict[type[Message], tuple[Any, Any, Any]] = {
    vote.VoteRequest: (voted.VoteResponse, voted.Topic, voted.Partition),
    begin.BeginQuorumEpochRequest: (begun.BeginQuorumEpochResponse, begun.Topic, begun.Partition),
    end.EndQuorumEpochRequest: (ended.EndQuorumEpochResponse, ended.Topic, ended.Partition),
}


def refusal(request: VoterRequest) -> Message:
    """The response to a request of another cluster."""
    answer: Message = _RESPONSES[type(request)][0](codes.INCONSISTENT_CLUSTER_ID)
    return answer


def response(
    request: VoterRequest, state: QuorumState, error_code: int, **of_vote: bool
) -> Message:
    """The response with the voter's epoch and leader, whatever the code is."""
    message, topic, partition = _RESPONSES[type(request)]
    row = partition(0, error_code, state.leader_id, state.epoch, **of_vote)
    answer: Message = message(0, [topic(topic_id_of(request), [row])])
    return answer


def answer_of(body: Message) -> Answer | None:
    """The fields of a response; None without a partition, as another cluster answers."""
    assert isinstance(
        body, voted.VoteResponse | begun.BeginQuorumEpochResponse | ended.EndQuorumEpochResponse
    )
    if not body.topics:
        return None
    (partition,) = body.topics[0].partitions
    granted = isinstance(partition, voted.Partition) and partition.vote_granted
    return Answer(partition.error_code, partition.leader_epoch, partition.leader_id, granted)


def fetch_of(
    topic_id: UUID, replica_id: int, epoch: int, log_end: LogEnd, wait_ms: int
) -> fetch.FetchRequest:
    """The request for the records after the end of the own log."""
    partition = fetch.FetchPartition(
        current_leader_epoch=epoch,
        fetch_offset=log_end.offset,
        last_fetched_epoch=log_end.epoch,
        partition_max_bytes=1 << 20,
    )
    return fetch.FetchRequest(
        CLUSTER_ID,
        replica_id=replica_id,
        max_wait_ms=wait_ms,
        topics=[fetch.FetchTopic(topic_id=topic_id, partitions=[partition])],
    )


def fetch_response(
    topic_id: UUID, state: QuorumState, partition: fetched.PartitionData
) -> fetched.FetchResponse:
    """The response to a Fetch, with the voter's epoch and leader."""
    partition.current_leader = fetched.LeaderIdAndEpoch(state.leader_id, state.epoch)
    topic = fetched.FetchableTopicResponse(topic_id=topic_id, partitions=[partition])
    return fetched.FetchResponse(responses=[topic])
