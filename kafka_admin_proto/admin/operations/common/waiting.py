"""Waiting until every live broker has a change, which takes longer than the controller's answer.

    find = in_metadata(caller, missing)
    left = await wait_for_all_brokers(caller, ["orders"], find, timeout=10)

``left`` has an entry for each topic, or (topic, partition), that some broker did not have as asked
when the time was over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.admin.operations.common.item_retries import R, replaced
from kafka_admin_proto.admin.operations.common.metadata import metadata_of_names
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.protocol import codes


class Missing(msgspec.Struct, frozen=True):
    """One thing that a broker did not have as asked when the time was over; it may still come.

    ``text`` is a sentence about it, and ``str`` puts the broker in front. ``partition`` is None
    for the topic as a whole, ``broker`` where it is not known which brokers there are.
    """

    topic: str
    text: str
    partition: int | None = None
    broker: int | None = None

    def __str__(self) -> str:
        return self.text if self.broker is None else f"broker {self.broker}: {self.text}"


def missing_in_partition(topic: str, partition: int, fault: str) -> Missing:
    """A fault of one partition, which the sentence names."""
    return Missing(topic, f"partition {partition} of topic {topic!r} {fault}", partition)


def missing_partitions(
    topic: str, leaders: Mapping[int, int | None] | None, count: int
) -> Iterator[Missing]:
    """The partitions that a broker does not know, or knows without a leader.

    ``leaders`` are those that it knows, by partition; None for a topic that it does not know.
    """
    if leaders is None:
        yield Missing(topic, f"topic {topic!r} is unknown")
        return
    if len(leaders) < count:
        yield Missing(
            topic, f"topic {topic!r} has {len(leaders)} of {counted(count, 'partitions')}"
        )
    for partition, leader in leaders.items():
        if leader is None:
            yield missing_in_partition(topic, partition, "has no leader")


#: Seconds between two requests to a broker: at first, and at most. Metadata usually reaches all
#: brokers of a KRaft cluster within 0.35 s.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5
#: Seconds for one request to a broker, and between two looks at which brokers are live.
_REQUEST_S, _LIVE_S = 5.0, 0.5

#: What is looked for on brokers: a topic by its name, or a partition.
K = TypeVar("K", str, Partition)
#: Takes an item and its topic in a broker's Metadata (None: the broker does not know it). Returns
#: each difference from what was asked for.
MissingInTopic = Callable[[K, MetadataResponseTopic | None], Iterable[Missing]]
#: Takes a broker, items and the seconds left. Returns what the broker lacks, by item.
FindMissing = Callable[[int, Sequence[K], float], Awaitable[dict[K, list[Missing]]]]


def in_metadata(caller: Caller, missing: MissingInTopic[K]) -> FindMissing[K]:
    """Look for items in a broker's Metadata.

    It raises BrokerError when the client may not describe a topic: no waiting would help.
    """

    async def find_missing(broker: int, asked: Sequence[K], left: float) -> dict[K, list[Missing]]:
        topics = await metadata_of_names(caller, map(topic_of, asked), to=broker, timeout=left)
        for name, topic in topics.items():
            if topic.error_code == codes.TOPIC_AUTHORIZATION_FAILED:
                raise BrokerError(topic.error_code, about={"topic": name})
        return {item: list(missing(item, topics.get(topic_of(item)))) for item in asked}

    return find_missing


def topic_of(item: K) -> str:
    """The topic of what is looked for."""
    return item if isinstance(item, str) else item[0]


def leaders_of(topic: MetadataResponseTopic | None) -> dict[int, int | None] | None:
    """The leaders by partition in a broker's Metadata, None for a topic that it does not know."""
    if topic is None:
        return None
    return {
        each.partition_index: None if each.leader_id < 0 else each.leader_id
        for each in topic.partitions
    }


