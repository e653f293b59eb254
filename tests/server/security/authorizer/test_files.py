"""ACLs that a cluster starts with, from a file or from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import DescribeAclsRequest, MetadataRequest
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.releases import RELEASES, ReleaseNumber
from kafka_admin_proto.server.security.authorizer.files import acls_of, read_acls
from tests.helpers.kap import ended, run_kap
from tests.server.differential.wire import Nodes

_ROW = {
    "principal": "User:ANONYMOUS", "operation": "DESCRIBE", "resource_type": "CLUSTER",
    "name": "kafka-cluster",
}  # fmt: skip


def test_a_cluster_starts_with_them(tmp_path: Path) -> None:
    cluster_settings: dict[str, Any] = {"acls": [_ROW, _ROW], "data": tmp_path / "data"}
    for _ in range(2):  # the second start has them in its log
        with SyncCluster(**cluster_settings) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
            answer = nodes.ask(0, DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3)
            (found,) = answer.resources
            assert (found.resource_type, len(found.acls)) == (4, 1)
            listed = nodes.ask(0, MetadataRequest(None, False, True), 10)
            assert listed.cluster_authorized_operations == 1 << 8


def test_what_kap_writes_is_read(tmp_path: Path) -> None:
    file = tmp_path / "acls.json"
    with SyncCluster(acls=[_ROW]) as cluster:
        command = ["acls", "list", "--bootstrap-server", cluster.bootstrap_servers]
        file.write_text(ended(run_kap(*command, "--output", "json")).stdout)
    assert acls_of(read_acls(file), ReleaseNumber(4, 3)) == acls_of([_ROW], ReleaseNumber(4, 3))
    file.write_text(json.dumps([_ROW]))
    assert read_acls(file) == [_ROW]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "has no ACLs: expected a JSON list of them"),
        ('{"rows": []}', "has no ACLs"),
        ("[1]", "has no ACLs"),
        ("[]", "has no ACLs: its list is empty; to forbid everything, leave it out and set the"),
        ('{"acls": []}', "has no ACLs: its list is empty"),
        (json.dumps([{**_ROW, "operation": "read"}]), "ACL 1 cannot be: 'read' is no operation"),
        (json.dumps([_ROW, {**_ROW, "principal": "bob"}]), "ACL 2 cannot be: Could not parse"),
        (json.dumps([{**_ROW, "resource_type": "ANY"}]), "'ANY' is no resource type; there are"),
        (json.dumps([{**_ROW, "permision": "DENY"}]), "permision`; it has principal, operation, r"),
        (json.dumps([{}]), "missing required field `principal`"),
    ],
)
def test_a_file_that_cannot_be(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "acls.json"
    file.write_text(text)
    assert fault in " ".join(ended(run_kap("serve --acls", str(file)), 2).output.split())


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("field", "known"),
    [
        ("resource_type", "TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER"),
        ("pattern_type", "LITERAL, PREFIXED"),
        (
            "operation",
            "ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, "
            "ALTER_CONFIGS, IDEMPOTENT_WRITE, CREATE_TOKENS, DESCRIBE_TOKENS",
        ),
        ("permission", "DENY, ALLOW"),
    ],
)
def test_a_name_that_is_none_is_refused_with_those_that_are(
    release: str, field: str, known: str
) -> None:
    if field == "operation" and release != "3.9":
        known += ", TWO_PHASE_COMMIT"
    for wrong in ("ALOW", "ANY", "UNKNOWN", "3", "8", ""):
        with pytest.raises(SettingsError) as refused:
            Cluster(acls=[{**_ROW, field: wrong}], release=release)
        kind = field.replace("_", " ") + (" type" if field == "permission" else "")
        assert str(refused.value) == f"ACL 1 cannot be: {wrong!r} is no {kind}; there are {known}"
    for name in known.split(", "):
        acls_of([{**_ROW, field: name, "name": "kafka-cluster"}], ReleaseNumber.parse(release))


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        read_acls("/no/such/file")
