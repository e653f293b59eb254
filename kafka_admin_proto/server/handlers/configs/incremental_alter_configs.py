"""IncrementalAlterConfigs: single configs set, deleted, or changed in their lists (KIP-339).

Versions: 1 flexible.
"""

from __future__ import annotations

from kafka_admin_proto.messages import IncrementalAlterConfigsRequest
from kafka_admin_proto.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.configs.changes import Change, alter
from kafka_admin_proto.server.state import State


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: IncrementalAlterConfigsRequest, caller: Caller) -> Answer:
    """Alter each resource separately, in the order of the request."""
    changes = [
        Change(
            each.resource_type,
            each.resource_name,
            tuple((one.name, one.config_operation, one.value) for one in each.configs),
        )
        for each in request.resources
    ]
    failures, records = alter(state, changes, caller)
    rows = []
    for change, failure in zip(changes, failures, strict=True):
        code, text = (0, None) if failure is None else (failure.code, failure.message)
        rows.append(AlterConfigsResourceResponse(code, text, change.kind, change.name))
    return Answer(
        IncrementalAlterConfigsResponse(responses=rows), [] if request.validate_only else records
    )
