"""Each api needs the operations in the docs, and refuses with the code in the docs."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from kafka_admin_proto.messages import CreateAclsRequest, CreateTopicsRequest
from kafka_admin_proto.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from kafka_admin_proto.messages.create_acls_request import AclCreation
from kafka_admin_proto.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.server.apis import handler_modules
from kafka_admin_proto.server.security.authorizer import rules
from kafka_admin_proto.values import Message
from tests.server.handlers.test_create_topics import topic
from tests.server.security.authorizer.case import Case
from tests.server.security.authorizer.refused import cases
from tests.server.served import Served

SECURED = {
    "authorizer.class.name": rules.STANDARD_AUTHORIZER,
    "super.users": "User:admin; User:ANONYMOUS",
}
#: (type, name) of the resources that the cases are about.
_RESOURCES = {
    "topic": (rules.TOPIC, "*"), "group": (rules.GROUP, "*"),
    "cluster": (rules.CLUSTER, rules.CLUSTER_NAME), "id": (rules.TRANSACTIONAL_ID, "*"),
    "user": (rules.USER, "*"),
}  # fmt: skip
_COMMITTED = TxnOffsetCommitRequestTopic("a", partitions=[TxnOffsetCommitRequestPartition(0, 1)])
_NAMES = [name for name, _ in cases(UUID(int=1))]
#: ApiVersions is for all, and tokens are renewed and expired by whose they are; the others leave
#: out what the caller may not see.
_SILENT = {16, 18, 39, 40, 41, 60, 66}
#: A version of both in which topics have names.
_BY_NAME = 4
#: AddOffsetsToTxn and TxnOffsetCommit need two operations.
_OF_TWO = {25, 28}


def secured() -> Served:
    """A cluster with an authorizer and the topic "a"; nobody but super users may do anything."""
    served = Served(configs=SECURED)
    served.ask(CreateTopicsRequest([topic("a", assignment={0: [1]})], 1000))
    return served


def allow(served: Served, operation: int, kind: int, name: str, principal: str) -> None:
    """Let a principal do this from anywhere."""
    row = AclCreation(kind, name, rules.LITERAL, principal, "*", operation, rules.ALLOW)
    (result,) = served.ask(CreateAclsRequest([row])).results
    assert result.error_code == 0


def case_of(served: Served, name: str) -> Case:
    found = served.state.topic("a")
    assert found is not None
    return dict(cases(found.id))[name]


@pytest.mark.parametrize("name", _NAMES)
def test_nobody_else_may(name: str) -> None:
    served = secured()
    case = case_of(served, name)
    end = served.state.end_offset
    assert case.codes(served.ask(case.request, principal="User:eve")) == [case.error]
    assert served.state.end_offset == end
    assert case.codes(served.ask(case.request, principal="User:admin")) in ([case.allowed], [])


@pytest.mark.parametrize("name", _NAMES)
def test_one_operation_is_enough(name: str) -> None:
    for operation, resource in case_of(secured(), name).needs:
        served = secured()
        case = case_of(served, name)
        kind, named = _RESOURCES[resource]
        code = getattr(rules, operation)
        enough = {getattr(rules, what) for what, where in case.needs if where == resource}
        for other in set(range(3, 13)) - enough - implying(code):
            allow(served, other, kind, named, "User:bob")
        assert case.codes(served.ask(case.request, principal="User:bob")) == [case.error]
        allow(served, code, kind, named, "User:bob")
        assert case.codes(served.ask(case.request, principal="User:bob")) in ([case.allowed], [])


def implying(operation: int) -> set[int]:
    """Operations that allow another one besides."""
    return {
        rules.DESCRIBE: {rules.READ, rules.WRITE, rules.DELETE, rules.ALTER},
        rules.DESCRIBE_CONFIGS: {rules.ALTER_CONFIGS},
    }.get(operation, set())


def test_every_api_is_looked_at() -> None:
    served = secured()
    asked = {case_of(served, name).request.api_key for name in _NAMES}
    assert asked | _SILENT | _OF_TWO == handler_modules().keys()


@pytest.mark.parametrize(
    "request_",
    [AddOffsetsToTxnRequest("t", 0, 0, "g"), TxnOffsetCommitRequest("t", "g", topics=[_COMMITTED])],
)
def test_offsets_in_transactions_need_the_id_and_the_group(request_: Message) -> None:
    served = secured()

    def code() -> int:
        answer = served.ask(request_, _BY_NAME, principal="User:bob")
        rows = [answer] if request_.api_key == 25 else answer.topics[0].partitions
        found: int = rows[0].error_code
        return found

    assert code() == codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    allow(served, rules.WRITE, rules.TRANSACTIONAL_ID, "*", "User:bob")
    assert code() == codes.GROUP_AUTHORIZATION_FAILED
    allow(served, rules.READ, rules.GROUP, "*", "User:bob")
    if request_.api_key == 28:
        assert code() == codes.TOPIC_AUTHORIZATION_FAILED
        allow(served, rules.READ, rules.TOPIC, "*", "User:bob")
    assert code() == codes.NOT_COORDINATOR


def test_the_docs_have_these_rows() -> None:
    text = (Path(__file__).parents[4] / "docs" / "server-security.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    found = {row[0]: row[1:] for row in rows if "AUTHORIZATION_FAILED" in row[-1]}
    words = {"id": "transactional id"}
    expected = {
        name: [
            ", or ".join(f"{what} on the {words.get(where, where)}" for what, where in case.needs),
            f"{case.error} {error_name(case.error)}",
        ]
        for name, case in cases(UUID(int=1))
    }
    assert found == expected
