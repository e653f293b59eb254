"""CreateAcls: new ACLs.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from kafka_admin_proto.messages import CreateAclsRequest
from kafka_admin_proto.messages.create_acls_response import AclCreationResult, CreateAclsResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.failures import NO_AUTHORIZER, ApiFailure
from kafka_admin_proto.server.security.authorizer.bindings import (
    acl_of,
    check_binding,
    check_request,
    is_binding,
    record_of,
)
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


@handler(of_broker=False, needs=Gate(ALTER, "operation"), kept=False, check=check_request)
def handle(state: State, request: CreateAclsRequest, caller: Caller) -> Answer:
    """Create each ACL separately; an ACL that exists stays, without an error."""
    if state.authorizer is None:
        raise ApiFailure(codes.SECURITY_DISABLED, NO_AUTHORIZER)
    if not all(map(is_binding, request.creations)):
        raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
    level = state.cluster.features[METADATA_VERSION]
    existing = set(state.cluster.acls.values())
    records: list[Message] = []
    rows = []
    for creation in request.creations:
        try:
            check_binding(creation, state.release, level)
        except ApiFailure as refused:
            rows.append(AclCreationResult(refused.code, refused.message))
            continue
        rows.append(AclCreationResult())
        acl = acl_of(creation)
        if acl not in existing:
            existing.add(acl)
            records.append(record_of(acl))
    return Answer(CreateAclsResponse(results=rows), records)
