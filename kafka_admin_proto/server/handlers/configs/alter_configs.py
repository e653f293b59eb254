"""AlterConfigs: replaces all configs of a resource; others go back to their defaults.

Versions: 1 a throttle time, 2 flexible.
"""

from __future__ import annotations

from kafka_admin_proto.messages.alter_configs_request import AlterConfigsRequest
from kafka_admin_proto.messages.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from kafka_admin_proto.server.configs.changes import SET, Change, apply, forget_eligible, prepare
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


def handle(state: State, request: AlterConfigsRequest, caller: Caller) -> Answer:
    """Alter each resource separately, in the order of the request."""
    changes = [
        Change(
            each.resource_type,
            each.resource_name,
            tuple((one.name, SET, one.value) for one in each.configs),
            replace=True,
        )
        for each in request.resources
    ]
    records: list[Message] = []
    rows = []
    for change, refused in zip(changes, prepare(state, changes, caller), strict=True):
        failure = refused
        if failure is None:
            try:
                records += apply(state, change, caller)
            except ApiFailure as found:
                failure = found
        code, text = (0, None) if failure is None else (failure.code, failure.message)
        rows.append(AlterConfigsResourceResponse(code, text, change.kind, change.name))
    records += forget_eligible(state, records)
    return Answer(AlterConfigsResponse(responses=rows), [] if request.validate_only else records)
