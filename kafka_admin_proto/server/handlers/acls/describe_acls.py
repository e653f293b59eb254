"""DescribeAcls: the ACLs that a filter finds, by resource.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeAclsRequest
from kafka_admin_proto.messages.describe_acls_response import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.bindings import AclSearch, check_request
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE

_TEXT = "No Authorizer is configured on the broker"


@handler(of_broker=True, needs=Gate(DESCRIBE, "operation"), kept=False, check=check_request)
def handle(state: View, request: DescribeAclsRequest, caller: Caller) -> Answer:
    """The resources in the order of their first ACL; SECURITY_DISABLED without an authorizer."""
    if state.authorizer is None:
        raise ApiFailure(codes.SECURITY_DISABLED, _TEXT)
    resources: dict[tuple[int, str, int], DescribeAclsResource] = {}
    acls = state.cluster.acls
    for acl in map(acls.__getitem__, AclSearch(acls).find(request)):
        key = acl.resource_type, acl.resource_name, acl.pattern_type
        resource = resources.get(key)
        if resource is None:
            resource = resources[key] = DescribeAclsResource(*key)
        resource.acls.append(
            AclDescription(acl.principal, acl.host, acl.operation, acl.permission_type)
        )
    return Answer(DescribeAclsResponse(resources=list(resources.values())))
