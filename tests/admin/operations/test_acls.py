"""ACLs: Kafka's names for numbers, filters for old brokers, each result at its place."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.errors import AdminError, BrokerError, InstructionError
from kafka_admin_proto.admin.operations import acls
from kafka_admin_proto.admin.operations.acls import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclOperations,
    AclPermission,
    PatternType,
    ResourceType,
)
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages.create_acls_request import CreateAclsRequest
from kafka_admin_proto.messages.create_acls_response import AclCreationResult, CreateAclsResponse
from kafka_admin_proto.messages.delete_acls_request import DeleteAclsRequest
from kafka_admin_proto.messages.delete_acls_response import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from kafka_admin_proto.messages.describe_acls_request import DescribeAclsRequest
from kafka_admin_proto.messages.describe_acls_response import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kafka_admin_proto.render.meanings import all_meanings
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller, Handler

_BINDINGS = st.builds(
    AclBinding,
    st.sampled_from(list(ResourceType)[2:]),
    st.text(max_size=5),
    st.text(max_size=5).map(lambda name: f"User:{name}"),
    st.sampled_from(list(AclOperation)[2:]),
    st.sampled_from([AclPermission.DENY, AclPermission.ALLOW]),
    st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
    st.sampled_from(["*", "10.0.0.1"]),
)


class Client(AclOperations, FakeCaller):
    """An authorizer that keeps what it is asked for; "bad" hosts are refused."""

    def __init__(self, lowest: int = 0, highest: int = 3) -> None:
        versions = dict.fromkeys((29, 30, 31), VersionRange(lowest, highest))
        handlers: dict[type[Message], Handler] = {
            CreateAclsRequest: self._create,
            DescribeAclsRequest: self._describe,
            DeleteAclsRequest: self._delete,
        }
        super().__init__(handlers, controller=2, versions=versions)
        self.kept: set[AclBinding] = set()
        self.filters: list[tuple[int, int]] = []

    def _create(self, request: Message, call: Call) -> Message:
        assert isinstance(request, CreateAclsRequest)
        assert call.broker == 2
        results = []
        for each in request.creations:
            if each.resource_name.startswith("bad"):
                results.append(AclCreationResult(42, "no such name"))
                continue
            self.kept.add(
                AclBinding(
                    ResourceType.of_code(each.resource_type),
                    each.resource_name,
                    each.principal,
                    AclOperation.of_code(each.operation),
                    AclPermission.of_code(each.permission_type),
                    PatternType.of_code(each.resource_pattern_type),
                    each.host,
                )
            )
            results.append(AclCreationResult())
        return CreateAclsResponse(results=results)

    def _describe(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeAclsRequest)
        self.filters.append((request.pattern_type_filter, call.version))
        resources = []
        for acl in self.kept:
            if call.version > 0 or acl.pattern_type is PatternType.LITERAL:
                rights = (acl.operation.code, acl.permission.code)
                rows = [AclDescription(acl.principal, acl.host, *rights)]
                what = (acl.resource_type.code, acl.name, acl.pattern_type.code)
                resources.append(DescribeAclsResource(*what, rows))
        return DescribeAclsResponse(resources=resources)

    def _delete(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DeleteAclsRequest)
        results = []
        for each in request.filters:
            found = [acl for acl in self.kept if each.resource_name_filter in (None, acl.name)]
            self.kept -= set(found)
            rows = [
                DeleteAclsMatchingAcl(
                    0, None, acl.resource_type.code, acl.name, acl.pattern_type.code,
                    acl.principal, acl.host, acl.operation.code, acl.permission.code,
                )
                for acl in found
            ]  # fmt: skip
            results.append(DeleteAclsFilterResult(matching_acls=rows))
        return DeleteAclsResponse(filter_results=results)


@pytest.mark.parametrize(
    ("names", "meaning"),
    [
        (ResourceType, "acl_resource_type"),
        (PatternType, "pattern_type"),
        (AclOperation, "acl_operation"),
        (AclPermission, "acl_permission_type"),
    ],
)
def test_names_and_numbers_are_those_of_the_meanings(
    names: type[acls._Numbered], meaning: str
) -> None:
    said = {
        int(code): text.partition(":")[0] for code, text in all_meanings()[meaning].values.items()
    }
    assert {each.code: str(each) for each in names} == said
    assert all(names.of_code(each.code) is each for each in names)
    assert {names.of_code(-1), names.of_code(100)} == {next(iter(names))}


@given(st.lists(_BINDINGS, max_size=6, unique=True))
def test_what_is_created_is_described_and_deleted(bindings: list[AclBinding]) -> None:
    client = Client()
    created = asyncio.run(client.create_acls(bindings))
    assert [each.acl for each in created] == bindings
    assert [each.error for each in created] == [
        "INVALID_REQUEST" if acl.name.startswith("bad") else None for acl in bindings
    ]
    kept = sorted(acl for acl in bindings if not acl.name.startswith("bad"))
    assert asyncio.run(client.describe_acls()) == kept
    filters = [AclFilter(name=name) for name in sorted({acl.name for acl in kept})]
    deleted = asyncio.run(client.delete_acls(filters))
    assert [each.filter for each in deleted] == filters
    assert sorted(found.acl for each in deleted for found in each.acls) == kept
    assert asyncio.run(client.describe_acls()) == []
    msgspec.json.encode([created, deleted])


def test_brokers_without_pattern_types_are_asked_for_literal_ones() -> None:
    client = Client(0, 0)
    assert asyncio.run(client.describe_acls()) == []
    assert client.filters == [(PatternType.LITERAL.code, 0)]
    with pytest.raises(UnsupportedVersionError, match="PREFIXED"):
        asyncio.run(client.describe_acls(AclFilter(pattern_type=PatternType.PREFIXED)))
    acl = AclBinding(ResourceType.TOPIC, "t", "User:a", AclOperation.READ)
    asyncio.run(client.create_acls([acl]))
    (deleted,) = asyncio.run(client.delete_acls([AclFilter()]))
    assert [each.acl for each in deleted.acls] == [acl]
    prefixed = msgspec.structs.replace(acl, pattern_type=PatternType.PREFIXED)
    with pytest.raises(UnsupportedVersionError):
        asyncio.run(client.create_acls([prefixed]))


def test_a_refusal_of_the_whole_description_is_raised() -> None:
    client = Client()
    client.handlers[DescribeAclsRequest] = lambda request, call: DescribeAclsResponse(error_code=54)
    with pytest.raises(BrokerError, match="SECURITY_DISABLED"):
        asyncio.run(client.describe_acls())


def test_an_answer_with_too_few_results_is_refused() -> None:
    client = Client()
    client.handlers[CreateAclsRequest] = lambda request, call: CreateAclsResponse()
    acl = AclBinding(ResourceType.TOPIC, "t", "User:a", AclOperation.READ)
    with pytest.raises(AdminError, match="0 results for 1 item"):
        asyncio.run(client.create_acls([acl]))


@pytest.mark.parametrize("field", ["resource_type", "pattern_type", "operation", "permission"])
def test_an_acl_that_is_a_filter_is_not_sent(field: str) -> None:
    kinds = {
        "resource_type": ResourceType, "pattern_type": PatternType, "operation": AclOperation,
        "permission": AclPermission,
    }  # fmt: skip
    good = AclBinding(ResourceType.TOPIC, "t", "User:a", AclOperation.READ)
    for word in {"UNKNOWN", "ANY", "MATCH"} & {each.value for each in kinds[field]}:
        wrong = msgspec.structs.replace(good, **{field: kinds[field](word)})
        client = Client()
        with pytest.raises(InstructionError, match=f"{field} {word}, which is for filters"):
            asyncio.run(client.create_acls([good, wrong]))
        assert not client.kept
