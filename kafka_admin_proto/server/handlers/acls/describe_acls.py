"""DescribeAcls: the ACLs that a filter finds, by resource.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from kafka_admin_proto.messages.describe_acls_request import DescribeAclsRequest
from kafka_admin_proto.messages.describe_acls_response import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import SECURITY_DISABLED
from kafka_admin_proto.server.faults.error_answers import Failure, whole_answer
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.security.authorizer.bindings import check_request, matches

_TEXT = "No Authorizer is configured on the broker"


def handle(state: View, request: DescribeAclsRequest, caller: Caller) -> Answer:
    """The resources in the order of their first ACL; SECURITY_DISABLED without an authorizer."""
    check_request(request)
    if state.authorizer is None:
        failure = Failure(SECURITY_DISABLED, _TEXT)
        return Answer(whole_answer(request, caller.version, failure))
    found: dict[tuple[int, str, int], DescribeAclsResource] = {}
    for acl in state.cluster.acls.values():
        if matches(request, acl):
            key = acl.resource_type, acl.resource_name, acl.pattern_type
            resource = found.get(key)
            if resource is None:
                resource = found[key] = DescribeAclsResource(*key)
            resource.acls.append(
                AclDescription(acl.principal, acl.host, acl.operation, acl.permission_type)
            )
    return Answer(DescribeAclsResponse(resources=list(found.values())))
