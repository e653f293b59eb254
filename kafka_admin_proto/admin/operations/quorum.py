"""KRaft's quorum: its leader, the lag of its replicas, and changes of its voters."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.admin.operations.common.failures import raise_failure
from kafka_admin_proto.admin.operations.common.metadata import topic_id_text, topic_uuid
from kafka_admin_proto.admin.operations.common.timeouts import wire_timeout_ms
from kafka_admin_proto.errors import RemoteProtocolError, UnsupportedVersionError
from kafka_admin_proto.messages import (
    AddRaftVoterResponse,
    DescribeQuorumResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from kafka_admin_proto.messages.add_raft_voter_request import AddRaftVoterRequest, Listener
from kafka_admin_proto.messages.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kafka_admin_proto.messages.describe_quorum_response import PartitionData as DescribedPartition
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.wire.secrets import METADATA_TOPIC


class QuorumReplica(msgspec.Struct, frozen=True):
    """A voter or observer. Times are milliseconds since 1970.

    ``lag`` is in offsets behind the leader. Fields that the leader does not send are None.
    """

    id: int
    directory_id: str | None
    end_offset: int | None
    lag: int | None
    last_fetch_ms: int | None
    last_caught_up_ms: int | None


class QuorumListener(msgspec.Struct, frozen=True):
    """An address at which a voter listens for the other voters."""

    name: str
    host: str
    port: int


class QuorumNode(msgspec.Struct, frozen=True):
    """The listeners of a voter; brokers before 3.9 do not send them."""

    id: int
    listeners: list[QuorumListener]


class Quorum(msgspec.Struct, frozen=True, kw_only=True):
    """The quorum, as its leader sees it."""

    leader: int
    epoch: int
    high_watermark: int | None
    voters: list[QuorumReplica]
    observers: list[QuorumReplica]
    nodes: list[QuorumNode]


class QuorumOperations(Caller):
    """DescribeQuorum, AddRaftVoter, RemoveRaftVoter; KRaft clusters alone have them."""

    async def describe_quorum(self, *, timeout: float | None = None) -> Quorum:
        """The quorum; raises BrokerError, and UnsupportedVersionError with ZooKeeper."""
        answer = await _describe(self, timeout)
        partition = _only_partition(answer)
        leader = next(
            (
                each.log_end_offset
                for each in partition.current_voters
                if each.replica_id == partition.leader_id
            ),
            -1,
        )
        return Quorum(
            leader=partition.leader_id,
            epoch=partition.leader_epoch,
            high_watermark=_known(partition.high_watermark),
            voters=[_replica(each, leader) for each in partition.current_voters],
            observers=[_replica(each, leader) for each in partition.observers],
            nodes=[
                QuorumNode(
                    node.node_id,
                    [QuorumListener(each.name, each.host, each.port) for each in node.listeners],
                )
                for node in answer.nodes
            ],
        )

    async def add_raft_voter(
        self,
        voter: int,
        directory_id: str | UUID,
        listeners: Iterable[QuorumListener],
        *,
        timeout: float | None = None,
    ) -> None:
        """Make a controller that follows the quorum one of its voters.

        ``directory_id`` is that of its metadata log, in its meta.properties. Raises BrokerError
        (DUPLICATE_VOTER), and UnsupportedVersionError before 3.9 and with ZooKeeper.
        """
        deadline = call_deadline(self, timeout)
        reply = await self.call(
            AddRaftVoterRequest(
                cluster_id=None,
                timeout_ms=wire_timeout_ms(deadline.left),
                voter_id=voter,
                voter_directory_id=topic_uuid(directory_id),
                listeners=[
                    Listener(name=each.name, host=each.host, port=each.port) for each in listeners
                ],
            ),
            AddRaftVoterResponse,
            to=Target.CONTROLLER,
            timeout=deadline.left,
        )
        body = reply.body
        if not (reply.maybe_repeated and body.error_code == codes.DUPLICATE_VOTER):
            raise_failure(body.error_code, body.error_message, about={"voter": voter})

    async def remove_raft_voter(
        self, voter: int, directory_id: str | UUID, *, timeout: float | None = None
    ) -> None:
        """Make a voter of the quorum an observer.

        Raises BrokerError (VOTER_NOT_FOUND), and UnsupportedVersionError before 3.9 and with
        ZooKeeper.
        """
        reply = await self.call(
            RemoveRaftVoterRequest(
                cluster_id=None, voter_id=voter, voter_directory_id=topic_uuid(directory_id)
            ),
            RemoveRaftVoterResponse,
            to=Target.CONTROLLER,
            timeout=timeout,
        )
        body = reply.body
        if not (reply.maybe_repeated and body.error_code == codes.VOTER_NOT_FOUND):
            raise_failure(body.error_code, body.error_message, about={"voter": voter})


async def read_leader(caller: Caller, *, timeout: float | None = None) -> int | None:
    """The id of the quorum's leader; None where there is none or the client may not ask.

    Raises UnsupportedVersionError for a cluster with ZooKeeper.
    """
    try:
        leader = _only_partition(await _describe(caller, timeout)).leader_id
    except BrokerError:
        return None
    return leader if leader >= 0 else None


async def _describe(caller: Caller, timeout: float | None) -> DescribeQuorumResponse:
    topic = TopicData(topic_name=METADATA_TOPIC, partitions=[PartitionData(partition_index=0)])
    try:
        reply = await caller.call(
            DescribeQuorumRequest(topics=[topic]),
            DescribeQuorumResponse,
            to=Target.CONTROLLER,
            timeout=timeout,
        )
    except UnsupportedVersionError as error:
        raise UnsupportedVersionError(
            f"{error}; a cluster with ZooKeeper has no quorum of controllers: describe the cluster "
            "to see its controller"
        ) from None
    raise_failure(reply.body.error_code, reply.body.error_message, context="DescribeQuorum")
    return reply.body


def _only_partition(answer: DescribeQuorumResponse) -> DescribedPartition:
    partitions = [each for topic in answer.topics for each in topic.partitions]
    if len(partitions) != 1:
        raise RemoteProtocolError(
            f"DescribeQuorum was asked about one partition and answered about {len(partitions)}"
        )
    found = partitions[0]
    raise_failure(found.error_code, found.error_message, context="DescribeQuorum")
    return found


def _replica(state: DescribeQuorumResponse.ReplicaState, leader_end: int) -> QuorumReplica:
    end = _known(state.log_end_offset)
    return QuorumReplica(
        state.replica_id,
        topic_id_text(state.replica_directory_id),
        end,
        None if end is None or leader_end < 0 else max(0, leader_end - end),
        _known(state.last_fetch_timestamp),
        _known(state.last_caught_up_timestamp),
    )


def _known(number: int) -> int | None:
    return None if number < 0 else number
