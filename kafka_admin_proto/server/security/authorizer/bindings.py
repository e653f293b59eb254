"""New ACLs and filters of ACLs: their validation, and the ACLs that a filter matches."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from kafka_admin_proto.errors import RemoteProtocolError
from kafka_admin_proto.messages.access_control_entry_record import AccessControlEntryRecord
from kafka_admin_proto.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafka_admin_proto.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kafka_admin_proto.messages.describe_acls_request import DescribeAclsRequest
from kafka_admin_proto.records.metadata.entities import Acl
from kafka_admin_proto.server.failures import INVALID_REQUEST, ApiFailure
from kafka_admin_proto.server.security.authorizer.rules import (
    ALLOW,
    ANYTHING,
    CLUSTER,
    CLUSTER_NAME,
    DENY,
    LITERAL,
    PREFIXED,
)

_UNKNOWN, _ANY, _MATCH = 0, 1, 2
# The largest codes that Kafka knows.
_LAST_RESOURCE, _LAST_PATTERN, _LAST_OPERATION, _LAST_PERMISSION = 7, PREFIXED, 15, ALLOW


def check_request(request: CreateAclsRequest | DeleteAclsRequest | DescribeAclsRequest) -> None:
    """Raises RemoteProtocolError for the code UNKNOWN, for which Kafka closes the connection."""
    rows: Sequence[AclCreation | DeleteAclsFilter | DescribeAclsRequest]
    if isinstance(request, CreateAclsRequest):
        rows = request.creations
    else:
        rows = request.filters if isinstance(request, DeleteAclsRequest) else [request]
    for each in rows:
        codes = [each.operation, each.permission_type]
        if isinstance(each, AclCreation):
            codes += [each.resource_type, each.resource_pattern_type]
        else:
            codes += [each.resource_type_filter, each.pattern_type_filter]
        if _UNKNOWN in codes:
            raise RemoteProtocolError("an ACL request has a code of 0, which stands for UNKNOWN")


def is_binding(row: AclCreation) -> bool:
    """Whether a row is an ACL; a request to create a filter fails as a whole."""
    kinds = row.resource_type, row.operation, row.permission_type
    return _ANY not in kinds and row.resource_pattern_type not in (_ANY, _MATCH)


def check_binding(row: AclCreation) -> None:
    """Raises ApiFailure for an ACL that is not possible."""
    if row.resource_type == CLUSTER and row.resource_name != CLUSTER_NAME:
        text = f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
        raise ApiFailure(INVALID_REQUEST, text)
    if not row.resource_name:
        raise ApiFailure(INVALID_REQUEST, "Invalid empty resource name")
    for name, known in (
        ("resourceType", 2 <= row.resource_type <= _LAST_RESOURCE),
        ("patternType", row.resource_pattern_type in (LITERAL, PREFIXED)),
        ("operation", 2 <= row.operation <= _LAST_OPERATION),
        ("permissionType", row.permission_type in (DENY, ALLOW)),
    ):
        if not known:
            raise ApiFailure(INVALID_REQUEST, f"Invalid {name} UNKNOWN")
    if ":" not in row.principal:
        text = f"Could not parse principal from `{row.principal}` (no colon is present separating "
        text += "the principal type from the principal name)"
        raise ApiFailure(INVALID_REQUEST, text)


def check_filter(wanted: DeleteAclsFilter) -> None:
    """Raises ApiFailure for codes that Kafka does not know."""
    if not (
        1 <= wanted.resource_type_filter <= _LAST_RESOURCE
        and 1 <= wanted.pattern_type_filter <= _LAST_PATTERN
    ):
        raise ApiFailure(INVALID_REQUEST, "Unknown patternFilter.")
    if not (
        1 <= wanted.operation <= _LAST_OPERATION and 1 <= wanted.permission_type <= _LAST_PERMISSION
    ):
        raise ApiFailure(INVALID_REQUEST, "Unknown entryFilter.")


def matches(wanted: DeleteAclsFilter | DescribeAclsRequest, acl: Acl) -> bool:
    """Whether a filter matches an ACL.

    The pattern type MATCH matches the ACLs that apply to a resource of the filter's name.
    """
    return (
        wanted.resource_type_filter in (_ANY, acl.resource_type)
        and wanted.pattern_type_filter in (_ANY, _MATCH, acl.pattern_type)
        and _matches_name(wanted, acl)
        and wanted.principal_filter in (None, acl.principal)
        and wanted.host_filter in (None, acl.host)
        and wanted.operation in (_ANY, acl.operation)
        and wanted.permission_type in (_ANY, acl.permission_type)
    )


def _matches_name(wanted: DeleteAclsFilter | DescribeAclsRequest, acl: Acl) -> bool:
    name = wanted.resource_name_filter
    if name is None or name == acl.resource_name:
        return True
    if wanted.pattern_type_filter != _MATCH:
        return False
    if acl.pattern_type == LITERAL:
        return acl.resource_name == ANYTHING
    return name.startswith(acl.resource_name)


def acl_of(row: AclCreation) -> Acl:
    """The ACL of a request's row."""
    return Acl(
        row.resource_type,
        row.resource_name,
        row.resource_pattern_type,
        row.principal,
        row.host,
        row.operation,
        row.permission_type,
    )


def record_of(acl: Acl) -> AccessControlEntryRecord:
    """The record of a new ACL."""
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
