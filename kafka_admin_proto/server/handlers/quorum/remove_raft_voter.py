"""RemoveRaftVoter: the quorum's voters are those of the nodes' properties (KIP-853).

Versions: 0.
"""

from __future__ import annotations

from kafka_admin_proto.messages import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State

_TEXT = "Cluster doesn't support removing voter because the kraft.version feature is 0"


@handler(of_broker=False, needs=Gate(ALTER, "code"), kept=False)
def handle(state: State, request: RemoveRaftVoterRequest, caller: Caller) -> Answer:
    """UNSUPPORTED_VERSION, as by a quorum of kraft.version 0."""
    return Answer(
        RemoveRaftVoterResponse(error_code=codes.UNSUPPORTED_VERSION, error_message=_TEXT)
    )
