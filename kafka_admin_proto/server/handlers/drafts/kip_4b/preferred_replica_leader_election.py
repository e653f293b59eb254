"""PreferredReplicaLeaderElection: a request begins it, and it ends some time later.

The election takes as long as new replicas take to be in sync; until then another one is refused.
"""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages.kip_4b.preferred_replica_leader_election_request import (
    PreferredReplicaLeaderElectionRequest,
    PreferredReplicaLeaderElectionRequestItem,
)
from kafka_admin_proto.messages.kip_4b.preferred_replica_leader_election_response import (
    PreferredReplicaLeaderElectionResponse,
    PreferredReplicaLeaderElectionResponseItem,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.handlers.drafts.codes import (
    ELECTION_IN_PROGRESS,
    INVALID_ELECTION_DATA,
    code_of,
    repeated,
)
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.partition_changes import Election, change_partition


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: PreferredReplicaLeaderElectionRequest, caller: Caller) -> Answer:
    """Begin the elections of each topic; without topics those of the whole cluster."""
    items = {each.topic: each for each in request.items} or {
        name: PreferredReplicaLeaderElectionRequestItem(name) for name in state.topic_names
    }
    twice = repeated(each.topic for each in request.items)
    running = bool(state.elections)
    rows = []
    for name, item in items.items():
        code = INVALID_ELECTION_DATA if name in twice else 0
        try:
            if not code:
                if running:
                    raise ApiFailure(ELECTION_IN_PROGRESS)
                _begin(state, item)
        except ApiFailure as failure:
            code = code_of(failure)
        rows.append(PreferredReplicaLeaderElectionResponseItem(name, code))
    if state.elections and not running:
        state.later(state.sync_delay_s, partial(elect, state))
    return Answer(PreferredReplicaLeaderElectionResponse(rows))


def _begin(state: State, item: PreferredReplicaLeaderElectionRequestItem) -> None:
    topic = state.topic(item.topic)
    if topic is None or any(each not in topic.partitions for each in item.partition_id):
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    if len(set(item.partition_id)) < len(item.partition_id):
        raise ApiFailure(INVALID_ELECTION_DATA)
    state.elections += [(topic.id, each) for each in item.partition_id or topic.partitions]


def elect(state: State) -> None:
    """End the election: the first replica of each partition leads, if it can lead.

    Without an active controller no leader is elected.
    """
    if not state.quorum.available:
        state.later(state.sync_delay_s, partial(elect, state))
        return
    elections, state.elections = state.elections, []
    for topic_id, number in elections:
        topic = state.topic_by_id(topic_id)
        if topic is None or number not in topic.partitions:
            continue
        record = change_partition(state, topic_id, number, election=Election.PREFERRED)
        if record is not None:
            state.append([record])
