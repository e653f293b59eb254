"""What librdkafka's producers and consumers print of records and transactions."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from tests.server.clients.pair import Side
from tests.server.clients.record_clients import CODECS, PATIENCE_S, ROWS, Row
from tests.server.clients.record_scripts.scene import REFUSED_S, TIMES_MS, create_topics, when
from tests.server.clients.steps import Shown, Steps

Given = dict[str, Any]
_ALICE: Given = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "alice",
    "sasl.password": "alice-secret",
}
#: Of a consumer that does nothing by itself.
QUIET: Given = {"enable.auto.commit": False, "enable.partition.eof": True}


def config(side: Side, **given: Any) -> Given:
    """A client's configs; "." stands for "_" in their names."""
    named = {name.replace("_", "."): value for name, value in given.items()}
    return {"bootstrap.servers": side.bootstrap, "log_level": 0, "linger.ms": 50, **named}


def of_alice(side: Side, **given: Any) -> Given:
    """The same of a user who may do nothing."""
    return {**config(side, **given), **_ALICE, "bootstrap.servers": side.secured}


def sent(given: Given, topic: str, rows: Sequence[Row], partition: int = 0) -> list[Any]:
    """What a producer hears of each record."""
    found: list[Any] = []
    given.setdefault("message.timeout.ms", int(PATIENCE_S * 1000))
    with_producer = Producer(given)
    for each in rows:
        with_producer.produce(
            topic, each.value, each.key, partition, timestamp=each.timestamp,
            headers=list(each.headers),
            on_delivery=lambda error, message: found.append(_report(error, message)),
        )  # fmt: skip
    left = with_producer.flush(PATIENCE_S)
    return [*found, left]


def _report(error: Any, message: Any) -> Any:
    kind, time_ms = message.timestamp()
    return [str(error), message.partition(), message.offset(), kind, when(time_ms)]


def record(message: Any) -> list[Any]:
    """A record, or the error that stands for one, as a consumer has it."""
    if message.error() is not None:
        return [str(message.error()), message.partition(), message.offset()]
    kind, time_ms = message.timestamp()
    headers = message.headers()
    return [message.partition(), message.offset(), message.key(), message.value(), headers, kind,
            when(time_ms), message.leader_epoch()]  # fmt: skip


@contextmanager
def consuming(given: Given) -> Iterator[Consumer]:
    """A consumer until the end of the block."""
    with contextlib.closing(Consumer(given)) as consumer:
        yield consumer


def polled(consumer: Consumer, count: int, patience_s: float = PATIENCE_S) -> list[Any]:
    """The next records and errors, ends of partitions among them; fewer if no more come."""
    found: list[Any] = []
    deadline = time.monotonic() + patience_s
    while len(found) < count and time.monotonic() < deadline:
        message = consumer.poll(0.1)
        found += [record(message)] if message is not None else []
    return found


def producing(side: Side) -> Shown:
    """Records in each compression, with each acknowledgement, and batches that are refused."""
    steps = Steps(side)
    create_topics(
        side, "rdp", "plain", "stamped", "recoded", "small", "compacted", "late", "strict"
    )
    for codec in CODECS:
        given = config(side, compression_type=codec)
        steps.ask(codec, lambda given=given: sent(given, "rdp-plain", ROWS))
    for acks in ("0", "1", "all"):
        given = config(side, acks=acks)
        steps.ask(f"acks={acks}", lambda given=given: sent(given, "rdp-plain", ROWS[:2]))
    one_by_one = config(side, enable_idempotence=True, batch_num_messages=1)
    steps.ask("idempotent", lambda: sent(one_by_one, "rdp-plain", ROWS))
    plain = config(side)
    steps.ask("log append time", lambda: sent(plain, "rdp-stamped", ROWS))
    steps.ask("compressed by the broker", lambda: sent(plain, "rdp-recoded", ROWS))
    big = Row(None, b"x" * 1000, (), ROWS[0].timestamp)
    for idempotent in (False, True):
        given = config(side, enable_idempotence=idempotent)
        kind = "idempotent" if idempotent else "plain"

        def refused(topic: str, *rows: Row, partition: int = 0, given: Given = given) -> list[Any]:
            return sent({**given}, topic, rows, partition)

        steps.ask(f"{kind} too large", lambda: refused("rdp-small", ROWS[0], big))
        steps.ask(f"{kind} fits", lambda: refused("rdp-small", ROWS[0]))
        steps.ask(f"{kind} no key", lambda: refused("rdp-compacted", *ROWS))
        steps.ask(f"{kind} too old", lambda: refused("rdp-late", *ROWS))
        steps.ask(f"{kind} no partition", lambda: refused("rdp-plain", ROWS[0], partition=9))
        steps.ask(f"{kind} no name", lambda: refused("a b", ROWS[0]))
    steps.ask("fewer replicas than should be in sync", lambda: sent(plain, "rdp-strict", ROWS))
    steps.ask("a new topic", lambda: sent(config(side, acks=1), "rdp-new", ROWS[:1]))
    for idempotent in (False, True):
        given = of_alice(side, enable_idempotence=idempotent, message_timeout_ms=3000)
        steps.ask(f"not allowed {idempotent}", lambda given=given: sent(given, "rdp-plain", ROWS))
    steps.ask("all of it", lambda: _all_of(side, "rdp-plain", 29))
    steps.ask("what fitted", lambda: _all_of(side, "rdp-small", 3))
    return steps.shown


