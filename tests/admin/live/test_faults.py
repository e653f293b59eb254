"""Brokers that end, controllers that move and answers that are lost, while a client works."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

import pytest

from kafka_admin_proto import CreateTopicsRequest, DeleteTopicsRequest
from kafka_admin_proto.admin import AdminClient
from kafka_admin_proto.admin.errors import ConnectionFailedError, ConnectionLostError
from kafka_admin_proto.admin.operations.topics.creation import NewTopic
from tests.admin.leaks import no_sockets_left, run_without_leaks, run_without_tasks_left
from tests.admin.live.helpers.controllers import (
    active_controller,
    live_brokers,
    node_ended,
    wait_until,
)
from tests.admin.live.helpers.each_broker import until
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.admin.live.helpers.proxy import Proxy
from tests.admin.live.helpers.secured import Secured
from tests.admin.live.test_kap import run as kap
from tests.helpers.processes import python
from tools.clusters import HOST, Cluster

#: Seconds that each operation may take: more than any broker's session lasts.
_TIMEOUT_S = 40.0
#: The answers to what has been done already.
_REPEATED = ("TOPIC_ALREADY_EXISTS", "UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID")
Names = Callable[[str], str]


async def work(
    admin: AdminClient, unique: Names, over: asyncio.Event, repeated: tuple[str | None, ...]
) -> list[str]:
    """Create, describe and delete one topic after the other, and once more when it is over.

    The names of the topics; AssertionError for any result that is not the right one. Results that
    have one of the errors ``repeated`` are right as well.
    """
    done = []
    ending = False
    while not ending:
        ending = over.is_set()
        name = unique("worked-on")
        (created,) = await admin.create_topics([NewTopic(name, 3, 2)], timeout=_TIMEOUT_S)
        assert created.error in repeated or created.complete, created

        async def is_described(name: str = name) -> bool:
            """A broker that has just come back may have heard of the topic a moment later."""
            (described,) = await admin.describe_topics([name])
            return [len(each.replicas) for each in described.partitions] == [2, 2, 2]

        await until(is_described, f"topic {name} is described")
        (deleted,) = await admin.delete_topics([name], timeout=_TIMEOUT_S)
        assert deleted.error in repeated or deleted.complete, deleted
        done.append(name)
    return done


async def while_working(
    cluster: Cluster,
    unique: Names,
    disturb: Callable[[], None],
    *,
    repeated: tuple[str | None, ...] = (),
) -> list[str]:
    """Let a client work while ``disturb`` runs in a thread."""
    async with AdminClient(cluster.bootstrap, timeout=_TIMEOUT_S) as admin:
        over = asyncio.Event()
        working = asyncio.create_task(work(admin, unique, over, repeated))
        try:
            await asyncio.to_thread(disturb)
        finally:
            over.set()
            done = await working
    return done


def topics_of(cluster: Cluster, tools: KafkaTools) -> set[str]:
    return set(tools.run("TopicCommand", "--bootstrap-server", cluster.bootstrap, "--list").split())


def create_by_command(cluster: Cluster, name: str) -> tuple[int, list[bool]]:
    """The exit code of ``kap topics create`` and whether its topics are complete."""
    where = ["--bootstrap-server", cluster.bootstrap, "--output", "json"]
    counts = ["--partitions", "2", "--replication-factor", "2", "--timeout", str(_TIMEOUT_S)]
    run = python(
        "-m", "kafka_admin_proto", "topics", "create", name, *counts, *where, timeout=2 * _TIMEOUT_S
    )
    assert run.returncode < 2, run.stderr
    return run.returncode, [topic["complete"] for topic in json.loads(run.stdout)["topics"]]


def test_a_broker_is_restarted(cluster: Cluster, kafka_tools: KafkaTools, unique: Names) -> None:
    """A broker ends as operators let it end, and comes back; it is not the controller.

    Meanwhile ``kap ping`` names it. A KRaft cluster still knows it; with ZooKeeper, the answer is
    about the others alone.
    """
    controller = active_controller(cluster)
    other = next(node_id for node_id in cluster.nodes if node_id != controller)
    assert [each["error"] for each in kap(cluster, "ping")["brokers"]] == [None] * 3

    def restart() -> None:
        with node_ended(cluster, other):
            wait_until(lambda: other not in live_brokers(cluster), "the broker is not live")
            found = kap(cluster, "ping --timeout 20", None)
        there = {each["broker"]: each["error"] for each in found["brokers"]}
        if found["brokers"][0]["fenced"] is None:
            assert there == dict.fromkeys(set(cluster.nodes) - {other})
        else:
            assert there.pop(other) == "Fenced"
            assert set(there.values()) == {None}
            assert [each["broker"] for each in found["errors"]] == [other]

    done = run_without_leaks(while_working(cluster, unique, restart))
    assert len(done) > 1
    assert not set(done) & topics_of(cluster, kafka_tools)


@pytest.mark.exhaustive
def test_the_controller_crashes(cluster: Cluster, kafka_tools: KafkaTools, unique: Names) -> None:
    """The controller's node is killed: the next one does the work, within the same calls."""
    old = active_controller(cluster)

    def crash() -> None:
        with node_ended(cluster, old, crash=True):
            command = create_by_command(cluster, unique("commanded"))
            assert active_controller(cluster) != old
            assert command == (0, [True])

    # Brokers of a KRaft cluster repeat what they pass on when the controller ends in the middle.
    repeated = () if cluster.others else _REPEATED
    done = run_without_leaks(while_working(cluster, unique, crash, repeated=repeated))
    assert done
    assert not set(done) & topics_of(cluster, kafka_tools)


