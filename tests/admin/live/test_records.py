"""Records that we produce and fetch, beside another project's producer and consumer."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any, get_args

from kafka_admin_proto.admin import NewRecord, SyncAdminClient
from kafka_admin_proto.admin.operations.topics.creation import NewTopic
from kafka_admin_proto.records.batches.model import CompressionName, Record
from tools.clusters import Cluster


def fetched(admin: SyncAdminClient, topic: str, **options: Any) -> dict[int, list[Record]]:
    """All records of a topic up to its end, by partition."""
    plan = admin.plan_reading([topic], **options)
    assert not plan.failed
    offsets, found = dict(plan.offsets), {number: list[Record]() for _, number in plan.offsets}
    while wanted := {each: at for each, at in offsets.items() if at < plan.ends[each]}:
        options.pop("begin", None)
        for each in admin.fetch(wanted, max_wait=0.1, **options):
            assert each.error is None, each
            found[each.partition] += each.records
            offsets[each.topic, each.partition] = each.next_offset
    return found


def consumed(cluster: Cluster, topic: str) -> dict[int, list[Record]]:
    """The same by librdkafka's consumer, which has every compression."""
    from confluent_kafka import Consumer, TopicPartition

    consumer: Any = Consumer(
        {"bootstrap.servers": cluster.bootstrap, "group.id": "none", "enable.auto.commit": False,
         "isolation.level": "read_committed", "enable.partition.eof": True}
    )  # fmt: skip
    metadata = consumer.list_topics(topic, timeout=30).topics[topic]
    found: dict[int, list[Record]] = {each: [] for each in metadata.partitions}
    consumer.assign([TopicPartition(topic, each, 0) for each in found])
    open_ones = set(found)
    while open_ones:
        message = consumer.poll(30)
        assert message is not None
        if message.error() is not None:  # the end of a partition
            open_ones.discard(message.partition())
            continue
        headers = tuple(message.headers() or ())
        time = message.timestamp()[1]
        record = Record(message.offset(), time, message.key(), message.value(), headers)
        found[message.partition()].append(record)
    consumer.close()
    return found


def test_records_that_we_produce_are_read_by_others_and_by_us(
    cluster: Cluster, admin: SyncAdminClient, unique: Callable[[str], str]
) -> None:
    topic = unique("produced")
    admin.create_topics([NewTopic(topic, 3, 2)])
    records = [
        NewRecord(
            key=b"key %d" % (number % 7) if number % 3 else None,
            value=b"value %d" % number if number % 5 else None,
            headers=[("number", b"%d" % number), ("none", None)][: number % 3],
            timestamp_ms=1_700_000_000_000 + number,
        )
        for number in range(200)
    ]
    names = get_args(CompressionName)
    for index, compression in enumerate(names):
        some = records[index :: len(names)]
        results = admin.produce(topic, some, compression=compression)
        assert [each.error for each in results] == [None] * len(results)
        assert sum(each.records for each in results) == len(some)
    ours = fetched(admin, topic)
    assert ours == consumed(cluster, topic)
    written = [(each.key, each.value, tuple(each.headers), each.timestamp_ms) for each in records]
    read = [
        (each.key, each.value, each.headers, each.timestamp)
        for number in sorted(ours)
        for each in ours[number]
    ]
    assert sorted(read, key=lambda each: each[3]) == written
    begun = fetched(admin, topic, begin=-2)
    assert begun == {number: own[-2:] for number, own in ours.items()}


def test_aborted_transactions_are_left_out(
    cluster: Cluster, admin: SyncAdminClient, unique: Callable[[str], str]
) -> None:
    topic = unique("aborted")
    admin.create_topics([NewTopic(topic, 1, 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from kafka import KafkaProducer

        producer = KafkaProducer(bootstrap_servers=cluster.bootstrap, transactional_id=topic)
        producer.init_transactions()
        for value, end in ((b"kept", "commit"), (b"lost", "abort"), (b"also kept", "commit")):
            producer.begin_transaction()
            producer.send(topic, value, partition=0).get(timeout=30)
            getattr(producer, f"{end}_transaction")()
        producer.close()
    committed = fetched(admin, topic, isolation="read_committed")
    assert [each.value for each in committed[0]] == [b"kept", b"also kept"]
    assert committed == consumed(cluster, topic)
    assert [each.value for each in fetched(admin, topic)[0]] == [b"kept", b"lost", b"also kept"]


def test_kap_produces_lines_and_consumes_them(
    cluster: Cluster, admin: SyncAdminClient, unique: Callable[[str], str]
) -> None:
    topic = unique("lines")
    admin.create_topics([NewTopic(topic, 1, 1)])

    def kap(*arguments: str, lines: bytes = b"") -> bytes:
        command = [sys.executable, "-m", "kafka_admin_proto", *arguments]
        at = ["--bootstrap-server", cluster.bootstrap]
        found = subprocess.run([*command, *at], input=lines, capture_output=True, check=False)
        assert found.returncode == 0, found.stderr
        return found.stdout

    kap("produce", topic, "-K", ":", "-H", "source=test", "-Z", lines=b"a:1\nb:\n:\xff\n")
    template = "%t %p %o %k %K %s %S %h%%\\n"
    shown = kap("consume", topic, "--format", template)
    assert shown.splitlines() == [
        b"%b 0 0 a 1 1 1 source=test%%" % topic.encode(),
        b"%b 0 1 b 1  -1 source=test%%" % topic.encode(),
        b"%b 0 2  -1 \xff 1 source=test%%" % topic.encode(),
    ]
    assert (
        kap("consume", topic, "--offset", "-1", "--follow", "--count", "1", "--format", "%o")
        == b"2"
    )
