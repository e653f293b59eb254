"""The client of a draft: its messages, its errors, and the check that a request is done."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest

from kafka_admin_proto.admin import AdminClient
from kafka_admin_proto.admin.alter import AlterPlan, TopicAlteration, TopicPlan, render_plan
from kafka_admin_proto.admin.drafts.altering import alter_topic_step
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.network.tracing import TraceEvent
from kafka_admin_proto.admin.operations.common.waiting import Missing
from kafka_admin_proto.admin.operations.topics.creation import NewTopic
from kafka_admin_proto.admin.sync import SyncAdminClient
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server import Cluster, SyncCluster
from tests.admin.draft_commands import COMMANDS, METHODS
from tests.helpers.mistyped import mistyped

#: Seconds for what is done at once, and for what is never done.
_ENOUGH_S, _SHORT_S = 20.0, 0.3

Draft = Literal["kip-4a", "kip-4b"]


Ask = Callable[[AdminClient], Awaitable[object]]

#: Command → how it is given to a client; the topic t has one partition.
COMMAND_CALLS: dict[str, Ask] = {
    "create-topic": lambda admin: admin.create_topics([NewTopic("u", 1, 1)]),
    "alter-topic": lambda admin: admin.alter_topics([TopicAlteration("t", 2)]),
    "delete-topic": lambda admin: admin.delete_topics(["t"]),
    "describe-topic": lambda admin: admin.describe_topics(["t"]),
    "list-topics": lambda admin: admin.list_topics(),
    "reassign-partitions": lambda admin: admin.alter_partition_reassignments({("t", 0): [1]}),
    "preferred-replica-leader-election": lambda admin: admin.elect_leaders([("t", 0)]),
}


@asynccontextmanager
async def draft(dialect: Draft, brokers: int = 3) -> AsyncIterator[tuple[Cluster, AdminClient]]:
    """A cluster of a draft whose replicas are in sync at once, and a client that speaks it."""
    cluster = Cluster(brokers, rules=dialect, sync_delay_s=0.01)
    async with cluster, AdminClient(cluster.bootstrap_servers, dialect=dialect) as admin:
        yield cluster, admin


async def replicas_in_sync(cluster: Cluster) -> None:
    """Wait until replicas are in sync and no election runs."""
    while cluster.state.out_of_sync or cluster.state.elections:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("dialect", "command"), [(name, each) for name, table in COMMANDS.items() for each in table]
)
async def test_each_command_is_sent_as_its_message(dialect: Draft, command: str) -> None:
    """b57–b63, b80–b87: the text's table is the dispatch table."""
    seen: list[TraceEvent] = []
    cluster = Cluster(1, rules=dialect, sync_delay_s=0.01)
    async with cluster, AdminClient(cluster.bootstrap_servers) as shipped:
        await shipped.create_topics([NewTopic("t", 1, 1)])
        servers = cluster.bootstrap_servers
        async with AdminClient(servers, dialect=dialect, trace=seen.append) as admin:
            assert hasattr(admin, METHODS[command])
            await COMMAND_CALLS[command](admin)
    wanted, _, version = COMMANDS[dialect][command].partition("_V")
    sent = [each.message for each in seen if each.kind == "request" and each.message is not None]
    of_draft = {each.message_name for each in sent if each.dialect != "kafka"}
    if command == "list-topics" and not version:  # the first version, which Kafka shipped
        lists = [each.version for each in seen if each.api == "Metadata"]
        assert (of_draft, 0 in lists) == (set(), True)
        return
    assert wanted in of_draft
    assert of_draft - {wanted} <= {"TopicMetadataRequest"}  # which looks whether it is done
    assert str(catalog().entry(wanted, dialect).versions) == (version or "0")


def test_every_message_has_a_command() -> None:
    """b53, b76: messages are orthogonal to each other; each is some command's."""
    for dialect, table in COMMANDS.items():
        requests = {each for each in catalog().names(dialect) if each.endswith("Request")}
        assert {each.partition("_V")[0] for each in table.values()} == requests
    assert COMMANDS["kip-4b"].keys() == METHODS.keys() == COMMAND_CALLS.keys()


async def test_done_is_when_every_broker_has_it() -> None:
    """b68, a105: a broker that lags behind is asked until it has what was asked for."""
    async with draft("kip-4b") as (cluster, admin):
        cluster.delay_metadata(math.inf, 2)
        (made,) = await admin.create_topics([NewTopic("t", 2, 2)], timeout=_SHORT_S)
        assert (made.error, made.complete) == (None, False)
        assert made.missing == [Missing("t", "topic 't' is unknown", broker=2)]
        cluster.delay_metadata(0, 2)
        (altered,) = await admin.alter_topics([TopicAlteration("t", 3)], timeout=_ENOUGH_S)
        assert (altered.error, altered.complete, altered.done) == (None, True, 1)
        cluster.delay_metadata(math.inf, 3)
        (gone,) = await admin.delete_topics(["t"], timeout=_SHORT_S)
        assert gone.missing == [Missing("t", "topic 't' is still known", broker=3)]


