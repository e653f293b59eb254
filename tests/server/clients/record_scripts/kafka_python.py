"""What kafka-python's producers and consumers print of records, groups and transactions."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_consumer
from tests.server.clients.pair import Side
from tests.server.clients.record_clients import CODECS, PATIENCE_S, ROWS, Row
from tests.server.clients.record_scripts.scene import (
    REFUSED_S,
    TIMES_MS,
    create_topics,
    is_shared,
    when,
)
from tests.server.clients.steps import Shown, Steps

_PATIENCE_MS = int(PATIENCE_S * 1000)
_ALICE = {
    "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN",
    "sasl_plain_username": "alice", "sasl_plain_password": "alice-secret",
}  # fmt: skip


@contextlib.contextmanager
def _producer(kafka: Any, side: Side, **given: Any) -> Iterator[Any]:
    """A producer; ``allowed`` is whether it is one that may do everything."""
    if given.pop("allowed", True):
        given["bootstrap_servers"] = side.bootstrap
    else:
        given |= {**_ALICE, "bootstrap_servers": side.secured}
    given = {"linger_ms": 50, "max_block_ms": _PATIENCE_MS, **given}
    producer = kafka.KafkaProducer(**given)
    try:
        yield producer
    finally:
        producer.close(timeout=1)


@contextlib.contextmanager
def _consumer(kafka: Any, side: Side, *topics: str, **given: Any) -> Iterator[Any]:
    """The same of a consumer.

    It knows its topics before it joins a group: kafka-python assigns nothing of those that it does
    not know yet.
    """
    allowed = given.pop("allowed", True)
    given = {"enable_auto_commit": False, "consumer_timeout_ms": _PATIENCE_MS, **given}
    address = {"bootstrap_servers": side.bootstrap}
    if not allowed:
        address = {**_ALICE, "bootstrap_servers": side.secured}
    with contextlib.closing(kafka_python_consumer(kafka, **address, **given)) as consumer:
        if allowed:
            _until(lambda: all(map(consumer.partitions_for_topic, topics)))
        if topics:
            consumer.subscribe(topics)
        yield consumer


def _until(holds: Callable[[], bool]) -> None:
    """Wait for it, or a while."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < deadline:
        pass


def _sent(producer: Any, topic: str, rows: Sequence[Row], partition: int | None = 0) -> list[Any]:
    """What a producer hears of each record."""
    futures = []
    for each in rows:
        futures.append(
            producer.send(
                topic, key=each.key, value=each.value, headers=list(each.headers),
                timestamp_ms=each.timestamp, partition=partition,
            )
        )  # fmt: skip
    producer.flush(PATIENCE_S)
    return [_outcome(each) for each in futures]


def _outcome(future: Any) -> Any:
    try:
        found = future.get(PATIENCE_S)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return [found.topic, found.partition, found.offset, when(found.timestamp),
            found.serialized_key_size, found.serialized_value_size,
            found.serialized_header_size]  # fmt: skip


def _record(found: Any) -> list[Any]:
    return [found.partition, found.offset, found.key, found.value, found.headers,
            found.timestamp_type, when(found.timestamp), found.leader_epoch]  # fmt: skip


def _read(consumer: Any, count: int) -> list[Any]:
    return sorted((_record(each) for each in islice(consumer, count)), key=lambda row: row[:2])


