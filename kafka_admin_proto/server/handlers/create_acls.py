"""CreateAcls: there is no authorizer to keep them.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from kafka_admin_proto.messages.create_acls_request import CreateAclsRequest
from kafka_admin_proto.messages.create_acls_response import AclCreationResult, CreateAclsResponse
from kafka_admin_proto.server.failures import NO_AUTHORIZER, SECURITY_DISABLED
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.state import State


def handle(state: State, request: CreateAclsRequest, caller: Caller) -> Answer:
    """SECURITY_DISABLED for each."""
    rows = [AclCreationResult(SECURITY_DISABLED, NO_AUTHORIZER) for _ in request.creations]
    return Answer(CreateAclsResponse(results=rows))
