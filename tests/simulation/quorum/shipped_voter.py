"""A voter that answers Vote, BeginQuorumEpoch and EndQuorumEpoch as Kafka 4.3 ships them.

The rules are those of ``state``; the shipped messages have the topic's name where the drafts have
its id, and from version 1 on say which voter they are meant for. It sends nothing, and no record
ever reaches its log: it is what a real controller is compared with whose peers are silent.
"""

from __future__ import annotations

from uuid import UUID

from kafka_admin_proto.messages import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from kafka_admin_proto.messages import begin_quorum_epoch_response as begun
from kafka_admin_proto.messages import end_quorum_epoch_response as ended
from kafka_admin_proto.messages import vote_response as voted
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.quorum.followers import successor_backoff_ms
from kafka_admin_proto.simulation.quorum.state import LogEnd, QuorumState, Saved, VoteQuestion

QuorumRequest = VoteRequest | BeginQuorumEpochRequest | EndQuorumEpochRequest
QuorumResponse = voted.VoteResponse | begun.BeginQuorumEpochResponse | ended.EndQuorumEpochResponse


class ShippedVoter:
    """One voter: its log ends at ``end``, and its peers never answer."""

    def __init__(
        self, node_id: int, cluster_id: str, directory_id: UUID, end: LogEnd, epoch: int
    ) -> None:
        self._cluster_id = cluster_id
        self._directory_id = directory_id
        self._end = end
        self.quorum: QuorumState = QuorumState(node_id, _keep_nothing, Saved(epoch))

    def answer(self, request: QuorumRequest) -> QuorumResponse:
        """The response; raises InconsistentLeaderError where a real node ends itself."""
        if request.cluster_id not in (None, self._cluster_id):
            return self._refusal(request, codes.INCONSISTENT_CLUSTER_ID)
        if not _is_for_metadata(request):
            return self._refusal(request, codes.INVALID_REQUEST)
        if isinstance(request, VoteRequest):
            return self._vote(request)
        if isinstance(request, BeginQuorumEpochRequest):
            return self._begin(request)
        return self._end_epoch(request)

    def _vote(self, request: VoteRequest) -> voted.VoteResponse:
        (asked,) = request.topics[0].partitions
        question = VoteQuestion(
            asked.replica_epoch,
            asked.replica_id,
            LogEnd(asked.last_offset_epoch, asked.last_offset),
            asked.replica_directory_id,
            asked.pre_vote,
        )
        fits = self._is_meant(request.voter_id, asked.voter_directory_id)
        code, granted = self.quorum.vote(question, self._end, key_fits=fits)
        partition = voted.PartitionData(0, code, *self._known(), vote_granted=granted)
        return voted.VoteResponse(0, [voted.TopicData(METADATA_TOPIC, [partition])])

    def _begin(self, request: BeginQuorumEpochRequest) -> begun.BeginQuorumEpochResponse:
        (said,) = request.topics[0].partitions
        fits = self._is_meant(request.voter_id, said.voter_directory_id)
        code = self.quorum.begin_epoch(said.leader_id, said.leader_epoch, key_fits=fits)
        partition = begun.PartitionData(0, code, *self._known())
        return begun.BeginQuorumEpochResponse(0, [begun.TopicData(METADATA_TOPIC, [partition])])

    def _end_epoch(self, request: EndQuorumEpochRequest) -> ended.EndQuorumEpochResponse:
        (said,) = request.topics[0].partitions
        code = self.quorum.end_epoch(said.leader_id, said.leader_epoch)
        partition = ended.PartitionData(0, code, *self._known())
        found = ended.EndQuorumEpochResponse(0, [ended.TopicData(METADATA_TOPIC, [partition])])
        if not code and self.quorum.role == "follower":
            candidates = said.preferred_candidates
            order = [(each.candidate_id, each.candidate_directory_id) for each in candidates]
            order += [(each, ZERO_UUID) for each in said.preferred_successors]
            self._hurry(order)
        return found

    def _hurry(self, order: list[tuple[int, UUID]]) -> None:
        """The first successor asks at once whether it would be elected; nobody answers it."""
        mine = [
            position
            for position, (node_id, directory_id) in enumerate(order)
            if node_id == self.quorum.node_id and directory_id in (ZERO_UUID, self._directory_id)
        ]
        position = mine[0] if mine else len(order)
        if successor_backoff_ms(position, len(order), 1 << 20) == 0:
            self.quorum.role = "prospective"

    def _known(self) -> tuple[int, int]:
        return self.quorum.leader_id, self.quorum.epoch

    def _is_meant(self, voter_id: int, directory_id: UUID) -> bool:
        """Whether a request is for this voter: one without an id is, as before version 1."""
        if voter_id < 0:
            return True
        fits = directory_id in (ZERO_UUID, self._directory_id)
        return voter_id == self.quorum.node_id and fits

    def _refusal(self, request: QuorumRequest, code: int) -> QuorumResponse:
        if isinstance(request, VoteRequest):
            return voted.VoteResponse(code)
        if isinstance(request, BeginQuorumEpochRequest):
            return begun.BeginQuorumEpochResponse(code)
        return ended.EndQuorumEpochResponse(code)


def _is_for_metadata(request: QuorumRequest) -> bool:
    """Whether the request names the metadata topic's one partition and nothing else."""
    named = [(each.topic_name, [p.partition_index for p in each.partitions])
             for each in request.topics]  # fmt: skip
    return named == [(METADATA_TOPIC, [0])]


def _keep_nothing(saved: Saved) -> None:
    """This voter has no next life."""
