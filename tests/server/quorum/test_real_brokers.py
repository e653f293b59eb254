"""A real broker under this controller: it registers, follows, serves, is lost and comes back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.brokers.view import BROKER_RESOURCE
from kafka_admin_proto.topic_ids import topic_id_to_text
from tests.admin.live.helpers.controllers import wait_until
from tests.helpers.kap import ended, run_kap
from tests.helpers.requirements import require_oracle
from tests.scheduling.group_order import LIVE
from tests.server.releases import real_releases
from tools.clusters import Cluster, brokers_alone
from tools.kafka_releases import NEWEST

pytestmark = pytest.mark.exhaustive
_S = 30.0


class _Under(NamedTuple):
    """A controller of this package, and a real broker."""

    controller: SyncCluster
    broker: Cluster


@pytest.fixture(scope="module", params=real_releases("own controller"))
def under(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[_Under]:
    require_oracle()
    release = str(request.param)
    minor = release.rpartition(".")[0]
    with contextlib.ExitStack() as stack:
        controller = stack.enter_context(SyncCluster(0, release=minor))
        broker = stack.enter_context(
            brokers_alone(
                tmp_path_factory.mktemp("broker"),
                controller.quorum_voters or "",
                controller.state.cluster_id,
                release,
            )
        )
        yield _Under(controller, broker)


def test_it_registers_and_follows_the_log(under: _Under) -> None:
    controller = under.controller
    assert controller.broker_states == {1: "running"}
    with SyncAdminClient(bootstrap_controllers=controller.bootstrap_servers) as admin:
        quorum = admin.describe_quorum()
    assert [each.id for each in quorum.voters] == [3000]
    assert [each.id for each in quorum.observers] == [1]
    (directory,) = controller.state.cluster.brokers[1].directories
    assert quorum.observers[0].directory_id == topic_id_to_text(directory)


def test_topics_and_configs(under: _Under) -> None:
    """The topic comes by the broker, which forwards the request, its config by the controller."""
    controller, bootstrap = under.controller, under.broker.bootstrap
    _create(bootstrap, "forwarded", 2)
    asked = controller.requests.of("CreateTopics")[-1]
    assert (asked.client_id, asked.principal) == ("kap", "User:ANONYMOUS")
    start = ["--bootstrap-controller", controller.bootstrap_servers]
    _kap("configs", "set", *start, "--topic", "forwarded", "retention.ms=4711")
    describe = ["configs", "get", "--bootstrap-server", bootstrap, "--topic", "forwarded"]
    wait_until(lambda: "4711" in _kap(*describe, "--key", "retention.ms"), "the config is there")
    _kap(
        "configs", "set", "--bootstrap-server", bootstrap, "--broker", "1", "log.cleaner.threads=2"
    )
    assert controller.state.configs(BROKER_RESOURCE, "1") == {"log.cleaner.threads": "2"}
    _produce(bootstrap, "forwarded")
    assert len(_consumed(bootstrap, "forwarded")) == 20


def test_a_transaction_takes_its_ids_from_the_controller(under: _Under) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    _create(under.broker.bootstrap, "transactional")
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": under.broker.bootstrap, "transactional.id": "t"}
    )
    producer.init_transactions(_S)
    producer.begin_transaction()
    producer.produce("transactional", value="in a transaction")
    producer.commit_transaction(_S)
    assert _consumed(under.broker.bootstrap, "transactional") == ["in a transaction"]
    assert under.controller.state.cluster.next_producer_id in (1000, 2000, 3000)


def test_a_fault_is_that_of_the_forwarded_request(under: _Under) -> None:
    controller = under.controller
    controller.faults.add_text("api=CreateTopics error=POLICY_VIOLATION message=no count=1")
    run = ["topics", "create", "--bootstrap-server", under.broker.bootstrap, "refused"]
    result = run_kap(*run)
    assert result.exit_code != 0
    assert "POLICY_VIOLATION" in result.output
    assert "refused" not in controller.state.topic_names


@pytest.mark.parametrize("how", ["lost", pytest.param("ended", marks=pytest.mark.explore)])
def test_it_goes_and_comes_back(under: _Under, how: str) -> None:
    """The controller misses one that is killed when its session is over, and registers it then."""
    controller, broker = under.controller, under.broker
    _create(broker.bootstrap, how)
    _produce(broker.bootstrap, how)
    epoch = controller.state.cluster.brokers[1].epoch
    if how == "lost":
        broker.crash(1)
    else:
        broker.end(1)
    assert controller.broker_states == {1: "running" if how == "lost" else "fenced"}
    controller.clock.advance(9)
    assert controller.broker_states == {1: "fenced"}
    assert _leader(controller, how) == -1
    broker.start_again(1)
    assert controller.broker_states == {1: "running"}
    assert controller.state.cluster.brokers[1].epoch > epoch
    assert _leader(controller, how) == 1
    assert len(_consumed(broker.bootstrap, how)) == 20


@pytest.mark.explore
@pytest.mark.xdist_group(f"{LIVE}own controller {NEWEST}")
def test_leaders_say_who_is_in_sync(tmp_path: Path) -> None:
    """Of two brokers one is lost while a client writes: nothing that it was promised is lost."""
    require_oracle()
    with contextlib.ExitStack() as stack:
        controller = stack.enter_context(
            SyncCluster(0, configs={"broker.session.timeout.ms": "3000"})
        )
        brokers = stack.enter_context(
            brokers_alone(
                tmp_path,
                controller.quorum_voters or "",
                controller.state.cluster_id,
                nodes=2,
                properties={"broker.heartbeat.interval.ms": "500"},
            )
        )

        def replicas() -> list[tuple[int, list[int]]]:
            topic = controller.state.topic("both")
            assert topic is not None
            return [(each.leader, each.isr) for each in topic.partitions.values()]

        bootstrap = brokers.bootstrap
        _create(bootstrap, "both", 2, 2)
        _produce(bootstrap, "both")
        assert {leader for leader, _ in replicas()} == {1, 2}
        brokers.crash(2)
        controller.wait_for(lambda: replicas() == [(1, [1]), (1, [1])], timeout=_S)
        _produce(bootstrap, "both")
        brokers.start_again(2)
        controller.wait_for(lambda: all(isr == [1, 2] for _, isr in replicas()), timeout=_S)
        assert controller.requests.of("AlterPartition")
        brokers.end(1)
        assert [leader for leader, _ in replicas()] == [2, 2]
        assert len(_consumed(bootstrap, "both")) == 40


def _kap(*arguments: str) -> str:
    return ended(run_kap(*arguments)).output


def _create(bootstrap: str, topic: str, partitions: int = 1, replicas: int = 1) -> None:
    """Create a topic, and wait until the broker serves it."""
    run = ["topics", "create", "--bootstrap-server", bootstrap]
    numbers = ["--partitions", str(partitions), "--replication-factor", str(replicas)]
    _kap(*run, *numbers, topic)


def _leader(controller: SyncCluster, topic: str) -> int:
    found = controller.state.topic(topic)
    assert found is not None
    return found.partitions[0].leader


def _produce(bootstrap: str, *topics: str) -> None:
    """Twenty records for each topic, by a real client."""
    import confluent_kafka

    producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap, "acks": "all"})
    for topic in topics:
        for number in range(20):
            producer.produce(topic, value=f"{topic} {number}")
    assert producer.flush(_S) == 0


def _consumed(bootstrap: str, *topics: str) -> list[str]:
    """All records of topics, as a member of a group of a real client reads them."""
    import confluent_kafka

    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "-".join(topics),
         "auto.offset.reset": "earliest", "enable.auto.commit": False,
         "enable.partition.eof": True}
    )  # fmt: skip
    found = consumer.list_topics(timeout=_S).topics
    left = {(each, number) for each in topics for number in found[each].partitions}
    consumer.subscribe(list(topics))
    values = []
    try:
        while left:
            message = consumer.poll(_S)
            assert message is not None
            value, error = message.value(), message.error()
            if error is None and value is not None:
                values.append(value.decode())
            else:
                assert error is not None
                assert error.code() == confluent_kafka.KafkaError._PARTITION_EOF
                left.discard((message.topic(), message.partition()))
    finally:
        consumer.close()
    return values
