"""ElectLeaders: elects the preferred leader, or since version 1 an unclean one.

Versions: 1 unclean elections (KIP-460), 2 flexible.
"""

from __future__ import annotations

from kafka_admin_proto.messages import ElectLeadersRequest
from kafka_admin_proto.messages.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.names import shortened
from kafka_admin_proto.server.topics.partition_changes import Election, change_partition
from kafka_admin_proto.values import Message

_ELECTIONS = {0: Election.PREFERRED, 1: Election.UNCLEAN}


@handler(of_broker=False, needs=Gate(ALTER, "operation"), kept=False)
def handle(state: State, request: ElectLeadersRequest, caller: Caller) -> Answer:
    """Elect for each partition; of all partitions the answer lists only those with a new leader.

    A request with an empty list of partitions succeeds without a check.
    """
    if request.topic_partitions == []:
        return Answer(ElectLeadersResponse())
    election = _ELECTIONS.get(request.election_type)
    if request.timeout_ms <= 0:
        return Answer(_failed(request, ApiFailure(codes.REQUEST_TIMED_OUT), caller))
    if election is None:
        text = f"Unknown election type {request.election_type}"
        return Answer(_failed(request, ApiFailure(codes.INVALID_REQUEST, text), caller))
    response = ElectLeadersResponse()
    records: list[Message] = []
    if request.topic_partitions is None:
        wanted = [(each.name, sorted(each.partitions)) for each in state.cluster.topics.values()]
    else:
        wanted = [(each.topic, each.partitions) for each in request.topic_partitions]
    for topic, numbers in wanted:
        rows = []
        for number in numbers:
            code, message = 0, None
            try:
                records.append(_elected(state, topic, number, election))
            except ApiFailure as failure:
                code, message = failure.code, failure.message
            if code != codes.ELECTION_NOT_NEEDED or request.topic_partitions is not None:
                rows.append(PartitionResult(number, code, message))
        response.replica_election_results.append(ReplicaElectionResult(topic, rows))
    return Answer(response, records)


def _elected(state: State, name: str, number: int, election: Election) -> Message:
    topic = state.topic(name)
    if topic is None:
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {shortened(name)}")
    partition = topic.partitions.get(number)
    if partition is None:
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{number}")
    preferred = election is Election.PREFERRED
    if partition.leader == partition.replicas[0] if preferred else partition.leader >= 0:
        text = "Leader election not needed for topic partition."
        raise ApiFailure(codes.ELECTION_NOT_NEEDED, text)
    record = change_partition(state, topic.id, number, election=election)
    if record is not None:
        return record
    if preferred:
        text = "The preferred leader was not available."
        raise ApiFailure(codes.PREFERRED_LEADER_NOT_AVAILABLE, text)
    text = "Eligible topic partition leaders are not available."
    raise ApiFailure(codes.ELIGIBLE_LEADERS_NOT_AVAILABLE, text)


def _failed(
    request: ElectLeadersRequest, failure: ApiFailure, caller: Caller
) -> ElectLeadersResponse:
    """The answer to a refused request: each partition has the error."""
    rows = [
        ReplicaElectionResult(
            topic.topic,
            [PartitionResult(each, failure.code, failure.message) for each in topic.partitions],
        )
        for topic in request.topic_partitions or ()
    ]
    code = failure.code if caller.version >= 1 else 0
    return ElectLeadersResponse(error_code=code, replica_election_results=rows)
