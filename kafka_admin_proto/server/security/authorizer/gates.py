"""Apis that need one operation on the cluster, whatever the request contains.

A caller without it gets a refusal of the whole request.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_admin_proto.server.failures import CLUSTER_AUTHORIZATION_FAILED, NOT_AUTHORIZED
from kafka_admin_proto.server.faults.error_answers import Failure, whole_answer
from kafka_admin_proto.server.security.authorizer.access import allows_on_cluster
from kafka_admin_proto.server.security.authorizer.bindings import check_request
from kafka_admin_proto.server.security.authorizer.rules import (
    ALTER,
    ALTER_CONFIGS,
    DESCRIBE,
    DESCRIBE_CONFIGS,
)

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.view import View
    from kafka_admin_proto.server.handlers import Caller
    from kafka_admin_proto.values import Message

_NAMES = {ALTER: "ALTER", DESCRIBE: "DESCRIBE"}
_ABOUT_ACLS = frozenset({29, 30, 31})


class _Text(Enum):
    """The text of the error."""

    #: No text.
    NONE = "none"
    #: The text of the error code.
    CODE = "code"
    #: A text that names the missing operation.
    OPERATION = "operation"


class _Gate(msgspec.Struct, frozen=True):
    operation: int
    text: _Text


GATES = {
    29: _Gate(DESCRIBE, _Text.OPERATION),
    30: _Gate(ALTER, _Text.OPERATION),
    31: _Gate(ALTER, _Text.OPERATION),
    35: _Gate(DESCRIBE, _Text.NONE),
    43: _Gate(ALTER, _Text.OPERATION),
    45: _Gate(ALTER, _Text.OPERATION),
    46: _Gate(DESCRIBE, _Text.OPERATION),
    48: _Gate(DESCRIBE_CONFIGS, _Text.NONE),
    49: _Gate(ALTER_CONFIGS, _Text.CODE),
    50: _Gate(DESCRIBE, _Text.NONE),
    51: _Gate(ALTER, _Text.OPERATION),
    55: _Gate(DESCRIBE, _Text.CODE),
    57: _Gate(ALTER, _Text.OPERATION),
    74: _Gate(DESCRIBE_CONFIGS, _Text.NONE),
    80: _Gate(ALTER, _Text.CODE),
    81: _Gate(ALTER, _Text.CODE),
}


def refusal(state: View, api_key: int, request: Any, caller: Caller) -> Message | None:
    """The refusal for a caller without the operation; None if the request may be handled.

    Raises RemoteProtocolError for ACLs for which Kafka closes the connection before this check.
    """
    if api_key in _ABOUT_ACLS:
        check_request(request)
    gate = GATES.get(api_key)
    if gate is None or allows_on_cluster(state, caller, gate.operation):
        return None
    text = None
    if gate.text is _Text.CODE:
        text = NOT_AUTHORIZED[CLUSTER_AUTHORIZATION_FAILED]
    elif gate.text is _Text.OPERATION:  # Kafka shows its own objects there
        where = f"Request Request(listenerName=ListenerName({caller.listener}))"
        missing = f"needs {_NAMES[gate.operation]} permission."
        text = f"{where} {missing if state.release >= '4' else 'is not authorized.'}"
    return whole_answer(request, caller.version, Failure(CLUSTER_AUTHORIZATION_FAILED, text))
