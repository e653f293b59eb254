"""What ``kap acls`` refuses, warns of and chooses, beside kafka-acls.sh."""

from __future__ import annotations

import pytest

from kafka_admin_proto.cli.admin.acl_arguments import OPERATIONS, constant_of
from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import requests_of
from tests.helpers.kap import run_kap

#: Nobody listens on it: what is sent fails otherwise.
_NOBODY = ("-b", "127.0.0.1:1")
_LITERAL, _ANY, _MATCH, _PREFIXED = 3, 1, 2, 4
_KINDS = {
    "--topic": "READ WRITE CREATE DESCRIBE DELETE ALTER DESCRIBE_CONFIGS ALTER_CONFIGS",
    "--group": "READ DESCRIBE DELETE DESCRIBE_CONFIGS ALTER_CONFIGS",
    "--cluster": "CREATE CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE ALTER "
    "DESCRIBE",
    "--transactional-id": "DESCRIBE WRITE TWO_PHASE_COMMIT",
    "--delegation-token": "DESCRIBE",
    "--user-principal": "CREATE_TOKENS DESCRIBE_TOKENS",
}


def kap_acls(line: str) -> tuple[int, str]:
    result = run_kap(f"acls {line}", *_NOBODY)
    return result.exit_code, result.stderr


@pytest.mark.parametrize("option", _KINDS)
def test_a_resource_takes_its_own_operations_alone(option: str) -> None:
    """The operations are those of ``AclEntry.supportedOperations`` of 4.3.1."""
    resource = option if option == "--cluster" else f"{option} a"
    base = f"create --allow-principal User:a {resource} --dry-run --operation"
    for operation in OPERATIONS:
        code, said = kap_acls(f"{base} {operation}")
        if constant_of(operation) in ("ALL", *_KINDS[option].split()):
            assert code == 0, (operation, said)
        else:
            assert code == 2
            assert f"{operation} has no effect on {option}" in said
            assert "what is allowed or denied there is" in said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--allow-principal User:a --topic t --group g --operation Write", "no effect on --group"),
        ("--allow-principal User:a --idempotent --topic t --operation Read", "with --producer"),
        ("--allow-principal User:a --consumer --topic t", "--consumer needs --group"),
        ("--allow-principal User:a --producer --group g", "--producer needs --topic"),
        ("--deny-host 1.1.1.1 --topic t --operation Read", "name a principal"),
        ("--deny-host 1.1.1.1 --allow-principal User:a --topic t --operation Read", "with --deny-"),
        ("--allow-host 1.1.1.1 --deny-principal User:a --topic t --operation Read", "with --allow"),
    ],
)
def test_what_has_no_effect_is_refused(line: str, said: str) -> None:
    code, text = kap_acls(f"create {line}")
    assert (code, said in text) == (2, True), text


@pytest.mark.parametrize(
    "line",
    [
        "--resource-pattern-type literal", "--resource-pattern-type prefixed", "--operation Read",
        "--resource-pattern-type any", "--permission allow", "--host '*'",
        "--permission deny --operation All --resource-pattern-type literal", "",
    ],
)  # fmt: skip
def test_all_acls_are_not_deleted_at_once(line: str) -> None:
    code, said = kap_acls(f"delete --yes {line}")
    assert (code, "that would be all ACLs: say which" in said) == (2, True), said


@pytest.mark.parametrize("verb", ["list", "delete --dry-run"])
@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("--topic orders", _LITERAL), ("--principal User:a", _ANY), ("--cluster", _LITERAL),
        ("--topic orders --resource-pattern-type any", _ANY),
        ("--topic orders --resource-pattern-type prefixed", _PREFIXED),
        ("--topic orders --resource-pattern-type MATCH", _MATCH),
        ("--cluster --resource-pattern-type prefixed", _LITERAL),
        ("--allow-principal User:a --producer --topic orders", _LITERAL),
    ],
)  # fmt: skip
def test_a_name_is_literal_unless_it_is_said(
    run: Run, cluster: SyncCluster, verb: str, line: str, pattern: int
) -> None:
    assert run(f"acls {verb} {line}").exit_code == 0
    assert {each.pattern_type_filter for each in requests_of(cluster, "DescribeAcls")} == {pattern}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--topic 'orders-*'", "--topic orders-* is about that one name"),
        ("--topic '*' --resource-pattern-type prefixed", "--topic * is about names that begin"),
        ("--topic 'a*' --resource-pattern-type prefixed", "--topic a* is about names that begin"),
        ("--topic t --allow-principal 'User:app-*'", "User:app-* is one name with the sign *"),
        ("--topic t --allow-host '10.0.0.*'", "10.0.0.* is one name with the sign *"),
        ("--topic '*'", ""),
        ("--topic a --resource-pattern-type prefixed", ""),
        ("--topic a --allow-principal 'User:*' --allow-host '*'", ""),
    ],
)
def test_a_star_that_is_only_a_sign_is_said(line: str, said: str) -> None:
    code, text = kap_acls(f"create --allow-principal User:a --operation Read --dry-run {line}")
    assert code == 0
    assert said in text
    assert bool(text) == bool(said)