def producing(side: Side) -> Shown:
    """Records in each compression, with each acknowledgement, and batches that are refused."""
    steps = Steps(side)
    create_topics(side, "kpp", "plain", "stamped", "recoded", "small", "compacted", "late")
    old = {"enable_idempotence": False}
    with kafka_python() as kafka:

        def ask(name: str, topic: str, *rows: Row, partition: int = 0, **given: Any) -> None:
            def asked() -> Any:
                with _producer(kafka, side, **given) as producer:
                    return _sent(producer, topic, rows, partition)

            steps.ask(name, asked)

        for codec in CODECS:
            ask(codec, "kpp-plain", *ROWS, compression_type=None if codec == "none" else codec)
        for acks in (0, 1, "all"):
            ask(f"acks={acks}", "kpp-plain", *ROWS[:2], acks=acks, **old)
        ask("log append time", "kpp-stamped", *ROWS)
        ask("compressed by the broker", "kpp-recoded", *ROWS)
        big = Row(None, b"x" * 1000, (), ROWS[0].timestamp)
        for kind, given in {"plain": old, "idempotent": {}}.items():
            ask(f"{kind} too large", "kpp-small", big, **given)
            ask(f"{kind} fits", "kpp-small", ROWS[0], **given)
            ask(f"{kind} no key", "kpp-compacted", *ROWS, **given)
            ask(f"{kind} too old", "kpp-late", *ROWS, **given)
            ask(f"{kind} not allowed", "kpp-plain", ROWS[0], allowed=False, **given)
        ask("no name", "a b", ROWS[0], max_block_ms=int(REFUSED_S * 1000))
        ask("no partition", "kpp-plain", ROWS[0], partition=9, max_block_ms=1000)
        ask("a new topic", "kpp-new", ROWS[0])
        with _consumer(kafka, side, "kpp-plain", auto_offset_reset="earliest") as consumer:
            steps.ask("all of it", lambda: _read(consumer, 26))
    return steps.shown


def reading(side: Side) -> Shown:
    """Positions, times, ends, offsets that are not there, and topics that are not."""
    steps = Steps(side)
    create_topics(side, "kpr", "plain", "wide", "stamped")
    with kafka_python() as kafka:
        from kafka import TopicPartition

        with _producer(kafka, side) as producer:
            for topic in ("kpr-plain", "kpr-stamped"):
                _sent(producer, topic, ROWS)
            for partition in range(2):
                _sent(producer, "kpr-wide", ROWS[: partition + 1], partition)
        plain, stamped = TopicPartition("kpr-plain", 0), TopicPartition("kpr-stamped", 0)
        wide = [TopicPartition("kpr-wide", each) for each in range(3)]
        with _consumer(kafka, side, group_id="kpr") as consumer:
            consumer.assign([plain])
            consumer.seek_to_beginning()
            steps.ask("from the start", lambda: _read(consumer, 4))
            steps.ask("position", lambda: consumer.position(plain))
            steps.ask("high watermark", lambda: consumer.highwater(plain))
            consumer.seek(plain, 2)
            steps.ask("from an offset", lambda: _read(consumer, 2))
            # kafka-python knows the leaders of what is assigned to it alone, and a moment later.
            consumer.assign([plain, *wide])
            steps.ask("positions", lambda: list(map(consumer.position, wide)))
            for name, time_ms in TIMES_MS.items():
                steps.ask(
                    f"offset of {name}",
                    lambda t=time_ms: _by_place(
                        consumer.offsets_for_times(dict.fromkeys([plain, *wide], t))
                    ),
                )
            ends = {"first": consumer.beginning_offsets, "last": consumer.end_offsets}
            for name, asked in ends.items():
                steps.ask(name, lambda asked=asked: _by_place(asked([plain, *wide])))
            steps.ask("nothing committed", lambda: consumer.committed(plain))
            steps.ask("partitions", lambda: consumer.partitions_for_topic("kpr-wide"))
            steps.ask("no partitions", lambda: consumer.partitions_for_topic("a b"))
            consumer.assign(wide)
            consumer.seek_to_beginning()
            steps.ask("three partitions", lambda: _read(consumer, 3))
            consumer.assign([stamped])
            consumer.seek_to_beginning()
            steps.ask("log append time", lambda: _read(consumer, 4))
        for reset, count in (("earliest", 4), ("latest", 1), ("none", 1)):
            given = {"auto_offset_reset": reset, "consumer_timeout_ms": 2000}
            with _consumer(kafka, side, **given) as consumer:
                consumer.assign([plain])
                consumer.seek(plain, 9)
                steps.ask(f"beyond the end, {reset}", lambda c=consumer, n=count: _read(c, n))
        with _consumer(kafka, side, "kpr-plain", allowed=False) as consumer:
            steps.ask("not allowed", lambda: _read(consumer, 1))
    return steps.shown


def _by_place(found: Any) -> Any:
    return sorted((str(place), str(each)) for place, each in found.items())


