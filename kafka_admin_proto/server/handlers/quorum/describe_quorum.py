"""DescribeQuorum: the voters of the metadata log and how far each is (KIP-595).

Versions: 1 when each fetched and was caught up (KIP-836), 2 addresses, directories and messages
(KIP-853).
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeQuorumRequest
from kafka_admin_proto.messages.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import LastSeen
from kafka_admin_proto.server.failures import NOT_HOSTED
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.names import CLUSTER_METADATA


@handler(of_broker=False, needs=Gate(DESCRIBE, "code"), kept=False)
def handle(state: State, request: DescribeQuorumRequest, caller: Caller) -> Answer:
    """All nodes are voters; a stopped one has the end offset that it had when it stopped.

    Brokers in processes of their own are observers, from their first Fetch on.
    """
    response = DescribeQuorumResponse()
    known = [(each.topic_name, [p.partition_index for p in each.partitions])
             for each in request.topics]  # fmt: skip
    if known != [(CLUSTER_METADATA, [0])]:
        response.topics = [
            TopicData(
                name,
                [
                    PartitionData(each, codes.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED)
                    for each in numbers
                ],
            )
            for name, numbers in known
        ]
        return Answer(response)
    seen = LastSeen(state.end_offset, state.clock.now_ms())
    voters = []
    for voter in state.static:
        last = state.quorum.last_seen.get(voter, seen)
        timestamp = last.timestamp if caller.version >= 1 else -1
        voters.append(
            ReplicaState(
                replica_id=voter,
                log_end_offset=last.end_offset,
                last_fetch_timestamp=timestamp,
                last_caught_up_timestamp=timestamp,
            )
        )
    observers = {} if state.metadata_log is None else state.metadata_log.observers()
    quorum = PartitionData(
        error_message="",
        leader_id=state.controller,
        leader_epoch=state.quorum.epoch,
        high_watermark=seen.end_offset,
        current_voters=voters,
        observers=[
            ReplicaState(
                replica_id=number,
                replica_directory_id=each.directory,
                log_end_offset=each.offset,
                last_fetch_timestamp=each.fetched_ms if caller.version >= 1 else -1,
                last_caught_up_timestamp=each.caught_up_ms if caller.version >= 1 else -1,
            )
            for number, each in observers.items()
        ],
    )
    response.topics = [TopicData(CLUSTER_METADATA, [quorum])]
    if caller.version >= 2:
        response.nodes = [
            Node(number, [Listener(each.name, each.host, each.port)
                          for each in controller.endpoints.values()])
            for number, controller in sorted(state.cluster.controllers.items())
        ]  # fmt: skip
    return Answer(response)
