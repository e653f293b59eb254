"""AlterConfigs: replaces all configs of a resource; others go back to their defaults.

Versions: 1 a throttle time, 2 flexible.
"""

from __future__ import annotations

from kafka_admin_proto.messages import AlterConfigsRequest
from kafka_admin_proto.messages.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.configs.changes import SET, Change, alter
from kafka_admin_proto.server.state import State


@handler(of_broker=False, needs=None, kept=False)
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
    failures, records = alter(state, changes, caller)
    rows = []
    for change, failure in zip(changes, failures, strict=True):
        code, text = (0, None) if failure is None else (failure.code, failure.message)
        rows.append(AlterConfigsResourceResponse(code, text, change.kind, change.name))
    return Answer(AlterConfigsResponse(responses=rows), [] if request.validate_only else records)
