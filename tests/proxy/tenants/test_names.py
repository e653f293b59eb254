"""Names of a tenant in every message: the prefix comes off again, and other names are hidden."""

from __future__ import annotations

import re
import warnings
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import messages
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.messages import (
    ConsumerGroupHeartbeatResponse,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    CreateAclsRequest,
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafka_admin_proto.proxy.tenants.fields import Kind, NamedField, has_names, named_fields
from kafka_admin_proto.proxy.tenants.names import PrefixedNames
from kafka_admin_proto.proxy.tenants.patterns import PrefixedPatterns
from kafka_admin_proto.testing import messages as drawn
from kafka_admin_proto.values import Message
from tests.helpers.every_message import SHIPPED, each_layout
from tests.helpers.profile import draws, sample

#: All requests and responses with names.
_NAMED = [
    each
    for each in SHIPPED
    if each.name.endswith(("Request", "Response"))
    and any(has_names(each.name, version) for version in each.versions)
]
_RESPONSES = [each for each in _NAMED if each.name.endswith("Response")]
_NAMES = (Kind.TOPIC, Kind.GROUP, Kind.MAYBE_EMPTY_GROUP, Kind.TRANSACTION)
#: The type of a resource is drawn among these: ANY, TOPIC, GROUP (of ACLs, of configs), CLUSTER …
_RESOURCES = (1, 2, 3, 4, 5, 8, 32)


def _request(found: Codec[Any], value: Message) -> Message:
    """The request of a response: a coordinator's key and a protocol's type are in it."""
    if found.name.endswith("Request"):
        return value
    made: Message = getattr(messages, found.name.replace("Response", "Request"))()
    if isinstance(made, (JoinGroupRequest, SyncGroupRequest)):
        made.protocol_type = "consumer"
    return made


def _fill(owner: Any, fields: tuple[NamedField, ...], dice: Random, name: Any) -> None:
    """Put names where they are looked for: ``name`` gives one for each."""
    for attribute in ("resource_type", "resource_type_filter"):
        if hasattr(owner, attribute):
            setattr(owner, attribute, dice.choice(_RESOURCES))
    if hasattr(owner, "protocol_type"):
        owner.protocol_type = "consumer"
    for field in fields:
        found = getattr(owner, field.attribute)
        if found is None:
            continue
        if field.inner:
            for each in found if field.is_array else (found,):
                _fill(each, field.inner, dice, name)
        elif field.kind in (Kind.SUBSCRIPTION, Kind.ASSIGNMENT):
            setattr(owner, field.attribute, _embedded(field.kind, name))
        elif field.kind in (*_NAMES, Kind.RESOURCE, Kind.KEY):
            made = [name() for _ in found] if field.is_array else name()
            setattr(owner, field.attribute, made)
        elif field.kind is Kind.PATTERN:
            made = "^(a|b)[)]"
            setattr(owner, field.attribute, [made for _ in found] if field.is_array else made)


def _embedded(kind: Kind, name: Any) -> bytes:
    if kind is Kind.ASSIGNMENT:
        row = ConsumerProtocolAssignment.TopicPartition
        return b"\0\1" + ConsumerProtocolAssignment([row(name(), [1]), row(name(), [])]).encode(1)
    return b"\0\3" + ConsumerProtocolSubscription([name(), name()], b"me").encode(3)


@each_layout(sample(_NAMED, 24))
def test_the_prefix_comes_off_again(found: Codec[Any]) -> None:
    """Between the two each name is as long as it has to be."""
    names = PrefixedNames("team-")
    fields = named_fields(found.name, found.version)
    kinds = {kind for each in fields for kind in each.kinds}

    @settings(max_examples=draws(16))
    @given(drawn(found.value_class, found.version), st.booleans(), st.integers(0, 1 << 32))
    def check(value: Any, fills: bool, seed: int) -> None:
        if fills or Kind.PATTERN in kinds:  # drawn text is seldom a pattern
            dice = Random(seed)
            _fill(value, fields, dice, lambda: f"short{dice.randrange(9)}")
        before, request = found.encode(value), _request(found, value)
        names.add(value, found.version, request)
        long = found.encode(value)
        if fills and not kinds & {Kind.RESOURCE, Kind.KEY}:
            assert before.count(b"short") == long.count(b"short") == long.count(b"team-short")
        assert names.remove(value, found.version, request)
        assert found.encode(value) == before

    check()


@each_layout(sample(_RESPONSES, 16))
def test_no_response_has_the_name_of_another_tenant(found: Codec[Any]) -> None:
    """Rows of others are left out, and all of the tenant's own stay."""
    names = PrefixedNames("team-")
    fields = named_fields(found.name, found.version)

    @settings(max_examples=draws(16))
    @given(drawn(found.value_class, found.version), st.integers(0, 1 << 32))
    def check(value: Any, seed: int) -> None:
        dice = Random(seed)
        fronts = ["team", "other", "Team", "tea"]
        _fill(value, fields, dice, lambda: f"{dice.choice(fronts)}-{dice.randrange(9)}")
        request = _request(found, value)
        if names.remove(value, found.version, request):
            _drop_shared(value)
            assert not re.search(rb"team-|other-|Team-|tea-", found.encode(value))

    check()


def _drop_shared(response: Any) -> None:
    """Take rows of resources that all tenants share out of a response."""
    for name in ("results", "responses", "resources", "config_resources", "filter_results"):
        for each in getattr(response, name, ()):
            _keep_named(getattr(each, "matching_acls", []), (2, 3, 5, 1))
        of_acls = name == "resources"
        _keep_named(getattr(response, name, []), (1, 2, 3, 5) if of_acls else (2, 32))


def _keep_named(rows: list[Any], types: tuple[int, ...]) -> None:
    rows[:] = [each for each in rows if getattr(each, "resource_type", types[0]) in types]


def test_a_row_of_another_tenant_is_left_out() -> None:
    """At any depth; what is around it stays, and a cursor that has none is none."""
    response = DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic(name=name)
            for name in ("other-a", "team-b")
        ],
        next_cursor=DescribeTopicPartitionsResponse.Cursor("other-c"),
    )
    names = PrefixedNames("team-")
    assert names.remove(response, 0, DescribeTopicPartitionsRequest())
    assert [each.name for each in response.topics] == ["b"]
    assert response.next_cursor is None
    row = FindCoordinatorResponse.Coordinator
    found = FindCoordinatorResponse(coordinators=[row("team-t"), row("t")])
    assert names.remove(found, 4, FindCoordinatorRequest(key_type=1))
    assert [each.key for each in found.coordinators] == ["t"]


