"""The rules of the authorizer, by their definition and beside Kafka's own class."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.records.metadata.entities import Acl
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.security.authorizer import rules
from kafka_admin_proto.server.security.authorizer.rules import (
    ALLOW_CONFIG,
    CLASS_CONFIG,
    STANDARD_AUTHORIZER,
    SUPER_USERS_CONFIG,
    Authorizer,
    AuthorizerSettings,
    authorizer_settings,
)
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import draws
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

#: (principal, host, operation, resource type, name)
Question = tuple[str, str, int, int, str]

_NAMES = ["a", "ab", "abc", "b", "ba", "*", "kafka-cluster", "caf\u00e9"]
_PRINCIPALS = ["User:a", "User:b", "User:*", "Group:a", "User:a:b"]
_ADDRESSES = ["127.0.0.1", "10.0.0.1", "fe80:0:0:0:0:0:0:1"]
_HOSTS = ["*", "10.0.0.0/8", "127.0.0.1/31", "fe80::/10", "10.0.0.0/99", *_ADDRESSES]
#: Address → the ranges that it is in.
_AROUND = {"127.0.0.1": ["127.0.0.1/31"], "10.0.0.1": ["10.0.0.0/8"], _ADDRESSES[2]: ["fe80::/10"]}
_TYPES = [rules.TOPIC, rules.GROUP, rules.CLUSTER]
_OPERATIONS = list(range(rules.READ, 16))

_acls = st.builds(
    Acl,
    st.sampled_from(_TYPES),
    st.sampled_from([*_NAMES, "*"]),
    st.sampled_from([rules.LITERAL, rules.LITERAL, rules.PREFIXED]),
    st.sampled_from(_PRINCIPALS),
    st.sampled_from(["*", *_HOSTS]),
    st.sampled_from([rules.ALL, *_OPERATIONS]),
    st.sampled_from([rules.ALLOW, rules.ALLOW, rules.DENY]),
)
_questions = st.tuples(
    st.sampled_from(["User:a", "User:b", "User:c", "User:root", "User:a:b"]),
    st.sampled_from(_ADDRESSES),
    st.sampled_from(_OPERATIONS),
    st.sampled_from(_TYPES),
    st.sampled_from([*_NAMES, "abcd", "x"]),
)
_settings = st.builds(AuthorizerSettings, st.just(frozenset({"User:root"})), st.booleans())


def by_definition(settings: AuthorizerSettings, acls: list[Acl], question: Question) -> bool:
    """What the authorizer says of itself, without an index."""
    principal, host, operation, kind, name = question
    if principal in settings.super_users:
        return True
    about = [
        each
        for each in acls
        if each.resource_type == kind
        and (
            name.startswith(each.resource_name)
            if each.pattern_type == rules.PREFIXED
            else each.resource_name in (name, "*")
        )
    ]
    if not about:
        return settings.allow_without_acls
    implied = {
        rules.DESCRIBE: {rules.READ, rules.WRITE, rules.DELETE, rules.ALTER},
        rules.DESCRIBE_CONFIGS: {rules.ALTER_CONFIGS},
    }.get(operation, set())
    theirs = [
        each
        for each in about
        if each.principal in (principal, "User:*") and each.host in ("*", host, *_AROUND[host])
    ]
    exact = {rules.ALL, operation}
    denied = any(e.permission_type == rules.DENY and e.operation in exact for e in theirs)
    return not denied and any(
        e.permission_type == rules.ALLOW and e.operation in exact | implied for e in theirs
    )


@settings(max_examples=draws(800))
@given(_settings, st.lists(_acls, max_size=8), st.lists(_questions, min_size=1, max_size=20))
def test_the_definition(
    settings: AuthorizerSettings, acls: list[Acl], questions: list[Question]
) -> None:
    authorizer = Authorizer(settings, acls, ReleaseNumber(4, 4))
    for each in questions:
        assert authorizer.allows(*each) == by_definition(settings, acls, each), each


@pytest.fixture(scope="module")
def kafka() -> Iterator[JavaTool]:
    source = Path(__file__).parents[3] / "java" / "AuthorizerTool.java"
    tool = JavaTool(source, fetch_runtime(NEWEST))
    yield tool
    tool.close()


@pytest.mark.exhaustive
@pytest.mark.xdist_group("live authorizer")
def test_beside_standard_authorizer(kafka: JavaTool) -> None:
    """100 sets of ACLs, and 1,800 questions to each of them."""
    chosen = random.Random(7)
    everything = list(
        product(
            ["User:a", "User:b", "User:root", "User:a:b"], _ADDRESSES, _OPERATIONS[:10], _TYPES,
            ["a", "abc", "b", "kafka-cluster", "x"],
        )
    )  # fmt: skip
    assert len(everything) == 1800
    drawn = [
        (
            chosen.random() < 0.5,
            list(dict.fromkeys(_random_acl(chosen) for _ in range(chosen.randint(0, 12)))),
        )
        for _ in range(100)
    ]
    lines = [
        json.dumps({
            "configs": {SUPER_USERS_CONFIG: "User:root;;  ", ALLOW_CONFIG: str(allow)},
            "acls": [[getattr(acl, field) for field in acl.__struct_fields__] for acl in acls],
            "questions": everything,
        })
        for allow, acls in drawn
    ]  # fmt: skip
    for (allow, acls), theirs in zip(drawn, kafka.ask(lines), strict=True):
        authorizer = Authorizer(
            AuthorizerSettings(frozenset({"User:root"}), allow), acls, ReleaseNumber(4, 4)
        )
        ours = "".join(str(int(authorizer.allows(*each))) for each in everything)
        wrong = [each for each, a, b in zip(everything, ours, theirs, strict=True) if a != b]
        assert not wrong, (allow, acls, wrong[:5])


def _random_acl(chosen: random.Random) -> Acl:
    return Acl(
        chosen.choice(_TYPES),
        chosen.choice([*_NAMES, "*"]),
        chosen.choice([rules.LITERAL, rules.LITERAL, rules.PREFIXED]),
        chosen.choice(_PRINCIPALS),
        chosen.choice(["*", *_HOSTS]),
        chosen.choice([rules.ALL, *_OPERATIONS]),
        chosen.choice([rules.ALLOW, rules.ALLOW, rules.DENY]),
    )


def test_settings() -> None:
    assert authorizer_settings({}) is None
    found = authorizer_settings(
        {CLASS_CONFIG: STANDARD_AUTHORIZER, SUPER_USERS_CONFIG: " User:a ;User:CN=b,O=c;",
         ALLOW_CONFIG: " TRUE "}
    )  # fmt: skip
    assert found == AuthorizerSettings(frozenset({"User:a", "User:CN=b,O=c"}), True)
    with pytest.raises(SettingsError, match="name principals as TYPE:NAME, User:bob"):
        authorizer_settings({CLASS_CONFIG: STANDARD_AUTHORIZER, SUPER_USERS_CONFIG: "bob"})
    with pytest.raises(SettingsError, match=f"can only be {STANDARD_AUTHORIZER}, not x"):
        authorizer_settings({CLASS_CONFIG: "x"})
