"""CreateAcls: who may do what from now on.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from uuid import uuid4

from kafka_admin_proto.messages.access_control_entry_record import AccessControlEntryRecord
from kafka_admin_proto.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafka_admin_proto.messages.create_acls_response import AclCreationResult, CreateAclsResponse
from kafka_admin_proto.records.cluster_state import Acl
from kafka_admin_proto.server.authorizer.bindings import (
    check_binding,
    check_codes,
    check_is_binding,
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
        acl = _acl(each)
        if acl not in existing:
            existing.add(acl)
            records.append(_record(acl))
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


def _acl(row: AclCreation) -> Acl:
    return Acl(
        row.resource_type,
        row.resource_name,
        row.resource_pattern_type,
        row.principal,
        row.host,
        row.operation,
        row.permission_type,
    )


def _record(acl: Acl) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=uuid4(),
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission_type,
    )
