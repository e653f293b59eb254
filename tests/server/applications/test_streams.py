"""Kafka Streams counts words exactly once, over its own end and that of brokers."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.helpers.profile import SEED
from tests.server.applications.application import Application, Start
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_application, fetch_runtime
from tools.oracles.java import compiled

pytestmark = [pytest.mark.explore, pytest.mark.xdist_group("applications")]

_SOURCE = Path(__file__).parents[2] / "java" / "WordCounts.java"
_TOPICS = {each: {"partitions": 2, "replication_factor": 3} for each in ("lines", "counts")}
_CONFIGS = {
    "default.replication.factor": 3,
    "group.initial.rebalance.delay.ms": 0,
    "broker.session.timeout.ms": 2000,
}
#: Transactions that are open for a while, and records between both parts that are deleted often.
_SETTINGS = {
    "commit.interval.ms": "1000",
    "num.stream.threads": "2",
    "repartition.purge.interval.ms": "200",
}
_SUPPLIERS = "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$"
#: Longer than the sessions and transactions of a member that was killed.
_SESSION_S = 60
_PATIENCE_S = 30


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(3, topics=_TOPICS, configs=_CONFIGS) as found:
        yield found


def _started(start: Start, folder: Path, servers: str, **settings: str) -> Application:
    jars = fetch_application("streams")
    given = {
        "bootstrap.servers": servers,
        "state.dir": str(folder / "state"),
        **_SETTINGS,
        **settings,
    }
    words = [f"{name}={value}" for name, value in given.items()]
    classes = compiled(_SOURCE, jars)
    return start(folder, [*jars, classes], ["WordCounts", *words])


def _lines() -> list[str]:
    drawn = random.Random(SEED)
    return [" ".join(drawn.choices(("ant", "bee", "cat", "dog", "elk"), k=4)) for _ in range(100)]


def _count(servers: str, isolation: str = "read_committed") -> int:
    return sum(map(len, _updates(servers, isolation).values()))


def _updates(servers: str, isolation: str = "read_committed") -> Mapping[str, list[int]]:
    """What a consumer reads of "counts" up to its end: by word the counts, in order."""
    kafka = pytest.importorskip("confluent_kafka")
    settings: dict[str, Any] = {
        "bootstrap.servers": servers, "group.id": "reader", "enable.auto.commit": False,
        "isolation.level": isolation, "enable.partition.eof": True, "log_level": 0,
    }  # fmt: skip
    consumer = kafka.Consumer(settings)
    consumer.assign([kafka.TopicPartition("counts", each, 0) for each in (0, 1)])
    found: dict[str, list[int]] = defaultdict(list)
    ended: set[int] = set()
    while len(ended) < 2:
        record = consumer.poll(_PATIENCE_S)
        assert record is not None, "no end of the partitions"
        if record.error() is None:
            found[record.key().decode()].append(int(record.value()))
        elif record.error().code() == kafka.KafkaError._PARTITION_EOF:
            ended.add(record.partition())
    consumer.close()
    return found


@pytest.mark.parametrize("store", ["RocksDBDslStoreSuppliers", "InMemoryDslStoreSuppliers"])
def test_each_word_is_counted_once(
    tmp_path: Path, start: Start, cluster: SyncCluster, store: str
) -> None:
    servers = cluster.bootstrap_servers
    given: Counter[str] = Counter()

    def produce() -> None:
        lines = _lines()
        cluster.produce("lines", lines)
        given.update(word for line in lines for word in line.split())

    def read() -> int:
        committed = cluster.group("word-counts").committed
        return sum(offset for (topic, _), offset in committed.items() if topic == "lines")

    def amid_transactions(end: Callable[[], None]) -> None:
        """Let something end while transactions of both parts of the application are open.

        The first part writes words and the second, when these are committed, counts.
        """
        before = read()
        produce()
        words.wait_for(lambda: read() > before)
        with cluster.faults.add(api="EndTxn", cut="before") as fault:
            produce()
            words.wait_for(lambda: fault.fired > 0)
            end()
        words.wait_for(lambda: _count(servers) == given.total())

    def killed() -> None:
        words.kill()
        cluster.clock.advance(_SESSION_S)
        words.start_again()

    settings = {"dsl.store.suppliers.class": _SUPPLIERS + store}
    words = _started(start, tmp_path, servers, **settings)
    produce()
    words.wait_for(lambda: _count(servers) == given.total())
    for _ in range(3):
        amid_transactions(killed)
    assert _count(servers, "read_uncommitted") > given.total(), "no transaction was aborted"
    for ended in (cluster.stop_broker, cluster.kill_broker):
        for broker in (1, 2, 3):
            amid_transactions(partial(ended, broker))
            cluster.start_broker(broker)
    words.end()
    expected = {word: list(range(1, count + 1)) for word, count in given.items()}
    assert _updates(servers) == expected, words.said()
    assert cluster.requests.of("DeleteRecords"), "records between its parts were never deleted"


def test_it_begins_anew_after_a_reset(tmp_path: Path, start: Start, cluster: SyncCluster) -> None:
    servers = cluster.bootstrap_servers
    lines = _lines()
    cluster.produce("lines", lines)
    given = Counter(word for line in lines for word in line.split())

    words = _started(start, tmp_path, servers)
    words.wait_for(lambda: _count(servers) == given.total())
    words.kill()
    cluster.clock.advance(_SESSION_S)
    tools = KafkaTools(fetch_runtime(NEWEST))
    where = ("--bootstrap-server", servers, "--application-id", "word-counts")
    output = tools.run("StreamsResetter", *where, "--input-topics", "lines")
    tools.close()
    assert "word-counts-words-changelog" in output
    assert sorted(cluster.state.topic_names) == [
        "__consumer_offsets", "__transaction_state", "counts", "lines",
    ]  # fmt: skip
    words = _started(start, tmp_path, servers, **{"state.dir": str(tmp_path / "another")})
    words.wait_for(lambda: _count(servers) == 2 * given.total())
    words.end()
    expected = {word: 2 * list(range(1, count + 1)) for word, count in given.items()}
    assert _updates(servers) == expected


def test_two_instances_of_a_streams_group_count_each_word_once(
    tmp_path: Path, start: Start
) -> None:
    """Each of them ends once, and then each broker, with standbys of tasks meanwhile."""
    configs = {
        **_CONFIGS,
        "group.streams.initial.rebalance.delay.ms": 0,
        "group.streams.num.standby.replicas": 1,
    }
    given: Counter[str] = Counter()
    with SyncCluster(3, topics=_TOPICS, configs=configs) as cluster:
        servers = cluster.bootstrap_servers

        def counted(words: Application) -> None:
            lines = _lines()
            cluster.produce("lines", lines)
            given.update(word for line in lines for word in line.split())
            words.wait_for(lambda: _count(servers) == given.total())

        def threads() -> int:
            return sum(bool(each.partitions) for each in cluster.group("word-counts").members)

        settings = {"group.protocol": "streams"}
        folders = tmp_path / "one", tmp_path / "two"
        for each in folders:
            each.mkdir()
        one, two = (_started(start, each, servers, **settings) for each in folders)
        counted(one)
        one.wait_for(lambda: threads() == 4)
        assert cluster.group("word-counts").type == "streams"
        counted(two)
        one.end()
        counted(two)
        assert threads() == 2
        one.start_again()
        one.wait_for(lambda: threads() == 4)
        two.end()
        for broker in (1, 2, 3):
            cluster.stop_broker(broker)
            counted(one)
            cluster.start_broker(broker)
        one.end()
        expected = {word: list(range(1, count + 1)) for word, count in given.items()}
        assert _updates(servers) == expected, one.said()
