"""The refusal of a whole request, whose api needs an operation on the cluster."""

from __future__ import annotations

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.server.apis import Caller, Gate
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import NOT_AUTHORIZED
from kafka_admin_proto.server.security.authorizer.access import allows_on_cluster
from kafka_admin_proto.server.security.authorizer.rules import ALTER, DESCRIBE
from kafka_admin_proto.values import Message

#: The operations that a refusal names.
NAMED_OPERATIONS = {ALTER: "ALTER", DESCRIBE: "DESCRIBE"}


def refusal(state: View, gate: Gate, request: Message, caller: Caller) -> Message | None:
    """The refusal for a caller without the operation; None if the request may be handled."""
    if allows_on_cluster(state, caller, gate.operation):
        return None
    text = None
    if gate.text == "code":
        text = NOT_AUTHORIZED[codes.CLUSTER_AUTHORIZATION_FAILED]
    elif gate.text == "operation":  # Kafka shows its own objects there
        where = f"Request Request(listenerName=ListenerName({caller.listener}))"
        missing = f"needs {NAMED_OPERATIONS[gate.operation]} permission."
        text = f"{where} {missing if state.release >= (4,) else 'is not authorized.'}"
    return whole_answer(request, caller.version, Failure(codes.CLUSTER_AUTHORIZATION_FAILED, text))
