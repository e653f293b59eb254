"""What librdkafka's consumers print in groups of both protocols, and in share groups."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import confluent_kafka
import confluent_kafka.admin
from confluent_kafka import AcknowledgeType, Consumer, TopicPartition

from kafka_admin_proto.admin import ConfigChange, ConfigResource, SyncAdminClient
from tests.server.clients.pair import Side
from tests.server.clients.record_clients import PATIENCE_S, ROWS
from tests.server.clients.record_scripts.librdkafka import (
    QUIET,
    Given,
    config,
    consuming,
    of_alice,
    places,
    polled,
    record,
    sent,
)
from tests.server.clients.record_scripts.scene import REFUSED_S, create_topics, is_shared
from tests.server.clients.steps import Shown, Steps

_CLIENT: Any = confluent_kafka  # its stubs leave out what is new
_ADMIN: Any = confluent_kafka.admin
_EARLIEST: Given = {"auto.offset.reset": "earliest", **QUIET}
_PAUSE_S = 0.05


def settled(members: Sequence[Consumer], sizes: Sequence[int]) -> list[Any]:
    """Who has which partitions as soon as each has as many; what they have after a while if never.

    Members are polled one after the other, as one thread has to.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        for each in members:
            each.poll(_PAUSE_S)
        found = [sorted((own.topic, own.partition) for own in m.assignment()) for m in members]
        if is_shared(found, sizes) or time.monotonic() > deadline:
            return found


def groups(side: Side) -> Shown:
    """Members of the classic protocol: each strategy, static ones, commits and their errors."""
    steps = Steps(side)
    create_topics(side, "rdg", "plain", "wide")
    for partition in range(3):
        sent(config(side), "rdg-wide", ROWS, partition)
    for strategy in ("range", "roundrobin", "cooperative-sticky"):
        given = config(side, group_id=strategy, partition_assignment_strategy=strategy)
        _share(steps, side, strategy, given | _EARLIEST)
    _commits(steps, side, config(side, group_id="commits") | _EARLIEST)
    _statics(steps, side, config(side, group_id="static", session_timeout_ms=6000) | _EARLIEST)
    _refused(steps, side, {})
    _administered(steps, side)
    return steps.shown


def consumer_groups(side: Side) -> Shown:
    """The same with KIP-848's protocol, and regular expressions, which its coordinator resolves."""
    steps = Steps(side)
    create_topics(side, "rdg", "plain", "wide")
    for partition in range(3):
        sent(config(side), "rdg-wide", ROWS, partition)
    newer = {"group.protocol": "consumer"}
    for assignor in ("uniform", "range"):
        given = config(side, group_id=assignor, group_remote_assignor=assignor)
        _share(steps, side, assignor, given | _EARLIEST | newer)
    _commits(steps, side, config(side, group_id="commits") | _EARLIEST | newer)
    _statics(steps, side, config(side, group_id="static") | _EARLIEST | newer)
    _refused(steps, side, newer)
    with consuming(config(side, group_id="regex") | _EARLIEST | newer) as one:
        one.subscribe(["^rdg-w.*"])
        steps.ask("a regular expression", lambda: settled([one], [3]))
    unknown = config(side, group_id="odd", group_remote_assignor="nobody's") | _EARLIEST | newer
    with consuming(unknown) as one:
        one.subscribe(["rdg-wide"])
        steps.ask("no assignor", lambda: polled(one, 1))
    with consuming(config(side, group_id="mixed", client_id="a") | _EARLIEST) as one:
        one.subscribe(["rdg-wide"])
        steps.ask("a classic member", lambda: settled([one], [3]))
        with consuming(config(side, group_id="mixed", client_id="b") | _EARLIEST | newer) as two:
            two.subscribe(["rdg-wide"])
            # Which of them has two is decided by ids that the newer member makes itself.
            steps.ask("both protocols", lambda: _all_of(settled([one, two], [1, 2])))
            steps.ask("upgraded", lambda: _described(side, "mixed"))
        steps.ask("a classic member again", lambda: settled([one], [3]))
        steps.ask("downgraded", lambda: _described(side, "mixed"))
    return steps.shown


def _share(steps: Steps, side: Side, name: str, given: Given) -> None:
    """Two members come and go; with the newer protocol, the order of their ids is drawn."""
    newer = given.get("group.protocol") == "consumer"

    def shown(found: list[Any]) -> list[Any]:
        return _all_of(found) if newer else found

    with consuming({**given, "client.id": "a"}) as one, ExitStack() as leaves:
        one.subscribe(["rdg-wide", "rdg-plain"])
        steps.ask(f"{name}: one", lambda: shown(settled([one], [4])))
        two = leaves.enter_context(consuming({**given, "client.id": "b"}))
        two.subscribe(["rdg-wide", "rdg-plain"])
        sizes = [1, 3] if name == "range" and not newer else [2, 2]
        steps.ask(f"{name}: two", lambda: shown(settled([one, two], sizes)))
        steps.ask(f"{name}: described", lambda: _described(side, given["group.id"]))
        leaves.close()
        steps.ask(f"{name}: one again", lambda: shown(settled([one], [4])))
    steps.ask(f"{name}: empty", lambda: _described(side, given["group.id"]))


