"""UnregisterBroker: a broker will not come back (KIP-631).

Versions: 0.
"""

from __future__ import annotations

from kafka_admin_proto.messages import UnregisterBrokerRequest, UnregisterBrokerResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.replicas import unregister
from kafka_admin_proto.server.failures import MOST_RECORDS, TOO_MANY_RECORDS, ApiFailure
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State


@handler(of_broker=False, needs=Gate(ALTER, "none"), kept=False)
def handle(state: State, request: UnregisterBrokerRequest, caller: Caller) -> Answer:
    """Forget a broker, which may run; BROKER_ID_NOT_REGISTERED for one that is not known.

    A broker that runs hears it by its next heartbeat, whose epoch is none any more.
    """
    if request.broker_id not in state.cluster.brokers:
        raise ApiFailure(codes.BROKER_ID_NOT_REGISTERED)
    records = unregister(state, request.broker_id)
    if len(records) > MOST_RECORDS:  # before its session is forgotten
        raise ApiFailure(codes.POLICY_VIOLATION, TOO_MANY_RECORDS)
    state.sessions.forget(request.broker_id)
    return Answer(UnregisterBrokerResponse(), records)
