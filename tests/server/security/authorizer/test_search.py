"""The ACLs that a filter finds are those that it matches by the definition of AclBindingFilter."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.messages.delete_acls_request import DeleteAclsFilter
from kafka_admin_proto.records.metadata.entities import Acl
from kafka_admin_proto.server.security.authorizer.bindings import AclSearch
from tests.helpers.profile import draws

_ANY, _MATCH, _LITERAL, _PREFIXED = 1, 2, 3, 4
_names = st.sampled_from(["a", "ab", "abc", "b", "*"])
_principals, _hosts = st.sampled_from(["User:a", "User:*"]), st.sampled_from(["*", "h"])
_codes = st.sampled_from([2, 3])

_acls = st.lists(
    st.builds(Acl, _codes, _names, st.sampled_from([3, 4]), _principals, _hosts, _codes, _codes),
    max_size=12,
)
_filters = st.lists(
    st.builds(
        DeleteAclsFilter,
        st.sampled_from([_ANY, 2, 3]),
        st.none() | _names,
        st.sampled_from([_ANY, _MATCH, _LITERAL, _PREFIXED]),
        st.none() | _principals,
        st.none() | _hosts,
        st.sampled_from([_ANY, 2, 3]),
        st.sampled_from([_ANY, 2, 3]),
    ),
    max_size=6,
)


def _matches(wanted: DeleteAclsFilter, acl: Acl) -> bool:
    name, pattern = wanted.resource_name_filter, wanted.pattern_type_filter
    applies = (
        acl.resource_name == "*"
        if acl.pattern_type == _LITERAL
        else (name or "").startswith(acl.resource_name)
    )
    return (
        wanted.resource_type_filter in (_ANY, acl.resource_type)
        and pattern in (_ANY, _MATCH, acl.pattern_type)
        and (name in (None, acl.resource_name) or (pattern == _MATCH and applies))
        and wanted.principal_filter in (None, acl.principal)
        and wanted.host_filter in (None, acl.host)
        and wanted.operation in (_ANY, acl.operation)
        and wanted.permission_type in (_ANY, acl.permission_type)
    )


@settings(max_examples=draws(800))
@given(_acls, _filters)
def test_a_filter_finds_what_it_matches(acls: list[Acl], filters: list[DeleteAclsFilter]) -> None:
    known = {UUID(int=number): acl for number, acl in enumerate(acls)}
    search = AclSearch(known)
    for wanted in filters:
        assert search.find(wanted) == [key for key, acl in known.items() if _matches(wanted, acl)]