def _all_of(assignments: list[Any]) -> list[Any]:
    """What all members have together."""
    return sorted(each for assignment in assignments for each in assignment)


def _described(side: Side, group: str) -> Any:
    """A group as the admin client has it, without the partitions of each member."""
    admin = _ADMIN.AdminClient(config(side))
    found = admin.describe_consumer_groups([group], request_timeout=PATIENCE_S)[group].result()
    # Who has one more is drawn with the ids of members of the newer protocol.
    newer = found.type.name == "CONSUMER"
    members = sorted(
        (each.client_id, each.host, str(each.group_instance_id),
         "some" if newer else str(len(each.assignment.topic_partitions)))
        for each in found.members
    )  # fmt: skip
    return [found.is_simple_consumer_group, found.partition_assignor, found.state.name,
            found.type.name, members]  # fmt: skip


def _commits(steps: Steps, side: Side, given: Given) -> None:
    """Offsets that are committed, kept, and gone on from."""
    place = TopicPartition("rdg-wide", 0, 2, "with a note")
    absent = TopicPartition("rdg-absent", 0, 1)
    with consuming(given) as consumer:
        consumer.subscribe(["rdg-wide"])
        steps.ask("joined", lambda: settled([consumer], [3]))
        for name, offsets in {
            "committed": [place],
            "committed for nothing": [absent],
            "both": [place, absent],
            "a long note": [TopicPartition("rdg-wide", 1, 1, "x" * 5000)],
        }.items():
            steps.ask(
                name, lambda o=offsets: places(consumer.commit(offsets=o, asynchronous=False))
            )
        steps.ask("kept", lambda: places(consumer.committed([place, absent], PATIENCE_S)))
    with consuming(given) as consumer:
        consumer.subscribe(["rdg-wide"])
        steps.ask("goes on", lambda: sorted(polled(consumer, 13), key=str))
        others = Consumer(given)
        steps.ask("not a member", lambda: others.commit(offsets=[place], asynchronous=False))
        others.close()


def _statics(steps: Steps, side: Side, given: Given) -> None:
    """A static member keeps its partitions, and another of its instance fences it."""

    def joined(instance: str) -> Consumer:
        consumer = Consumer({**given, "group.instance.id": instance, "client.id": instance})
        consumer.subscribe(["rdg-wide"])
        return consumer

    one, two = joined("i"), joined("j")
    steps.ask("static members", lambda: len(settled([one, two], [1, 2])))
    two.close()
    steps.ask("one left for a moment", lambda: _described(side, "static"))
    two = joined("j")
    steps.ask("back again", lambda: len(settled([one, two], [1, 2])))
    third = joined("i")
    steps.ask("the instance again", lambda: _first_error([one, two, third], one, third))
    for each in (one, two, third):
        each.close()


def _first_error(members: Sequence[Consumer], *watched: Consumer) -> Any:
    """The first error that one of two members gets that there should be one of."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for each in members:
            message = each.poll(_PAUSE_S)
            error = message.error() if message is not None and each in watched else None
            if error is not None and error.code() != _CLIENT.KafkaError._PARTITION_EOF:
                return record(message)
    return None


def _refused(steps: Steps, side: Side, more: Given) -> None:
    """Topics and groups that are not there, or not for everybody."""
    given = config(side, group_id="refused") | _EARLIEST | more
    with consuming(given | {"topic.metadata.propagation.max.ms": 0}) as consumer:
        consumer.subscribe(["rdg-absent"])
        # The newer protocol says nothing of it.
        steps.ask("no such topic", lambda: polled(consumer, 1, REFUSED_S))
    with consuming(of_alice(side, group_id="refused") | _EARLIEST | more) as consumer:
        consumer.subscribe(["rdg-plain"])
        steps.ask("not allowed", lambda: polled(consumer, 1))


def _administered(steps: Steps, side: Side) -> None:
    """Groups and their offsets by librdkafka's admin client."""
    admin = _ADMIN.AdminClient(config(side))
    place = TopicPartition("rdg-wide", 1, 3)
    group = _CLIENT.ConsumerGroupTopicPartitions

    def offsets(found: Any) -> Any:
        (future,) = found.values()
        result = future.result(PATIENCE_S)
        return [result.group_id, places(result.topic_partitions)]

    def deleted(name: str) -> Any:
        return admin.delete_consumer_groups([name])[name].result(PATIENCE_S)

    asked: dict[str, Callable[[], Any]] = {
        "altered": lambda: offsets(admin.alter_consumer_group_offsets([group("commits", [place])])),
        "listed": lambda: offsets(admin.list_consumer_group_offsets([group("commits")])),
        "of none": lambda: offsets(admin.list_consumer_group_offsets([group("absent", [place])])),
        "groups": lambda: sorted(
            (each.group_id, each.is_simple_consumer_group, each.state.name, each.type.name)
            for each in admin.list_consumer_groups().result(PATIENCE_S).valid
            if each.group_id == "commits"  # a group without offsets goes at a time of its own
        ),
        "deleted": lambda: deleted("commits"),
        "deleted again": lambda: deleted("commits"),
        "described": lambda: _described(side, "commits"),
    }
    for name, ask in asked.items():
        steps.ask(name, ask)
    for name, spec in {
        "earliest": _ADMIN.OffsetSpec.earliest(),
        "latest": _ADMIN.OffsetSpec.latest(),
        "highest time": _ADMIN.OffsetSpec.max_timestamp(),
        "a time": _ADMIN.OffsetSpec.for_timestamp(ROWS[2].timestamp),
    }.items():
        steps.ask(f"offset: {name}", lambda spec=spec: _listed_offset(admin, spec))
    for name, offset in (("cut", 2), ("cut beyond", 99)):
        steps.ask(name, lambda offset=offset: _cut(admin, offset))


