"""``kap … --dialect``: one command line speaks the drafts; docs/drafts.md's examples are run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kafka_admin_proto.admin.alter import AlterTopicStep, TopicPlan
from kafka_admin_proto.cli.admin.topics_alter import planned_items
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.wire.secrets import MASK
from tests.docs.pages import DOCS, run_page

_MOVE = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[3,1]}]}'


@pytest.fixture
def second() -> Iterator[SyncCluster]:
    with SyncCluster(3, rules="kip-4b", sync_delay_s=0.01) as cluster:
        yield cluster


def run(cluster: SyncCluster, arguments: str, data: str | None = None) -> Result:
    env = {"KAP_BOOTSTRAP_SERVER": cluster.bootstrap_servers, "KAP_TIMEOUT": "20"}
    result = CliRunner().invoke(kap, shlex.split(arguments), data, env, prog_name="kap")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_pages_examples(tmp_path: Path) -> None:
    """a14: one command line for all commands; they run one after the other on one cluster."""
    run_page(DOCS / "drafts.md", tmp_path, brokers=3, rules="kip-4b", sync_delay_s=0.01)


def test_the_first_draft() -> None:
    """a13, a14: the client and its command line administer topics by the draft's messages."""
    with SyncCluster(3, rules="kip-4a", sync_delay_s=0.01) as cluster:
        said = "--dialect kip-4a -o json"
        assert run(cluster, f"topics create t --replica-assignment 1:2 {said}").exit_code == 0
        done = run(cluster, f"topics alter t --replica-assignment 3:1,2:3 --yes {said}")
        (topic,) = json.loads(done.stdout)["topics"]
        assert (done.exit_code, topic["complete"]) == (0, True)
        described = json.loads(run(cluster, f"topics describe t {said}").stdout)
        replicas = [each["replicas"] for each in described["topics"][0]["partitions"]]
        assert replicas == [[3, 1], [2, 3]]
        move = "partitions reassign --reassignment-json-file - --yes"
        assert run(cluster, f"{move} {said}", data=_MOVE).exit_code == 0
        assert json.loads(run(cluster, f"topics list {said}").stdout)["topics"][0]["name"] == "t"
        refused = run(cluster, "topics describe --under-replicated-partitions --dialect kip-4a")
        assert (refused.exit_code, "in sync" in refused.stderr) == (2, True)
        refused = run(cluster, "topics alter t --config segment.ms=5 --yes --dialect kip-4a")
        assert (refused.exit_code, "has no configs" in refused.stderr) == (2, True)
        assert run(cluster, f"topics delete t --yes {said}").exit_code == 0


def test_a_reassignment_that_the_draft_ignores(second: SyncCluster) -> None:
    """b63, b177: the command is sent as its message, which does nothing; a note says so."""
    run(second, "topics create t --replica-assignment 1:2 --dialect kip-4b")
    arguments = "--reassignment-json-file - --dialect kip-4b"
    found = run(second, f"partitions reassign {arguments} --yes", data=_MOVE)
    assert (found.exit_code, "into account" in found.stderr) == (0, True)
    verified = run(second, f"partitions verify {arguments}", data=_MOVE)
    assert (verified.exit_code, "its replicas are 1,2, not 3,1" in verified.stderr) == (1, True)


def test_a_topic_that_exists_is_no_failure_where_asked(second: SyncCluster) -> None:
    create = "topics create t --partitions 1 --replication-factor 1 --dialect kip-4b"
    assert run(second, create).exit_code == 0
    again = run(second, create)
    assert (again.exit_code, "TopicAlreadyExists" in again.stderr) == (1, True)
    assert run(second, f"{create} --if-not-exists").exit_code == 0


def test_secrets_of_a_plan_are_masked() -> None:
    step = AlterTopicStep(configs={"ssl.key.password": "hunter2", "segment.ms": "5"})
    (item,) = planned_items([TopicPlan("t", steps=[step])])
    assert item["steps"][0]["configs"] == {"ssl.key.password": MASK, "segment.ms": "5"}


def test_a_cluster_without_the_draft() -> None:
    with SyncCluster(1) as cluster:
        found = run(cluster, "topics describe --dialect kip-4a")
        assert found.exit_code == 1
        assert "kap serve --rules kip-4a" in found.stderr
