"""ACLs that a cluster starts with, from a file or from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import DescribeAclsRequest, MetadataRequest
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.security.authorizer.files import acls_of, read_acls
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
        outcome = CliRunner().invoke(kap, [*command, "--output", "json"])
        assert outcome.exit_code == 0, outcome.output
        file.write_text(outcome.stdout)
    assert acls_of(read_acls(file)) == acls_of([_ROW])
    file.write_text(json.dumps([_ROW]))
    assert read_acls(file) == [_ROW]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "has no ACLs: expected a JSON list of them"),
        ('{"rows": []}', "has no ACLs"),
        ("[1]", "has no ACLs"),
        (json.dumps([{**_ROW, "operation": "read"}]), "ACL 1 cannot be: 'read' is no operation"),
        (json.dumps([_ROW, {**_ROW, "principal": "bob"}]), "ACL 2 cannot be: Could not parse"),
        (json.dumps([{**_ROW, "resource_type": "ANY"}]), "Invalid resourceType"),
        (json.dumps([{**_ROW, "permision": "DENY"}]), "permision"),
        (json.dumps([{}]), "missing required field `principal`"),
    ],
)
def test_a_file_that_cannot_be(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "acls.json"
    file.write_text(text)
    outcome = CliRunner().invoke(kap, ["serve", "--acls", str(file)])
    assert outcome.exit_code == 2
    assert fault in " ".join(outcome.output.split())


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        read_acls("/no/such/file")