def _cut(admin: Any, offset: int) -> int:
    (future,) = admin.delete_records([TopicPartition("rdg-wide", 0, offset)]).values()
    low: int = future.result(PATIENCE_S).low_watermark
    return low


def _listed_offset(admin: Any, spec: Any) -> list[Any]:
    (future,) = admin.list_offsets({TopicPartition("rdg-wide", 0): spec}).values()
    found = future.result(PATIENCE_S)
    return [found.offset, found.timestamp]


@contextmanager
def _sharing(given: Given) -> Iterator[Any]:
    with contextlib.closing(_CLIENT.ShareConsumer(given)) as consumer:
        yield consumer


def share_groups(side: Side) -> Shown:
    """Records that are accepted, released and rejected, and whose member leaves."""
    steps = Steps(side)
    create_topics(side, "rds", "plain")
    with SyncAdminClient(side.bootstrap) as admin:
        earliest = {"share.auto.offset.reset": "earliest"}
        admin.alter_configs([ConfigChange(resource=ConfigResource("group", "rds"), set=earliest)])
    side.wait_for_brokers()
    sent(config(side), "rds-plain", ROWS)
    kinds = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT,
             AcknowledgeType.RELEASE)  # fmt: skip
    given = {
        "bootstrap.servers": side.bootstrap, "group.id": "rds", "log_level": 0,
        "share.acknowledgement.mode": "explicit",
    }  # fmt: skip
    with _sharing(given) as one:
        one.subscribe(["rds-plain"])
        first = _acquired(one, 4)
        steps.keep("acquired", list(map(_delivery, first)))
        for message, kind in zip(first, kinds, strict=True):
            one.acknowledge(message, kind)
        steps.ask("acknowledged", lambda: _committed(one))
        steps.ask("described", lambda: _described_share(side))
        again = _acquired(one, 2)
        steps.keep("acquired again", list(map(_delivery, again)))
        steps.ask("left open", lambda: one.commit_sync())
    with _sharing(given) as two:
        two.subscribe(["rds-plain"])
        last = _acquired(two, 2)
        steps.keep("of who has left", list(map(_delivery, last)))
        for message in last:
            two.acknowledge(message, AcknowledgeType.ACCEPT)
        steps.ask("accepted", lambda: _committed(two))
        steps.ask("accepted twice", lambda: two.acknowledge(last[0], AcknowledgeType.ACCEPT))
    implicit = {**given, "share.acknowledgement.mode": "implicit"}
    with _sharing(implicit) as three:
        three.subscribe(["rds-plain"])
        sent(config(side), "rds-plain", ROWS[:1])
        steps.ask("implicitly", lambda: list(map(_delivery, _acquired(three, 1))))
    with _sharing(given) as four:
        four.subscribe(["rds-plain"])
        sent(config(side), "rds-plain", ROWS[1:2])
        steps.ask("and no more", lambda: list(map(_delivery, _acquired(four, 1))))
    return steps.shown


def _acquired(consumer: Any, count: int) -> list[Any]:
    found: list[Any] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        found += consumer.poll(0.5)
    return found


def _delivery(message: Any) -> Any:
    count = message.delivery_count() if hasattr(message, "delivery_count") else None
    return [*record(message), count]


def _committed(consumer: Any) -> Any:
    """The error of each partition whose acknowledgements were sent."""
    found = consumer.commit_sync()
    return sorted((str(place), str(error)) for place, error in (found or {}).items())


def _described_share(side: Side) -> Any:
    with SyncAdminClient(side.bootstrap) as admin:
        (found,) = admin.describe_groups(["rds"])
    return [found.type, found.state, found.protocol, len(found.members)]


SCRIPTS: dict[str, Callable[[Side], Shown]] = {
    "groups": groups,
    "consumer groups": consumer_groups,
    "share groups": share_groups,
}
