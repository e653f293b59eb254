"""Access control lists: create, describe, delete.

Changes are sent to the controller. In a ZooKeeper cluster the other brokers apply them a moment
later, so that a description right after a change may show the state before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Self

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import (
    answers_in_order,
    failure,
    raise_failure,
)
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import CreateAclsResponse, DeleteAclsResponse, DescribeAclsRequest
from kafka_admin_proto.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafka_admin_proto.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kafka_admin_proto.messages.describe_acls_response import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kafka_admin_proto.schema.versions import VersionRange

#: Versions that have pattern types; before them every name was literal.
_WITH_PATTERNS = VersionRange.parse("1+")


class _Numbered(StrEnum):
    """Names that the wire has as INT8: the first member is 0, and each next one more."""

    @property
    def code(self) -> int:
        return list(type(self)).index(self)

    @classmethod
    def of_code(cls, code: int) -> Self:
        """The member of that number; UNKNOWN, the first, for numbers of newer brokers."""
        members = list(cls)
        return members[code] if 0 <= code < len(members) else members[0]


class ResourceType(_Numbered):
    """What an ACL is about. ANY is for filters."""

    UNKNOWN = "UNKNOWN"
    ANY = "ANY"
    TOPIC = "TOPIC"
    GROUP = "GROUP"
    CLUSTER = "CLUSTER"
    TRANSACTIONAL_ID = "TRANSACTIONAL_ID"
    DELEGATION_TOKEN = "DELEGATION_TOKEN"
    USER = "USER"


class PatternType(_Numbered):
    """How an ACL's name applies to resources. ANY and MATCH are for filters.

    MATCH finds each ACL that applies to the resource of the filter's name: literal ones of that
    name, literal "*", and prefixed ones that the name begins with.
    """

    UNKNOWN = "UNKNOWN"
    ANY = "ANY"
    MATCH = "MATCH"
    LITERAL = "LITERAL"
    PREFIXED = "PREFIXED"


class AclOperation(_Numbered):
    """What an ACL allows or denies. ANY is for filters."""

    UNKNOWN = "UNKNOWN"
    ANY = "ANY"
    ALL = "ALL"
    READ = "READ"
    WRITE = "WRITE"
    CREATE = "CREATE"
    DELETE = "DELETE"
    ALTER = "ALTER"
    DESCRIBE = "DESCRIBE"
    CLUSTER_ACTION = "CLUSTER_ACTION"
    DESCRIBE_CONFIGS = "DESCRIBE_CONFIGS"
    ALTER_CONFIGS = "ALTER_CONFIGS"
    IDEMPOTENT_WRITE = "IDEMPOTENT_WRITE"
    CREATE_TOKENS = "CREATE_TOKENS"
    DESCRIBE_TOKENS = "DESCRIBE_TOKENS"
    TWO_PHASE_COMMIT = "TWO_PHASE_COMMIT"


class AclPermission(_Numbered):
    """Whether an ACL denies or allows. ANY is for filters."""

    UNKNOWN = "UNKNOWN"
    ANY = "ANY"
    DENY = "DENY"
    ALLOW = "ALLOW"


class AclBinding(msgspec.Struct, frozen=True, order=True):
    """One ACL. The cluster as a resource is of the name "kafka-cluster"."""

    resource_type: ResourceType
    name: str
    principal: str
    operation: AclOperation
    permission: AclPermission = AclPermission.ALLOW
    pattern_type: PatternType = PatternType.LITERAL
    host: str = "*"


class AclFilter(msgspec.Struct, frozen=True):
    """ACLs to find or delete: those that agree in every field; the defaults agree with each."""

    resource_type: ResourceType = ResourceType.ANY
    name: str | None = None
    principal: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission: AclPermission = AclPermission.ANY
    pattern_type: PatternType = PatternType.ANY
    host: str | None = None


class CreatedAcl(msgspec.Struct, frozen=True):
    """An ACL that was asked for; it exists unless there is an error."""

    acl: AclBinding
    error: str | None = None
    message: str | None = None


class DeletedAcl(msgspec.Struct, frozen=True):
    """An ACL that a filter found; it is gone unless there is an error."""

    acl: AclBinding
    error: str | None = None
    message: str | None = None


class DeletedAcls(msgspec.Struct, frozen=True):
    """What one filter found and deleted.

    ``maybe_repeated`` says that an earlier attempt's answer was lost: what that attempt deleted is
    not listed.
    """

    filter: AclFilter
    acls: Sequence[DeletedAcl] = ()
    error: str | None = None
    message: str | None = None
    maybe_repeated: bool = False


class AclOperations(Caller):
    """ACLs. A cluster without an authorizer answers each with SECURITY_DISABLED."""

    async def create_acls(
        self, acls: Iterable[AclBinding], *, timeout: float | None = None
    ) -> list[CreatedAcl]:
        """Add ACLs, each with its own result, in order. One that exists already is no error.

        Raises InstructionError, and sends nothing, where one of them has what filters alone have:
        UNKNOWN, ANY or MATCH.
        """
        wanted = list(acls)
        _refuse_indefinite(wanted)
        request = CreateAclsRequest(
            [
                AclCreation(
                    acl.resource_type.code,
                    acl.name,
                    acl.pattern_type.code,
                    acl.principal,
                    acl.host,
                    acl.operation.code,
                    acl.permission.code,
                )
                for acl in wanted
            ]
        )
        literal = all(acl.pattern_type is PatternType.LITERAL for acl in wanted)
        reply = await self.call(
            request,
            CreateAclsResponse,
            to=Target.CONTROLLER,
            timeout=timeout,
            versions=None if literal else _WITH_PATTERNS,
        )
        return [
            CreatedAcl(acl, **failure(result.error_code, result.error_message))
            for acl, result in answers_in_order(wanted, reply.body.results)
        ]

    async def describe_acls(
        self, filter: AclFilter | None = None, *, timeout: float | None = None
    ) -> list[AclBinding]:
        """The ACLs that a filter finds (all by default), sorted. Raises BrokerError."""
        wanted = filter or AclFilter()
        try:
            reply = await self.call(
                DescribeAclsRequest(*_filter_fields(wanted)),
                DescribeAclsResponse,
                timeout=timeout,
                versions=_WITH_PATTERNS,
            )
        except UnsupportedVersionError:
            request = DescribeAclsRequest(*_filter_fields(_without_patterns(wanted)))
            reply = await self.call(request, DescribeAclsResponse, timeout=timeout)
        raise_failure(reply.body.error_code, reply.body.error_message, context="DescribeAcls")
        return sorted(
            _binding(resource, acl) for resource in reply.body.resources for acl in resource.acls
        )

    async def delete_acls(
        self, filters: Iterable[AclFilter], *, timeout: float | None = None
    ) -> list[DeletedAcls]:
        """Delete the ACLs that each filter finds, with a result for each filter, in order."""
        wanted = list(filters)

        def request(filters: Iterable[AclFilter]) -> DeleteAclsRequest:
            return DeleteAclsRequest([DeleteAclsFilter(*_filter_fields(each)) for each in filters])

        try:
            reply = await self.call(
                request(wanted),
                DeleteAclsResponse,
                to=Target.CONTROLLER,
                timeout=timeout,
                versions=_WITH_PATTERNS,
            )
        except UnsupportedVersionError:
            reply = await self.call(
                request(map(_without_patterns, wanted)),
                DeleteAclsResponse,
                to=Target.CONTROLLER,
                timeout=timeout,
            )
        return [
            DeletedAcls(
                each,
                sorted(map(_deleted, result.matching_acls), key=lambda deleted: deleted.acl),
                **failure(result.error_code, result.error_message),
                maybe_repeated=reply.maybe_repeated,
            )
            for each, result in answers_in_order(wanted, reply.body.filter_results)
        ]


def _refuse_indefinite(acls: Iterable[AclBinding]) -> None:
    """Raise InstructionError for the first ACL that is no ACL but a filter.

    The fields are those of ``AclBindingFilter.findIndefiniteField`` in Kafka's client.
    """
    for acl in acls:
        for field in ("resource_type", "pattern_type", "operation", "permission"):
            if (found := getattr(acl, field)) in ("UNKNOWN", "ANY", "MATCH"):
                raise InstructionError(
                    f"an ACL of {acl.principal} on {acl.name!r} has {field} {found}, which is for "
                    "filters: say which it is"
                )


def _filter_fields(
    filter: AclFilter,
) -> tuple[int, str | None, int, str | None, str | None, int, int]:
    """A filter as both requests have it."""
    return (
        filter.resource_type.code,
        filter.name,
        filter.pattern_type.code,
        filter.principal,
        filter.host,
        filter.operation.code,
        filter.permission.code,
    )


def _without_patterns(filter: AclFilter) -> AclFilter:
    """The same filter for brokers whose ACLs are all literal.

    MATCH would also find literal "*" there, and prefixed ACLs do not exist: the request cannot be
    written at version 0, and UnsupportedVersionError says so.
    """
    if filter.pattern_type is PatternType.ANY:
        return msgspec.structs.replace(filter, pattern_type=PatternType.LITERAL)
    if filter.pattern_type is not PatternType.LITERAL:
        raise UnsupportedVersionError(
            f"the broker's ACLs have no pattern types, and the filter asks for "
            f"{filter.pattern_type}; use LITERAL or ANY"
        )
    return filter


def _deleted(acl: DeleteAclsResponse.DeleteAclsMatchingAcl) -> DeletedAcl:
    return DeletedAcl(_binding(acl, acl), **failure(acl.error_code, acl.error_message))


def _binding(
    resource: DescribeAclsResource | DeleteAclsResponse.DeleteAclsMatchingAcl,
    acl: AclDescription | DeleteAclsResponse.DeleteAclsMatchingAcl,
) -> AclBinding:
    return AclBinding(
        ResourceType.of_code(resource.resource_type),
        resource.resource_name,
        acl.principal,
        AclOperation.of_code(acl.operation),
        AclPermission.of_code(acl.permission_type),
        PatternType.of_code(resource.pattern_type),
        acl.host,
    )