def _all_of(side: Side, topic: str, count: int) -> list[Any]:
    with consuming(config(side, group_id="unused") | QUIET) as consumer:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        return polled(consumer, count)


def reading(side: Side) -> Shown:
    """Positions, times, ends, offsets that are not there, and topics that are not."""
    steps = Steps(side)
    create_topics(side, "rdr", "plain", "wide", "stamped")
    for topic in ("rdr-plain", "rdr-stamped"):
        sent(config(side), topic, ROWS)
    for partition in range(2):
        sent(config(side), "rdr-wide", ROWS[: partition + 1], partition)
    place = TopicPartition("rdr-plain", 0, OFFSET_BEGINNING)
    with consuming(config(side, group_id="rdr") | QUIET) as consumer:
        consumer.assign([place])
        steps.ask("from the start", lambda: polled(consumer, 5))
        steps.ask("position", lambda: places(consumer.position([place])))
        consumer.seek(TopicPartition("rdr-plain", 0, 2))
        steps.ask("from an offset", lambda: polled(consumer, 3))
        for name, time_ms in TIMES_MS.items():
            steps.ask(
                f"offset of {name}",
                lambda time_ms=time_ms: places(
                    consumer.offsets_for_times(
                        [TopicPartition(topic, 0, time_ms) for topic in ("rdr-plain", "rdr-wide")],
                        PATIENCE_S,
                    )
                ),
            )
        for each in (place, TopicPartition("rdr-wide", 2), TopicPartition("rdr-absent", 0)):
            steps.ask(
                f"ends of {each.topic}",
                lambda each=each: consumer.get_watermark_offsets(each, PATIENCE_S),
            )
        steps.ask("nothing committed", lambda: places(consumer.committed([place], PATIENCE_S)))
        steps.ask("topics", lambda: _topics(consumer, "rdr-plain", "rdr-wide", "rdr-absent"))
        consumer.assign([TopicPartition("rdr-wide", each, 0) for each in range(3)])
        steps.ask("three partitions", lambda: sorted(polled(consumer, 6), key=str))
        consumer.assign([TopicPartition("rdr-plain", 0, OFFSET_END)])
        steps.ask("from the end", lambda: polled(consumer, 1))
        consumer.assign([TopicPartition("rdr-stamped", 0, OFFSET_BEGINNING)])
        steps.ask("log append time", lambda: polled(consumer, 5))
    for reset, count in (("earliest", 5), ("latest", 1), ("error", 1)):
        with consuming(config(side, group_id="rdr", auto_offset_reset=reset) | QUIET) as consumer:
            consumer.assign([TopicPartition("rdr-plain", 0, 9)])
            steps.ask(f"beyond the end, {reset}", lambda c=consumer, n=count: polled(c, n))
    with consuming(of_alice(side, group_id="rdr") | QUIET) as consumer:
        consumer.assign([TopicPartition("rdr-plain", 0, OFFSET_BEGINNING)])
        steps.ask("not allowed", lambda: polled(consumer, 1))
        steps.ask("no ends", lambda: consumer.get_watermark_offsets(place, PATIENCE_S))
        steps.ask("no offsets", lambda: places(consumer.committed([place], REFUSED_S)))
    return steps.shown


def places(found: Sequence[TopicPartition]) -> list[Any]:
    """Offsets with what came with them."""
    return [[each.topic, each.partition, each.offset, each.metadata, str(each.error)]
            for each in found]  # fmt: skip