@pytest.mark.parametrize("dialect", ["kip-4a", "kip-4b"])
async def test_alterations_are_waited_for(dialect: Draft) -> None:
    """a37, b68: partitions, replicas and configs, as each draft has them."""
    async with draft(dialect) as (cluster, admin):
        await admin.create_topics([NewTopic("t", assignment={0: [1, 2], 1: [2, 3]})])
        wanted = [TopicAlteration("t", partitions=3), TopicAlteration("t", replication_factor=3)]
        if dialect == "kip-4a":
            wanted.append(TopicAlteration("t", assignment={0: [3], 3: [1, 2]}))
        else:
            wanted.append(TopicAlteration("t", partitions=4, assignment={3: [2, 1, 3]}))
            wanted.append(TopicAlteration("t", configs={"segment.ms": "5"}))
            wanted.append(TopicAlteration("t", delete_configs=["segment.ms"]))
        for each in wanted:
            (found,) = await admin.alter_topics([each], timeout=_ENOUGH_S)
            assert (found.error, found.complete) == (None, True), each
            if dialect == "kip-4a":  # its message does not tell which replicas are in sync
                await replicas_in_sync(cluster)
        (topic,) = await admin.describe_topics(["t"], configs=True, lag=True)
        assert len(topic.partitions) == 4
        if dialect == "kip-4a":
            assert topic.partitions[0].replicas == [3]
            assert (topic.configs, topic.partitions[0].lag) == (None, None)
        else:
            assert topic.partitions[3].replicas == [2, 1, 3]
            assert topic.configs is not None
            assert "segment.ms" not in topic.configs
            assert [each.lag for each in topic.partitions[0].lag or ()] == [0, 0, 0]


async def test_an_assignment_alone_is_not_taken_into_account() -> None:
    """b63, b177: the table has it reassign partitions, the semantics have it do nothing."""
    async with draft("kip-4b") as (_, admin):
        await admin.create_topics([NewTopic("t", assignment={0: [1, 2]})])
        (result,) = await admin.alter_partition_reassignments({("t", 0): [3, 1]})
        assert (result.error, "into account" in (result.message or "")) == (None, True)
        wanted = TopicAlteration("t", assignment={0: [3, 1]})
        with pytest.raises(InstructionError, match="into account"):
            await admin.alter_topics([wanted])
        plan = AlterPlan("second", [TopicPlan("t", [alter_topic_step(wanted)])])
        (altered,) = await admin.run_alter_plan(plan, timeout=_SHORT_S)
        assert (altered.error, altered.complete) == (None, False)
        (topic,) = await admin.describe_topics(["t"])
        assert topic.partitions[0].replicas == [1, 2]


async def test_partitions_are_reassigned() -> None:
    """a46: the topic commands' AlterTopic moves them."""
    async with draft("kip-4a") as (_, admin):
        await admin.create_topics([NewTopic("t", assignment={0: [1, 2], 1: [2, 3]})])
        results = await admin.alter_partition_reassignments(
            {("t", 0): [3, 1], ("t", 1): [1], ("x", 0): [1]}
        )
        assert [each.error for each in results] == [None, None, "UNKNOWN_TOPIC_OR_PARTITION"]
        wanted = TopicAlteration("t", assignment={0: [3, 1], 1: [1]})
        (found,) = await admin.alter_topics([wanted], timeout=_ENOUGH_S)
        assert found.complete


async def test_elections_are_waited_for() -> None:
    """b290: until the head of the replicas leads, on every broker."""
    async with draft("kip-4b") as (cluster, admin):
        await admin.create_topics([NewTopic(name, assignment={0: [1, 2]}) for name in "tu"])
        assert await admin.elect_leaders(timeout=_ENOUGH_S) == []  # all lead that should
        await cluster.stop_broker(1)
        await cluster.start_broker(1)
        await replicas_in_sync(cluster)
        found = await admin.elect_leaders(timeout=_ENOUGH_S)
        assert {(each.topic, each.elected, each.complete) for each in found} == {
            ("t", True, True),
            ("u", True, True),
        }
        await replicas_in_sync(cluster)
        (one,) = await admin.elect_leaders([("t", 0)], timeout=_ENOUGH_S)
        assert (one.elected, one.complete, one.error) == (False, True, None)
        await replicas_in_sync(cluster)
        (wrong,) = await admin.elect_leaders([("x", 0)])
        assert wrong.error == "UNKNOWN_TOPIC_OR_PARTITION"


async def test_errors_have_names_and_sentences() -> None:
    """b49, b125: the client has enough context to provide a descriptive message."""
    async with draft("kip-4b") as (_, admin):
        await admin.create_topics([NewTopic("t", 2, 2)])
        found: list[Any] = [
            *await admin.create_topics([NewTopic("t", 1, 1), NewTopic("a b", 1, 1)]),
            *await admin.create_topics([NewTopic("x"), NewTopic("y", 1)]),
            *await admin.alter_topics([TopicAlteration("t", 2), TopicAlteration("x", 3)]),
            *await admin.alter_topics([TopicAlteration("t", 3, 3)]),
            *await admin.delete_topics(["x"]),
            *await admin.describe_topics(["x"]),
        ]
        assert [each.error for each in found] == [
            "TopicAlreadyExists",
            "InvalidArgumentTopicName",
            "InvalidArgumentPartitions",
            "InvalidArgumentReplicationFactor",
            "DecreasePartitionsNotAllowed",
            *["UNKNOWN_TOPIC_OR_PARTITION"],
            "MultipleInstructionsForOneTopic",
            *["UNKNOWN_TOPIC_OR_PARTITION"] * 2,
        ]
        assert all(each.message for each in found)
        assert (await admin.delete_topics(["x"], if_exists=True))[0].error is None