async def wait_for_results(
    caller: Caller,
    results: Mapping[K, R],
    find_missing: FindMissing[K],
    deadline: Deadline,
    *,
    done: str = "the controller has taken it",
    unless: str | None = None,
) -> dict[K, R]:
    """The results of changes once every broker has them, or with what is missing at the end.

    Results with an error stay as they are, but for the error ``unless``: the controller may have
    done that work or may do it yet, and it is no error once every broker has the change. Where the
    client may not look, nothing is waited for. ``done`` begins the messages about this.
    """
    waited = {item: each for item, each in results.items() if each.error in (None, unless)}
    try:
        missing = await wait_for_all_brokers(caller, list(waited), find_missing, deadline.left)
    except BrokerError as why:
        return {**results} | {
            item: replaced(each, message=f"{each.message or done}, and not waited for: {why}")
            for item, each in waited.items()
            if each.error is None
        }
    finished = {**results}
    for item, result in waited.items():
        if lacks := missing.get(item):
            answer = (
                f"the controller answered {result.error}"
                if result.error
                else result.message or done
            )
            message = (
                f"{answer}, but not complete after {deadline.seconds:g} s: "
                f"{'; '.join(map(str, lacks))}; the rest may still come"
            )
            finished[item] = replaced(result, message=message, complete=False, missing=lacks)
        else:
            kept = None if result.error else result.message
            finished[item] = replaced(result, error=None, message=kept, complete=True)
    return finished


async def wait_for_all_brokers(
    caller: Caller, items: Sequence[K], find_missing: FindMissing[K], timeout: float
) -> dict[K, list[Missing]]:
    """Ask each live broker for these items until nothing is missing or ``timeout`` (s) is over.

    Returns what was missing at the end, by item and with its broker; empty when all is as asked.
    A broker that ends in the meantime is left out. Raises what ``find_missing`` does with
    BrokerError.
    """
    if not items:
        return {}
    deadline = Deadline(timeout)
    try:
        brokers = list(await caller.brokers(refresh=True, timeout=deadline.left))
    except KafkaAdminProtoError as error:
        return _each_lacks(items, f"the brokers are not known: {error}")
    tasks: dict[int, asyncio.Task[dict[K, list[Missing]]]] = {
        broker: asyncio.ensure_future(_wait_for_broker(broker, items, find_missing, deadline))
        for broker in brokers
    }
    ended = asyncio.ensure_future(_cancel_ended(caller, tasks, deadline))
    try:
        await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for each in (*tasks.values(), ended):
            each.cancel()
        await asyncio.gather(*tasks.values(), ended, return_exceptions=True)
    left: dict[K, list[Missing]] = {}
    for broker, task in tasks.items():
        found = {} if task.cancelled() else task.result()
        for item, lacks in found.items():
            named = (msgspec.structs.replace(one, broker=broker) for one in lacks)
            left.setdefault(item, []).extend(named)
    return left


async def _wait_for_broker(
    broker: int, items: Sequence[K], find_missing: FindMissing[K], deadline: Deadline
) -> dict[K, list[Missing]]:
    """What this broker lacks at the end; an item that it has had as asked is not read again."""
    pause = _FIRST_PAUSE_S
    waiting = _each_lacks(items, "it was not asked in time")
    while waiting and not deadline.is_over:
        asked = list(waiting)
        try:
            found = await find_missing(broker, asked, min(deadline.left, _REQUEST_S))
            waiting = {item: lacks for item, lacks in found.items() if lacks}
        except BrokerError:
            raise
        except KafkaAdminProtoError as error:
            waiting = _each_lacks(asked, f"it does not answer: {error}")
        if waiting:
            await asyncio.sleep(min(pause, deadline.left))
            pause = min(2 * pause, _LONGEST_PAUSE_S)
    return waiting


def _each_lacks(items: Sequence[K], text: str) -> dict[K, list[Missing]]:
    return {item: [Missing(topic_of(item), text)] for item in items}


async def _cancel_ended(
    caller: Caller, tasks: Mapping[int, asyncio.Task[Any]], deadline: Deadline
) -> None:
    """Cancel the waiting for each broker that is not live any more, its request included."""
    while True:
        await asyncio.sleep(_LIVE_S)
        try:
            live = await caller.brokers(refresh=True, timeout=min(deadline.left, _REQUEST_S))
        except KafkaAdminProtoError:
            continue
        for broker in tasks.keys() - live.keys():
            tasks[broker].cancel()