def groups(side: Side) -> Shown:
    """Members with each strategy, static ones, and offsets that are committed."""
    steps = Steps(side)
    create_topics(side, "kpg", "plain", "wide")
    with kafka_python() as kafka:
        from kafka import TopicPartition
        from kafka.coordinator.assignors.range import RangePartitionAssignor
        from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
        from kafka.structs import OffsetAndMetadata

        with _producer(kafka, side) as producer:
            for partition in range(3):
                _sent(producer, "kpg-wide", ROWS, partition)
        strategies = {
            "range": (RangePartitionAssignor, [1, 3]),
            "roundrobin": (RoundRobinPartitionAssignor, [2, 2]),
            "sticky": (StickyPartitionAssignor, [2, 2]),
        }
        for name, (strategy, sizes) in strategies.items():
            given = {"group_id": name, "partition_assignment_strategy": [strategy],
                     "heartbeat_interval_ms": 1000, "auto_offset_reset": "earliest"}  # fmt: skip
            topics = ("kpg-wide", "kpg-plain")
            with _consumer(kafka, side, *topics, client_id="a", **given) as one:
                steps.ask(f"{name}: one", lambda one=one: _settled([one], [4]))
                with _consumer(kafka, side, *topics, client_id="b", **given) as two:
                    members = [one, two]
                    steps.ask(f"{name}: two", lambda m=members, s=sizes: _settled(m, s))
                    steps.ask(f"{name}: described", lambda name=name: _described(kafka, side, name))
                steps.ask(f"{name}: one again", lambda one=one: _settled([one], [4]))
            steps.ask(f"{name}: empty", lambda name=name: _described(kafka, side, name))
        place, absent = TopicPartition("kpg-wide", 0), TopicPartition("kpg-absent", 0)
        given = {"group_id": "commits", "auto_offset_reset": "earliest"}
        commits = {
            "committed": {place: OffsetAndMetadata(2, "with a note", -1)},
            "committed for nothing": {absent: OffsetAndMetadata(1, "", -1)},
            "a long note": {place: OffsetAndMetadata(3, "x" * 5000, -1)},
        }
        with _consumer(kafka, side, "kpg-wide", **given) as consumer:
            steps.ask("joined", lambda: _settled([consumer], [3]))
            for name, offsets in commits.items():
                # kafka-python asks again, until its time is up, about what there is not.
                timeout = 1000 * REFUSED_S
                steps.ask(name, lambda o=offsets, t=timeout: consumer.commit(o, timeout_ms=t))
            steps.ask("kept", lambda: consumer.committed(place, metadata=True))
        with _consumer(kafka, side, "kpg-wide", **given) as consumer:
            steps.ask("goes on", lambda: _read(consumer, 10))
            with _consumer(kafka, side, group_id="commits") as other:
                other.assign([place])
                offsets = commits["committed"]
                steps.ask("not a member", lambda: other.commit(offsets, timeout_ms=3000))
        _statics(kafka, steps, side)
        given = {"group_id": "refused", "allowed": False}
        with _consumer(kafka, side, "kpg-plain", **given) as consumer:
            steps.ask("not allowed", lambda: _read(consumer, 1))
    return steps.shown


def _statics(kafka: Any, steps: Steps, side: Side) -> None:
    """A static member keeps its partitions, and another of its instance takes them over."""
    given = {"group_id": "static", "heartbeat_interval_ms": 1000}

    def joined(instance: str) -> Any:
        return _consumer(kafka, side, "kpg-wide", group_instance_id=instance,
                         client_id=instance, **given)  # fmt: skip

    with joined("i") as one:
        with joined("j") as two:
            steps.ask("static members", lambda: _settled([one, two], [1, 2]))
        steps.ask("one left for a moment", lambda: _described(kafka, side, "static"))
        with joined("j") as two:
            steps.ask("back again", lambda: _settled([one, two], [1, 2]))
            with joined("i") as third:
                # The fenced one is not asked: which of its threads hears of it first is chance.
                steps.ask("the instance again", lambda: _settled([third, two], [1, 2]))


