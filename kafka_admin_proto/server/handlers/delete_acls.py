"""DeleteAcls: there is no authorizer that keeps any.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from kafka_admin_proto.messages.delete_acls_request import DeleteAclsRequest
from kafka_admin_proto.messages.delete_acls_response import (
    DeleteAclsFilterResult,
    DeleteAclsResponse,
)
from kafka_admin_proto.server.failures import NO_AUTHORIZER, SECURITY_DISABLED
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.state import State


def handle(state: State, request: DeleteAclsRequest, caller: Caller) -> Answer:
    """SECURITY_DISABLED for each filter."""
    rows = [DeleteAclsFilterResult(SECURITY_DISABLED, NO_AUTHORIZER) for _ in request.filters]
    return Answer(DeleteAclsResponse(filter_results=rows))
