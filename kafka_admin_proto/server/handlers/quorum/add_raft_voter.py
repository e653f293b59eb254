"""AddRaftVoter: the quorum's voters are those of the nodes' properties (KIP-853).

Versions: 1 an answer before the commit.
"""

from __future__ import annotations

from kafka_admin_proto.messages import AddRaftVoterRequest, AddRaftVoterResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State

_TEXT = "Cluster doesn't support adding voter because the kraft.version feature is 0"


@handler(of_broker=False, needs=Gate(ALTER, "code"), kept=False)
def handle(state: State, request: AddRaftVoterRequest, caller: Caller) -> Answer:
    """UNSUPPORTED_VERSION, as by a quorum of kraft.version 0."""
    return Answer(AddRaftVoterResponse(error_code=codes.UNSUPPORTED_VERSION, error_message=_TEXT))