def _settled(members: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Who has which partitions as soon as each has as many, or what they have after a while.

    All are polled at once: kafka-python forgets that it has joined where that ends between two
    polls. Its leader then joins again, or sends no heartbeat until its session is over.
    """
    deadline = time.monotonic() + PATIENCE_S
    with ThreadPoolExecutor(len(members)) as at_once:
        while True:
            found = list(at_once.map(_polled, members))
            if is_shared(found, sizes) or time.monotonic() > deadline:
                return found


def _polled(member: Any) -> list[Any]:
    member.poll(timeout_ms=50)
    return sorted(member.assignment())


def _described(kafka: Any, side: Side, group: str) -> Any:
    with contextlib.closing(kafka.KafkaAdminClient(bootstrap_servers=side.bootstrap)) as admin:
        found = admin.describe_groups([group])[group]
    members = sorted(
        (each["client_id"], each["client_host"], str(each["group_instance_id"]),
         str(each["member_assignment"]))
        for each in found["members"]
    )  # fmt: skip
    return [found["group_state"], found["protocol_type"], found["protocol_data"], members]


def transactions(side: Side) -> Shown:
    """Committed and aborted transactions, offsets in them, and producers that are fenced."""
    steps = Steps(side)
    create_topics(side, "kpt", "plain", "wide", "small")
    with kafka_python() as kafka, contextlib.ExitStack() as stack:
        from kafka import TopicPartition
        from kafka.structs import OffsetAndMetadata

        def begun(**given: Any) -> Any:
            return stack.enter_context(
                _producer(kafka, side, **{"transactional_id": "kpt", "linger_ms": 0, **given})
            )

        producer = begun()
        steps.ask("initialized", producer.init_transactions)
        for number, commit in enumerate((True, False, True)):
            steps.ask(f"{number}", lambda c=commit, n=number: _transaction(producer, c, str(n)))
        for level, count in (("read_committed", 2), ("read_uncommitted", 3)):
            given = {"isolation_level": level, "auto_offset_reset": "earliest"}
            with _consumer(kafka, side, "kpt-plain", **given) as consumer:
                steps.ask(level, lambda c=consumer, n=count: _read(c, n))
        place = TopicPartition("kpt-plain", 0)
        offsets = {place: OffsetAndMetadata(1, "", -1)}
        given = {"group_id": "kpt", "auto_offset_reset": "earliest"}
        with _consumer(kafka, side, "kpt-plain", **given) as consumer:
            steps.ask("a group reads", lambda: _read(consumer, 1))
            for commit in (False, True):
                producer.begin_transaction()
                steps.ask(
                    f"offsets {commit}",
                    lambda: producer.send_offsets_to_transaction(
                        offsets, consumer.group_metadata()
                    ),
                )
                end = producer.commit_transaction if commit else producer.abort_transaction
                steps.ask(f"end {commit}", end)
                steps.ask(f"committed {commit}", lambda c=commit: _committed(consumer, place, c))
        producer.begin_transaction()
        steps.ask("of a zombie", lambda: _sent(producer, "kpt-plain", ROWS[:1]))
        other = begun()
        steps.ask("another", other.init_transactions)
        steps.ask("fenced", producer.commit_transaction)
        steps.ask("of the other", lambda: _transaction(other, True, "kept"))
        other.begin_transaction()
        big = Row(None, b"x" * 1000, (), ROWS[0].timestamp)
        steps.ask("too large", lambda: _sent(other, "kpt-small", [big]))
        steps.ask("cannot be committed", other.commit_transaction)
        steps.ask("aborted", other.abort_transaction)
        steps.ask("goes on", lambda: _transaction(other, True, "after an abort"))
        long = begun(transaction_timeout_ms=2_000_000, max_block_ms=3000)
        steps.ask("timeout", long.init_transactions)
        alice = begun(allowed=False, max_block_ms=3000)
        steps.ask("not allowed", alice.init_transactions)
    return steps.shown


def _committed(consumer: Any, place: Any, expected: bool) -> Any:
    """A group's offset; its transaction has been committed before the coordinator hears of that."""
    _until(lambda: (consumer.committed(place) is not None) == expected)
    return consumer.committed(place)


def _transaction(producer: Any, commit: bool, value: str) -> Any:
    row = Row(None, value.encode(), (), ROWS[0].timestamp)
    producer.begin_transaction()
    found = [_sent(producer, "kpt-plain", [row]), _sent(producer, "kpt-wide", [row], 2)]
    (producer.commit_transaction if commit else producer.abort_transaction)()
    return found


SCRIPTS: dict[str, Callable[[Side], Shown]] = {
    "producing": producing,
    "reading": reading,
    "groups": groups,
    "transactions": transactions,
}