@pytest.fixture
def throttled(kraft_cluster: Cluster, kafka_tools: KafkaTools) -> str:
    """A client id that may change two partitions a second, after 22 at once."""
    name = "throttled"
    quota = ("--entity-type", "clients", "--entity-name", name)
    kafka_tools.run(
        "ConfigCommand", "--bootstrap-server", kraft_cluster.bootstrap, "--alter", *quota,
        "--add-config", "controller_mutation_rate=2",
    )  # fmt: skip
    return name


def test_a_quota_is_waited_out(kraft_cluster: Cluster, throttled: str, unique: Names) -> None:
    """THROTTLING_QUOTA_EXCEEDED is no result as long as there is time."""

    async def create(timeout: float) -> list[tuple[str | None, bool | None]]:
        topics = [NewTopic(unique("throttled"), 12, 1) for _ in range(3)]
        async with AdminClient(kraft_cluster.bootstrap, client_id=throttled) as admin:
            created = await admin.create_topics(topics, timeout=timeout)
        return [(each.error, each.complete) for each in created]

    start = time.monotonic()
    # Each topic of 12 takes six seconds' worth: the quota is exceeded for longer than two.
    assert run_without_leaks(create(_TIMEOUT_S)) == [(None, True)] * 3
    assert time.monotonic() - start > 0.5
    found = run_without_leaks(create(2))
    assert ("THROTTLING_QUOTA_EXCEEDED", None) in found, found


def test_a_lost_answer_to_create_topics(secured: Secured, unique: Names) -> None:
    """The second attempt finds the topic that the first has made, and says so."""
    name = unique("lost")

    async def create() -> None:
        async with AdminClient(f"{HOST}:{secured.proxy_port}", timeout=_TIMEOUT_S) as admin:
            proxy.lose_answers(CreateTopicsRequest.api_key or 0)
            (created,) = await admin.create_topics([NewTopic(name, 2, 1)])
            assert created.repeated, created
            assert (created.error, created.complete) == (None, True), created
            assert "answer" in (created.message or ""), created
            (again,) = await admin.create_topics([NewTopic(name, 2, 1)])
            assert (again.error, again.repeated) == ("TOPIC_ALREADY_EXISTS", False)

    with no_sockets_left(), Proxy(secured.proxy_port, secured.address("PROXIED")) as proxy:
        run_without_tasks_left(create())
        assert proxy.lost == {CreateTopicsRequest.api_key: 1}
        assert proxy.passed[CreateTopicsRequest.api_key or 0] == 3


def test_a_lost_answer_to_delete_topics(
    secured: Secured, kafka_tools: KafkaTools, unique: Names
) -> None:
    name = unique("lost")

    async def delete() -> None:
        async with AdminClient(f"{HOST}:{secured.proxy_port}", timeout=_TIMEOUT_S) as admin:
            await admin.create_topics([NewTopic(name, 2, 1)])
            proxy.lose_answers(DeleteTopicsRequest.api_key or 0)
            (deleted,) = await admin.delete_topics([name])
            assert deleted.repeated, deleted
            assert (deleted.error, deleted.complete) == (None, True), deleted
            (again,) = await admin.delete_topics([name])
            assert (again.error, again.repeated) == ("UNKNOWN_TOPIC_OR_PARTITION", False)

    with no_sockets_left(), Proxy(secured.proxy_port, secured.address("PROXIED")) as proxy:
        run_without_tasks_left(delete())
        assert proxy.lost == {DeleteTopicsRequest.api_key: 1}
    assert name not in topics_of(secured.cluster, kafka_tools)


def test_a_request_that_must_not_be_sent_twice(secured: Secured, unique: Names) -> None:
    """``send`` does not know what a request does: a lost answer is an error that says so."""
    name = unique("lost")
    topic = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1)

    async def send() -> None:
        async with AdminClient(f"{HOST}:{secured.proxy_port}", timeout=_TIMEOUT_S) as admin:
            proxy.lose_answers(CreateTopicsRequest.api_key or 0)
            await admin.send(CreateTopicsRequest(topics=[topic], timeout_ms=10_000))

    with no_sockets_left(), Proxy(secured.proxy_port, secured.address("PROXIED")) as proxy:
        with pytest.raises(ConnectionLostError) as raised:
            run_without_tasks_left(send())
        assert raised.value.may_have_acted
        assert proxy.passed[CreateTopicsRequest.api_key or 0] == 1


def test_a_bootstrap_server_that_is_down(cluster: Cluster) -> None:
    """The next one serves; where none does, the error names each."""
    dead = f"{HOST}:1"

    async def live(bootstrap: str) -> int:
        async with AdminClient(bootstrap, timeout=_TIMEOUT_S) as admin:
            return len(await admin.brokers())

    assert run_without_leaks(live(f"{dead},{cluster.bootstrap}")) == 3
    start = time.monotonic()
    with pytest.raises(ConnectionFailedError, match=f"{dead}.*refused"):
        run_without_leaks(live(f"{dead},{HOST}:2"))
    assert time.monotonic() - start < 5
