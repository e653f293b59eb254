"""Apis that need one operation on the cluster, whatever they are asked for.

Without it the whole request is refused, by ``refused`` of the api's handler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kafka_admin_proto.server.authorizer.access import allows_on_cluster
from kafka_admin_proto.server.authorizer.rules import (
    ALTER,
    ALTER_CONFIGS,
    DESCRIBE,
    DESCRIBE_CONFIGS,
)
from kafka_admin_proto.server.failures import CLUSTER_AUTHORIZATION_FAILED, ApiFailure
from kafka_admin_proto.server.handlers import module_of

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.view import View
    from kafka_admin_proto.server.handlers import Caller
    from kafka_admin_proto.values import Message

_NAMES = {ALTER: "ALTER", DESCRIBE: "DESCRIBE"}


class _Gate(msgspec.Struct, frozen=True):
    """The operation, and whether the answer says which one was missing."""

    operation: int
    named: bool = True


GATES = {
    29: _Gate(DESCRIBE),
    30: _Gate(ALTER),
    31: _Gate(ALTER),
    35: _Gate(DESCRIBE, named=False),
    43: _Gate(ALTER),
    45: _Gate(ALTER),
    46: _Gate(DESCRIBE),
    48: _Gate(DESCRIBE_CONFIGS, named=False),
    49: _Gate(ALTER_CONFIGS, named=False),
    50: _Gate(DESCRIBE, named=False),
    51: _Gate(ALTER),
    55: _Gate(DESCRIBE, named=False),
    57: _Gate(ALTER),
    74: _Gate(DESCRIBE_CONFIGS, named=False),
    80: _Gate(ALTER, named=False),
    81: _Gate(ALTER, named=False),
}


def refusal(state: View, api_key: int, request: Any, caller: Caller) -> Message | None:
    """The response to a caller who may not ask this at all; None where it may, or for its parts."""
    gate = GATES.get(api_key)
    if gate is None or allows_on_cluster(state, caller, gate.operation):
        return None
    text = None
    if gate.named:  # Kafka shows its own objects there
        where = f"Request Request(listenerName=ListenerName({caller.listener}))"
        missing = f"needs {_NAMES[gate.operation]} permission."
        text = f"{where} {missing if state.release >= '4' else 'is not authorized.'}"
    failure = ApiFailure(CLUSTER_AUTHORIZATION_FAILED, text)
    response: Message = module_of(api_key).refused(request, failure, caller)
    return response