_OWNED = ConsumerProtocolSubscription.TopicPartition
_SENT = ConsumerProtocolSubscription(["a", "b"], b"a", [_OWNED("a", [1])])
_LONG = ConsumerProtocolSubscription(["team-a", "team-b"], b"a", [_OWNED("team-a", [1])])


@pytest.mark.parametrize("version", [0, 1, 3, 7])
def test_subscriptions_of_consumers_alone_are_changed(version: int) -> None:
    """A version that is not known yet is read as version 3, and keeps what it has more."""
    known, rest = min(version, 3), b"new" if version > 3 else b""
    front = version.to_bytes(2, "big")
    sent, long = (front + each.encode(known, lenient=True) + rest for each in (_SENT, _LONG))
    names = PrefixedNames("team-")
    for protocol_type, expected in (("consumer", long), ("connect", sent)):
        request = JoinGroupRequest(
            "g",
            protocol_type=protocol_type,
            protocols=[JoinGroupRequest.JoinGroupRequestProtocol("range", sent)],
        )
        names.add(request, 5, request)
        assert request.protocols[0].metadata == expected
        member = JoinGroupResponse.JoinGroupResponseMember("m", metadata=expected)
        response = JoinGroupResponse(members=[member])
        assert names.remove(response, 5, request)
        assert member.metadata == sent


def test_an_assignment_without_a_protocol_type_is_one_if_it_reads_as_one() -> None:
    """SyncGroup says the type from version 5 on."""
    row = ConsumerProtocolAssignment.TopicPartition
    sent = b"\0\1" + ConsumerProtocolAssignment([row("a", [1])], b"a").encode(1)
    long = b"\0\1" + ConsumerProtocolAssignment([row("team-a", [1])], b"a").encode(1)
    names = PrefixedNames("team-")
    others = [(each, each) for each in (sent + b"!", b"\0\1?", b"")]
    for data, expected in ((sent, long), *others):
        request = SyncGroupRequest(
            "g", assignments=[SyncGroupRequest.SyncGroupRequestAssignment("m", data)]
        )
        names.add(request, 4, request)
        assert request.assignments[0].assignment == expected
        response = SyncGroupResponse(assignment=expected)
        assert names.remove(response, 4, request)
        assert response.assignment == data