def _topics(consumer: Consumer, *names: str) -> Any:
    found = {}
    for name in names:
        topic = consumer.list_topics(name, PATIENCE_S).topics[name]
        partitions = [[each.id, each.leader, each.replicas, sorted(each.isrs), str(each.error)]
                      for each in topic.partitions.values()]  # fmt: skip
        found[name] = [str(topic.error), sorted(partitions)]
    return found


def transactions(side: Side) -> Shown:
    """Committed and aborted transactions, offsets in them, and producers that are fenced."""
    steps = Steps(side)
    create_topics(side, "rdt", "plain", "wide", "small")
    given = config(side, transactional_id="rdt", linger_ms=0)
    producer = Producer(given)
    steps.ask("not begun", producer.begin_transaction)
    steps.ask("initialized", lambda: producer.init_transactions(PATIENCE_S))
    for number, commit in enumerate((True, False, True)):
        steps.ask(f"{number}", lambda c=commit, n=number: _transaction(producer, c, str(n)))
    reads = config(side, group_id="rdt", auto_offset_reset="earliest") | QUIET
    for level in ("read_committed", "read_uncommitted"):
        with consuming({**reads, "isolation.level": level}) as consumer:
            consumer.assign([TopicPartition("rdt-plain", 0, OFFSET_BEGINNING)])
            steps.ask(f"{level}", lambda c=consumer, n=level: polled(c, 3 if "un" not in n else 4))
    with consuming(reads) as consumer:
        consumer.subscribe(["rdt-plain"])
        steps.ask("a group reads", lambda: polled(consumer, 1))
        members = consumer.consumer_group_metadata()
        place = TopicPartition("rdt-plain", 0, 1)
        for commit in (False, True):
            producer.begin_transaction()
            steps.ask(
                f"offsets {commit}",
                lambda: producer.send_offsets_to_transaction([place], members, PATIENCE_S),
            )
            end = producer.commit_transaction if commit else producer.abort_transaction
            steps.ask(f"end {commit}", lambda end=end: end(PATIENCE_S))
            steps.ask(
                f"committed {commit}", lambda: places(consumer.committed([place], PATIENCE_S))
            )
    producer.begin_transaction()
    producer.produce("rdt-plain", b"of a zombie")
    steps.ask("written by the first", lambda: producer.flush(PATIENCE_S))
    other = Producer(given)
    steps.ask("another", lambda: other.init_transactions(PATIENCE_S))
    steps.ask("fenced", lambda: _failure(lambda: producer.commit_transaction(PATIENCE_S)))
    steps.ask("of the other", lambda: _transaction(other, True, "kept"))
    other.begin_transaction()
    found: list[Any] = []
    other.produce("rdt-small", b"x" * 1000, on_delivery=lambda e, _: found.append(str(e)))
    steps.ask("too large", lambda: (other.flush(PATIENCE_S), found))
    steps.ask("cannot be committed", lambda: _failure(lambda: other.commit_transaction(PATIENCE_S)))
    steps.ask("aborted", lambda: other.abort_transaction(PATIENCE_S))
    steps.ask("goes on", lambda: _transaction(other, True, "after an abort"))
    long = Producer({**given, "transaction.timeout.ms": 2_000_000, "message.timeout.ms": 1000})
    steps.ask("timeout", lambda: _failure(lambda: long.init_transactions(PATIENCE_S)))
    alice = Producer(of_alice(side, transactional_id="rdt"))
    steps.ask("not allowed", lambda: _failure(lambda: alice.init_transactions(PATIENCE_S)))
    return steps.shown


def _transaction(producer: Producer, commit: bool, value: str) -> Any:
    found: list[Any] = []
    producer.begin_transaction()
    for topic, partition in (("rdt-plain", 0), ("rdt-wide", 2)):
        producer.produce(
            topic, value.encode(), partition=partition, timestamp=ROWS[0].timestamp,
            on_delivery=lambda error, message: found.append(_report(error, message)),
        )  # fmt: skip
    producer.flush(PATIENCE_S)
    (producer.commit_transaction if commit else producer.abort_transaction)(PATIENCE_S)
    return sorted(found)


def _failure(asked: Callable[[], Any]) -> Any:
    """An error with what a producer may do about it."""
    try:
        return asked()
    except KafkaException as error:
        (found,) = error.args
        assert isinstance(found, KafkaError)
        return [str(found), found.fatal(), found.retriable(), found.txn_requires_abort()]


SCRIPTS: dict[str, Callable[[Side], Shown]] = {
    "producing": producing,
    "reading": reading,
    "transactions": transactions,
}
