"""DeleteAcls: the ACLs that filters find are removed.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from uuid import UUID

import msgspec

from kafka_admin_proto.messages import DeleteAclsRequest, RemoveAccessControlEntryRecord
from kafka_admin_proto.messages.delete_acls_response import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Acl
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.failures import MOST_RECORDS, NO_AUTHORIZER, ApiFailure
from kafka_admin_proto.server.security.authorizer.bindings import (
    AclSearch,
    check_filter,
    check_request,
)
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


@handler(of_broker=False, needs=Gate(ALTER, "operation"), kept=False, check=check_request)
def handle(state: State, request: DeleteAclsRequest, caller: Caller) -> Answer:
    """Apply each filter separately; an ACL that two filters find is in both results.

    A request whose filters find more ACLs than one may make records is refused: an answer with all
    ACLs for each of some bytes would have gigabytes.
    """
    if state.authorizer is None:
        raise ApiFailure(codes.SECURITY_DISABLED, NO_AUTHORIZER)
    removed: dict[UUID, None] = {}
    rows = []
    acls = state.cluster.acls
    search, count = AclSearch(acls), 0
    for wanted in request.filters:
        try:
            check_filter(wanted, state.release)
        except ApiFailure as refused:
            rows.append(DeleteAclsFilterResult(refused.code, refused.message))
            continue
        matching = search.find(wanted)
        count += len(matching)
        if count > MOST_RECORDS:
            text = f"Cannot remove more than {MOST_RECORDS} acls in a single delete operation."
            raise ApiFailure(codes.POLICY_VIOLATION, text)
        removed.update(dict.fromkeys(matching))
        rows.append(DeleteAclsFilterResult(0, None, [_row(acls[each]) for each in matching]))
    records: list[Message] = [RemoveAccessControlEntryRecord(each) for each in removed]
    return Answer(DeleteAclsResponse(filter_results=rows), records)


def _row(acl: Acl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(error_message=None, **msgspec.structs.asdict(acl))
