"""CreateAcls: who may do what from now on.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from kafka_admin_proto.messages.create_acls_request import CreateAclsRequest
from kafka_admin_proto.messages.create_acls_response import AclCreationResult, CreateAclsResponse
from kafka_admin_proto.server.authorizer.bindings import (
    acl_of,
    check_binding,
    check_codes,
    check_is_binding,
    record_of,
)
from kafka_admin_proto.server.failures import NO_AUTHORIZER, SECURITY_DISABLED, ApiFailure
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


def handle(state: State, request: CreateAclsRequest, caller: Caller) -> Answer:
    """Each ACL for itself; one that is there already stays as it is, and there is no error."""
    check_request(request)
    if state.authorizer is None:
        failure = ApiFailure(SECURITY_DISABLED, NO_AUTHORIZER)
        return Answer(refused(request, failure, caller))
    try:
        for each in request.creations:
            check_is_binding(each)
    except ApiFailure as failure:
        return Answer(refused(request, failure, caller))
    existing = set(state.cluster.acls.values())
    records: list[Message] = []
    rows = []
    for each in request.creations:
        try:
            check_binding(each)
        except ApiFailure as failure:
            rows.append(AclCreationResult(failure.code, failure.message))
            continue
        rows.append(AclCreationResult())
        acl = acl_of(each)
        if acl not in existing:
            existing.add(acl)
            records.append(record_of(acl))
    return Answer(CreateAclsResponse(results=rows), records)


def check_request(request: CreateAclsRequest) -> None:
    """Raises RemoteProtocolError for codes with which Kafka ends the connection."""
    for each in request.creations:
        check_codes(
            each.resource_type, each.resource_pattern_type, each.operation, each.permission_type
        )


def refused(request: CreateAclsRequest, failure: ApiFailure, caller: Caller) -> CreateAclsResponse:
    """The whole request refused: each ACL has the error."""
    check_request(request)
    rows = [AclCreationResult(failure.code, failure.message) for _ in request.creations]
    return CreateAclsResponse(results=rows)
