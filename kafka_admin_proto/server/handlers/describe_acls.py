"""DescribeAcls: there is no authorizer, and so there are no ACLs.

Versions: 1 pattern types (KIP-290), 2 flexible, 3 users as resources (KIP-373).
"""

from __future__ import annotations

from kafka_admin_proto.messages.describe_acls_request import DescribeAclsRequest
from kafka_admin_proto.messages.describe_acls_response import DescribeAclsResponse
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import SECURITY_DISABLED
from kafka_admin_proto.server.handlers import Answer, Caller

_TEXT = "No Authorizer is configured on the broker"


def handle(state: View, request: DescribeAclsRequest, caller: Caller) -> Answer:
    """SECURITY_DISABLED for the whole request."""
    return Answer(DescribeAclsResponse(error_code=SECURITY_DISABLED, error_message=_TEXT))