async def test_topics_are_listed_and_described() -> None:
    """a106, b62, b215: all of them, by name, or none where none is named."""
    async with draft("kip-4b", 1) as (_, admin):
        names = ["a", "b", "__consumer_offsets"]
        await admin.create_topics([NewTopic(name, 2, 1) for name in names])
        assert [each.name for each in await admin.list_topics()] == sorted(names)
        found = await admin.list_topics(pattern=".*", include_internal=False)
        assert [(each.name, each.partitions) for each in found] == [("a", 2), ("b", 2)]
        described = await admin.describe_topics(pattern="a|x")
        assert [(each.name, each.configs) for each in described] == [("a", None)]
        assert [each.name for each in await admin.describe_topics(["b"])] == ["b"]
        assert await admin.describe_topics([]) == []


async def test_a_plan_is_the_instruction() -> None:
    async with draft("kip-4b", 1) as (_, admin):
        wanted = TopicAlteration(
            "t", 3, assignment={2: [1]}, configs={"ssl.key.password": "hunter2"},
            delete_configs=["segment.ms"],
        )  # fmt: skip
        plan = await admin.plan_alter_topics([wanted])
        shown = render_plan(plan)
        assert "send AlterTopic: partitions 3, replicas of partition 2 [1], config" in shown
        assert "hunter2" not in shown + repr(plan)
        (result,) = await admin.run_alter_plan(plan, validate_only=True)
        assert (result.error, result.done) == (None, 0)


@pytest.mark.parametrize("dialect", ["kip-4a", "kip-4b"])
async def test_what_a_draft_cannot_say_is_not_sent(dialect: Draft) -> None:
    cluster = Cluster(1, rules=dialect)
    async with cluster, AdminClient(cluster.bootstrap_servers, dialect=dialect) as admin:
        wrong: list[Ask] = [
            lambda admin: admin.delete_topics(topic_ids=["sqF6wKA7SxKtA_EiRnSdgQ"]),
            lambda admin: admin.describe_topics([], authorized_operations=True),
            lambda admin: admin.alter_partition_reassignments({("t", 0): None}),
            lambda admin: admin.alter_topics([TopicAlteration("t", 2)], seed=1),
            lambda admin: admin.alter_topics(
                [TopicAlteration("t", 2)], reading="second" if dialect == "kip-4a" else "first"
            ),
        ]
        if dialect == "kip-4a":
            wrong.append(
                lambda admin: admin.alter_topics([TopicAlteration("t", configs={"a": "1"})])
            )
            both = TopicAlteration("t", 2, assignment={0: [1]})
            wrong.append(lambda admin: admin.alter_topics([both]))
        else:
            wrong += [
                lambda admin: admin.create_topics([NewTopic("t", 1, 1)], validate_only=True),
                lambda admin: admin.elect_leaders([("t", 0)], election="unclean"),
            ]
        for each in wrong:
            with pytest.raises(InstructionError, match=r"kip-4|draft"):
                await each(admin)


@pytest.mark.parametrize("rules", ["shipped", "kip-4a"])
async def test_a_cluster_that_does_not_serve_the_draft(rules: str) -> None:
    """TopicMetadata v1 would be taken for its own Metadata v1."""
    cluster = Cluster(1, rules=mistyped(rules))
    async with cluster, AdminClient(cluster.bootstrap_servers, dialect="kip-4b") as admin:
        for ask in COMMANDS["kip-4b"]:
            with pytest.raises(UnsupportedVersionError, match="kap serve --rules kip-4b"):
                await COMMAND_CALLS[ask](admin)


def test_no_such_draft() -> None:
    with pytest.raises(ValueError, match="it is 'kafka', 'kip-4a', 'kip-4b'"):
        AdminClient("localhost:9092", dialect=mistyped("kip-5"))


def test_without_asyncio() -> None:
    cluster = SyncCluster(1, rules="kip-4a")
    with cluster, SyncAdminClient(cluster.bootstrap_servers, dialect="kip-4a") as admin:
        assert admin.create_topics([NewTopic("t", 1, 1)])[0].error is None
        assert admin.alter_topics([TopicAlteration("t", 2)], timeout=_ENOUGH_S)[0].complete
        assert [each.partitions for each in admin.list_topics()] == [2]


async def test_any_message_of_a_draft_can_be_sent() -> None:
    from kafka_admin_proto.messages import kip_4b

    async with draft("kip-4b", 1) as (_, admin):
        answer = await admin.send(kip_4b.TopicMetadataRequest([]))
        assert isinstance(answer, kip_4b.TopicMetadataResponse)
        assert len(answer.broker) == 1
