"""DeleteAcls: the ACLs that filters find are removed.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from uuid import UUID

from kafka_admin_proto.messages.delete_acls_request import DeleteAclsRequest
from kafka_admin_proto.messages.delete_acls_response import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from kafka_admin_proto.messages.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)
from kafka_admin_proto.records.metadata.entities import Acl
from kafka_admin_proto.server.failures import NO_AUTHORIZER, SECURITY_DISABLED, ApiFailure
from kafka_admin_proto.server.faults.error_answers import Failure, whole_answer
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.security.authorizer.bindings import (
    check_filter,
    check_request,
    matches,
)
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


def handle(state: State, request: DeleteAclsRequest, caller: Caller) -> Answer:
    """Apply each filter separately; an ACL that two filters find is in both results."""
    check_request(request)
    if state.authorizer is None:
        failure = Failure(SECURITY_DISABLED, NO_AUTHORIZER)
        return Answer(whole_answer(request, caller.version, failure))
    removed: dict[UUID, None] = {}
    rows = []
    for wanted in request.filters:
        try:
            check_filter(wanted)
        except ApiFailure as refused:
            rows.append(DeleteAclsFilterResult(refused.code, refused.message))
            continue
        found = {key: acl for key, acl in state.cluster.acls.items() if matches(wanted, acl)}
        removed.update(dict.fromkeys(found))
        rows.append(DeleteAclsFilterResult(0, None, [_row(acl) for acl in found.values()]))
    records: list[Message] = [RemoveAccessControlEntryRecord(each) for each in removed]
    return Answer(DeleteAclsResponse(filter_results=rows), records)


def _row(acl: Acl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        0,
        None,
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        acl.principal,
        acl.host,
        acl.operation,
        acl.permission_type,
    )