@pytest.mark.parametrize(
    ("pattern", "own"),
    [
        ("orders.*", ["orders-1"]), ("^a$|^b", ["a", "b"]), ("a|b", ["a", "b"]), ("[)]", [")"]),
        (r"a\)|b", ["a)", "b"]), (r"[]^(]\(", ["](", "^(", "(("]), (r"[^)\]]", ["a"]), ("", [""]),
        (r"(a|(b))c", ["ac", "bc"]), (r"\Aa", ["a"]),
    ],
)  # fmt: skip
def test_patterns_are_of_names_with_the_prefix(pattern: str, own: list[str]) -> None:
    long = PrefixedPatterns("a.b-").add(pattern)
    assert long is not None
    for name in own:
        assert re.fullmatch(long, f"a.b-{name}")
        assert not re.fullmatch(long, name)
        assert not re.fullmatch(long, f"axb-{name}")
    assert PrefixedPatterns("a.b-").remove(long) == pattern.replace(r"\A", "^")
    assert PrefixedPatterns("a.").remove(long) is None


@pytest.mark.parametrize(
    "pattern", ["a)|(?:b", ")", "(", r"\Q)\E)|(b", "[[:alpha:])])|(.*", r"a\\)|(b"]
)
def test_patterns_that_end_the_group_are_refused(pattern: str) -> None:
    """They would match names without the prefix."""
    assert PrefixedPatterns("team-").add(pattern) is None


@given(st.text(alphabet="ab()[]^|\\QE:?*.-", max_size=12))
def test_no_pattern_matches_what_has_no_prefix(pattern: str) -> None:
    long = PrefixedPatterns("team-").add(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sets that Python may read otherwise one day
            found = re.compile(long or "(?!)")
    except re.error:
        return  # Python refuses it, as does RE2, if not for the same reason
    for name in ("", "a", "b", "ab", "other-a", "team", ")", "(", "\\"):
        assert not found.fullmatch(name)


def test_texts_lose_the_prefix_where_a_word_begins() -> None:
    names = PrefixedNames("a-")
    sentences = {
        "'a-b' collides with existing topics: a-b.c, a-a-b": "'b' collides with existing topics: "
        "b.c, a-b",
        "a-b: no data-a-b": "b: no data-a-b",
        r"Regex `a\-(?:*(b))` is not valid: `*`": "Regex `*(b)` is not valid: `*`",
    }
    for text, expected in sentences.items():
        response = ConsumerGroupHeartbeatResponse(error_message=text)
        assert names.remove(response, 1, response)
        assert response.error_message == expected


def test_acls_of_all_are_those_of_the_prefix() -> None:
    """An ACL of ``*`` would be one of all tenants."""
    creation = CreateAclsRequest.AclCreation
    request = CreateAclsRequest(
        [creation(2, "*"), creation(2, "a", 4), creation(3, "*"), creation(4, "kafka-cluster")]
    )
    names = PrefixedNames("team-")
    names.add(request, 3, request)
    assert [(each.resource_name, each.resource_pattern_type) for each in request.creations] == [
        ("team-", 4), ("team-a", 4), ("team-", 4), ("kafka-cluster", 3)
    ]  # fmt: skip
    resource = DescribeAclsResponse.DescribeAclsResource
    response = DescribeAclsResponse(
        resources=[
            resource(2, "team-", 4), resource(2, "*", 3), resource(2, "te", 4),
            resource(5, "team-t", 3), resource(5, "other-t", 3), resource(4, "kafka-cluster", 3),
        ]
    )  # fmt: skip
    assert names.remove(response, 3, DescribeAclsRequest())
    assert [(each.resource_name, each.pattern_type) for each in response.resources] == [
        ("*", 3), ("t", 3), ("kafka-cluster", 3)
    ]  # fmt: skip
