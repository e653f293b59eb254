"""``kap … --dialect``: one command line speaks the drafts; docs/drafts.md's examples are run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import click
import pytest
from click.testing import Result

from kafka_admin_proto.admin.alter import AlterTopicStep, TopicPlan
from kafka_admin_proto.cli.admin.common.settings import SharedOption
from kafka_admin_proto.cli.admin.topics_alter import planned_items
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.wire.secrets import MASK
from tests.docs.pages import DOCS, run_page
from tests.helpers.kap import ended, run_kap

_MOVE = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[3,1]}]}'


@pytest.fixture
def second() -> Iterator[SyncCluster]:
    with SyncCluster(3, rules="kip-4b", sync_delay_s=0.01) as cluster:
        yield cluster


def run(cluster: SyncCluster, arguments: str, data: str | None = None) -> Result:
    env = {"KAP_BOOTSTRAP_SERVER": cluster.bootstrap_servers, "KAP_TIMEOUT": "20"}
    return run_kap(arguments, data=data, env=env)


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


@pytest.mark.parametrize("dialect", ["kip-4a", "kip-4b"])
def test_any_request_of_the_draft(dialect: Literal["kip-4a", "kip-4b"]) -> None:
    """a105, b211: the name is one of the dialect, and then one of Kafka's own."""
    with SyncCluster(2, rules=dialect) as cluster:
        for api in ("AlterTopic", "altertopicrequest", "4002"):
            said = f"request {api} --dialect {dialect} --yes --json -"
            asked = run(cluster, said, data='{"items": [{"topicName": "nothere"}]}')
            document = json.loads(asked.stdout)
            assert (document["api"], asked.exit_code) == ("AlterTopic", 1), asked.output
            assert document["errors"][0]["error"] == "UNKNOWN_TOPIC_OR_PARTITION"
        for api, version in (("TopicMetadata", 1), ("3", 1), ("Metadata", 12)):
            asked = ended(run(cluster, f"request {api} --version {version} --dialect {dialect}"))
        wrong = run(cluster, f"request AlterTopicz --dialect {dialect}")
        assert (wrong.exit_code, "did you mean AlterTopic?" in wrong.stderr) == (2, True)
        for api in ("AlterTopicResponse", "CreateTopicsResponse"):
            wrong = run(cluster, f"request {api} --dialect {dialect}")
            assert (wrong.exit_code, f"{api} is no request" in wrong.stderr) == (2, True)


#: Command → its own options: those that a draft's message cannot carry, or that the draft ignores,
#: have a line in ``REFUSED``.
OPTIONS = {
    "topics create": "topic partitions replication-factor replica-assignment config if-not-exists "
    "dry-run",
    "topics alter": "topic partitions replication-factor replica-assignment config delete-config "
    "if-exists reading dry-run yes",
    "topics delete": "topic topic-id if-exists dry-run yes",
    "topics list": "topic exclude-internal",
    "topics describe": "topic topic-id exclude-internal lag under-replicated-partitions "
    "unavailable-partitions topics-with-overrides if-exists",
    "leaders elect": "election-type topic partition topic-partition all-topics path-to-json-file "
    "yes",
    "partitions reassign": "reassignment-json-file throttle replica-alter-log-dirs-throttle "
    "additional dry-run yes",
}
BOTH = ("kip-4a", "kip-4b")
#: Dialects, a command line with what they refuse, and words of the sentence.
REFUSED = [
    (BOTH[1:], "topics create t --dry-run", "no request that only validates"),
    (BOTH[1:], "topics alter t --replica-assignment 3:1", "If Partitions value is empty (-1)"),
    (BOTH[1:], "topics alter t --replica-assignment 1 --replication-factor 1", "into account"),
    (BOTH[:1], "topics alter t --replica-assignment 1 --replication-factor 1", "leave them out"),
    (BOTH[:1], "topics alter t --replica-assignment 1 --partitions 1", "leave them out"),
    (BOTH[:1], "topics alter t --config segment.ms=5", "has no configs"),
    (BOTH[:1], "topics alter t --delete-config segment.ms", "has no configs"),
    (BOTH[:1], "topics alter t --partitions 2 --reading second", "is itself the first draft"),
    (BOTH[1:], "topics alter t --partitions 2 --reading first", "is itself the second draft"),
    (BOTH, "topics delete --topic-id sqF6wKA7SxKtA_EiRnSdgQ", "has no topic ids"),
    (BOTH, "topics describe --topic-id sqF6wKA7SxKtA_EiRnSdgQ", "neither topic ids"),
    (BOTH[:1], "topics describe --lag", "does not say how far"),
    (BOTH[:1], "topics describe --under-replicated-partitions", "does not say which replicas"),
    (BOTH[:1], "topics describe --topics-with-overrides", "does not say which configs"),
    (BOTH[1:], "leaders elect --election-type unclean --all-topics", "elects preferred leaders"),
]


def test_each_option_is_weighed_for_each_draft() -> None:
    """A new option of a command that a draft has a message for comes into the table."""
    root = click.Context(kap)
    for path, options in OPTIONS.items():
        group, name = path.split()
        commands = kap.get_command(root, group)
        assert isinstance(commands, click.Group)
        command = commands.get_command(root, name)
        assert command is not None
        own = [
            each.opts[0].removeprefix("--")
            for each in command.params
            if isinstance(each, click.Option) and not isinstance(each, SharedOption)
        ]
        assert own == options.split(), path


@pytest.mark.parametrize(
    ("dialect", "line", "words"),
    [(dialect, line, words) for dialects, line, words in REFUSED for dialect in dialects],
)
def test_what_a_draft_cannot_say_or_ignores_is_refused(dialect: str, line: str, words: str) -> None:
    """a42, b177: at once, as nobody listens at that address."""
    arguments = f"{line} --dialect {dialect} -b localhost:1"
    if "topics alter" in line or "delete" in line or "elect" in line:
        arguments += " --yes"
    assert words in ended(run_kap(arguments), 2).stderr


def test_a_dry_run_says_that_nothing_is_checked() -> None:
    arguments = "topics alter t --partitions 2 --dry-run --dialect kip-4b -b localhost:1"
    assert "the cluster checked none of it" in ended(run_kap(arguments)).stderr


def test_what_the_plan_ignores_is_said_where_it_runs() -> None:
    """The first reading, by Kafka's own requests."""
    with SyncCluster(3, sync_delay_s=0.01) as cluster:
        run(cluster, "topics create t --replica-assignment 1:2")
        done = run(cluster, "topics alter t --replica-assignment 3:1 --partitions 9 --yes")
        assert (done.exit_code, "partitions 9 is ignored" in done.stderr) == (0, True)


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
    assert "TopicAlreadyExists" in ended(run(second, create), 1).stderr
    assert run(second, f"{create} --if-not-exists").exit_code == 0


def test_secrets_of_a_plan_are_masked() -> None:
    step = AlterTopicStep(configs={"ssl.key.password": "hunter2", "segment.ms": "5"})
    (item,) = planned_items([TopicPlan("t", steps=[step])])
    assert item["steps"][0]["configs"] == {"ssl.key.password": MASK, "segment.ms": "5"}


def test_a_cluster_without_the_draft() -> None:
    with SyncCluster(1) as cluster:
        for command in ("topics describe", "request TopicMetadata --yes"):
            found = ended(run(cluster, f"{command} --dialect kip-4a"), 1)
            assert "kap serve --rules kip-4a" in found.stdout + found.stderr
