"""IncrementalAlterConfigs: single configs set, deleted, or changed in their lists (KIP-339).

Versions: 1 flexible.
"""

from __future__ import annotations

from kafka_admin_proto.messages.incremental_alter_configs_request import (
    IncrementalAlterConfigsRequest,
)
from kafka_admin_proto.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kafka_admin_proto.server.configs.changes import Change, apply, forget_eligible, prepare
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.state import BROKER_LOGGER_RESOURCE, State
from kafka_admin_proto.values import Message


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
    records: list[Message] = []
    rows = []
    for change, refused in zip(changes, prepare(state, changes, caller), strict=True):
        failure = refused
        if failure is None and change.kind != BROKER_LOGGER_RESOURCE:
            try:
                records += apply(state, change, caller)
            except ApiFailure as found:
                failure = found
        code, text = (0, None) if failure is None else (failure.code, failure.message)
        rows.append(AlterConfigsResourceResponse(code, text, change.kind, change.name))
    records += forget_eligible(state, records)
    return Answer(
        IncrementalAlterConfigsResponse(responses=rows), [] if request.validate_only else records
    )
