"""New ACLs and filters of ACLs: their validation, and the ACLs that a filter matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid4

import msgspec

from kafka_admin_proto.errors import RemoteProtocolError
from kafka_admin_proto.messages import AccessControlEntryRecord, DescribeAclsRequest
from kafka_admin_proto.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafka_admin_proto.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Acl
from kafka_admin_proto.records.metadata.names import version_name
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.security.authorizer.host_ranges import host_range, is_range
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
#: The first metadata.version with hosts that are ranges.
_WITH_RANGES = 32
#: Codes that an ACL may have; lower ones are filters'.
RESOURCE_TYPES, PATTERN_TYPES, PERMISSION_TYPES = range(2, 8), (LITERAL, PREFIXED), (DENY, ALLOW)


def check_request(request: CreateAclsRequest | DeleteAclsRequest | DescribeAclsRequest) -> None:
    """Raises RemoteProtocolError for the code UNKNOWN, for which Kafka closes the connection."""
    rows: Sequence[AclCreation | DeleteAclsFilter | DescribeAclsRequest]
    if isinstance(request, CreateAclsRequest):
        rows = request.creations
    else:
        rows = request.filters if isinstance(request, DeleteAclsRequest) else [request]
    for row in rows:
        given = [row.operation, row.permission_type]
        if isinstance(row, AclCreation):
            given += [row.resource_type, row.resource_pattern_type]
        else:
            given += [row.resource_type_filter, row.pattern_type_filter]
        if _UNKNOWN in given:
            raise RemoteProtocolError("an ACL request has a code of 0, which stands for UNKNOWN")


def is_binding(row: AclCreation) -> bool:
    """Whether a row is an ACL; a request to create a filter fails as a whole."""
    kinds = row.resource_type, row.operation, row.permission_type
    return _ANY not in kinds and row.resource_pattern_type not in (_ANY, _MATCH)


def operations(release: ReleaseNumber) -> range:
    """The operations that an ACL may have in a release: TWO_PHASE_COMMIT (15) is new in 4.0."""
    return range(2, 16 if release >= (4,) else 15)


def check_binding(row: AclCreation, release: ReleaseNumber, level: int) -> None:
    """Raises ApiFailure for an ACL that is not possible in a release at a metadata.version."""
    if row.resource_type == CLUSTER and row.resource_name != CLUSTER_NAME:
        text = f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
        raise ApiFailure(codes.INVALID_REQUEST, text)
    if not row.resource_name:
        raise ApiFailure(codes.INVALID_REQUEST, "Invalid empty resource name")
    for name, known in (
        ("resourceType", row.resource_type in RESOURCE_TYPES),
        ("patternType", row.resource_pattern_type in PATTERN_TYPES),
        ("operation", row.operation in operations(release)),
        ("permissionType", row.permission_type in PERMISSION_TYPES),
    ):
        if not known:
            raise ApiFailure(codes.INVALID_REQUEST, f"Invalid {name} UNKNOWN")
    if ":" not in row.principal:
        text = f"Could not parse principal from `{row.principal}` (no colon is present separating "
        text += "the principal type from the principal name)"
        raise ApiFailure(codes.INVALID_REQUEST, text)
    if release.has_host_ranges:
        _check_host(row.host, level)


def _check_host(host: str, level: int) -> None:
    if not host:
        raise ApiFailure(codes.INVALID_REQUEST, "Host pattern cannot be null or empty")
    if not is_range(host):
        return
    if level < _WITH_RANGES:
        text = "CIDR-based ACL host patterns require metadata version "
        text += f"{version_name(_WITH_RANGES)} or higher."
        raise ApiFailure(codes.UNSUPPORTED_VERSION, text)
    try:
        host_range(host)
    except ValueError as error:
        text = f"Invalid CIDR notation '{host}': {error}"
        raise ApiFailure(codes.INVALID_REQUEST, text) from None


def check_filter(wanted: DeleteAclsFilter, release: ReleaseNumber) -> None:
    """Raises ApiFailure for codes that a release does not know."""
    for known, fault in (
        (wanted.resource_type_filter in (_ANY, *RESOURCE_TYPES), "patternFilter"),
        (wanted.pattern_type_filter in (_ANY, _MATCH, *PATTERN_TYPES), "patternFilter"),
        (wanted.operation in (_ANY, *operations(release)), "entryFilter"),
        (wanted.permission_type in (_ANY, *PERMISSION_TYPES), "entryFilter"),
    ):
        if not known:
            raise ApiFailure(codes.INVALID_REQUEST, f"Unknown {fault}.")


class AclSearch:
    """Finds the ACLs that filters match, without a look at all ACLs for each filter.

    For each set of fields that some filter gives there is a table of all ACLs by these fields, made
    when it is first needed: however many the filters are, there are at most 128 tables.
    """

    def __init__(self, acls: Mapping[UUID, Acl]) -> None:
        self._acls = acls
        self._places = {each: place for place, each in enumerate(acls)}
        self._tables: dict[tuple[str, ...], dict[tuple[int | str, ...], list[UUID]]] = {}
        #: The lengths of the names in prefixed ACLs, shortest first.
        self._lengths = sorted(
            {len(each.resource_name) for each in acls.values() if each.pattern_type == PREFIXED}
        )

    def find(self, wanted: DeleteAclsFilter | DescribeAclsRequest) -> list[UUID]:
        """The ids of the ACLs that a filter matches, in the order of the ACLs.

        The pattern type MATCH matches the ACLs that apply to a resource of the filter's name.
        """
        name, pattern = wanted.resource_name_filter, wanted.pattern_type_filter
        fields: dict[str, int | str | None] = {
            "resource_type": _given(wanted.resource_type_filter),
            "pattern_type": None if pattern == _MATCH else _given(pattern),
            "principal": wanted.principal_filter,
            "host": wanted.host_filter,
            "operation": _given(wanted.operation),
            "permission_type": _given(wanted.permission_type),
        }
        matching = self._with({**fields, "resource_name": name})
        if pattern != _MATCH or name is None:
            return matching
        names = [(ANYTHING, LITERAL)]
        for length in self._lengths:
            if length > len(name):
                break
            names.append((name[:length], PREFIXED))
        applying = set(matching)
        for each, kind in names:
            applying.update(self._with({**fields, "resource_name": each, "pattern_type": kind}))
        return sorted(applying, key=self._places.__getitem__)

    def _with(self, fields: Mapping[str, int | str | None]) -> list[UUID]:
        """The ids of the ACLs that have these values, where one is not None."""
        given = {name: value for name, value in fields.items() if value is not None}
        table = self._tables.get((*given,))
        if table is None:
            table = self._tables[*given,] = {}
            for key, acl in self._acls.items():
                table.setdefault(tuple(getattr(acl, each) for each in given), []).append(key)
        return table.get((*given.values(),), [])


def _given(code: int) -> int | None:
    return None if code == _ANY else code


def acl_of(row: AclCreation) -> Acl:
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
    return AccessControlEntryRecord(id=uuid4(), **msgspec.structs.asdict(acl))
