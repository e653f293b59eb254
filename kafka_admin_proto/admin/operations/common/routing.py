"""Items that each belong to one broker: it is looked up, asked, and looked up again if it moved."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from kafka_admin_proto.admin.caller import Caller, call_deadline
from kafka_admin_proto.admin.errors import ConnectionFailedError, ConnectionLostError
from kafka_admin_proto.admin.operations.common.failures import (
    Failure,
    answer_of,
    failure,
    failure_of,
    note_lost_answer,
)
from kafka_admin_proto.admin.operations.common.item_retries import K, R, replaced, retry_items
from kafka_admin_proto.admin.operations.common.metadata import metadata_of_names
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.admin.retry import TRANSIENT, Deadline
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.protocol import codes

_V = TypeVar("_V")

#: Errors after which the broker of an item is looked up again: it may have a successor.
_RETRIED = TRANSIENT | {ConnectionFailedError.__name__, ConnectionLostError.__name__}


class BrokerFailure(msgspec.Struct, frozen=True):
    """A broker that could not be asked, or answered with an error."""

    broker: int
    error: str
    message: str | None = None


async def ask_brokers(
    caller: Caller,
    items: Sequence[K],
    find_brokers: Callable[[list[K], float], Awaitable[Mapping[K, int | Failure]]],
    ask: Callable[[int, list[K], float], Awaitable[Mapping[K, R]]],
    failed: Callable[[K, Failure], R],
    *,
    timeout: float | None,
    error_when_done: str = "",
) -> list[R]:
    """The results of all items, in order, each from the broker that it belongs to.

    ``find_brokers(items, seconds_left)`` returns the broker of each, or why there is none;
    ``ask(broker, items, seconds_left)`` asks one broker about all items that it has. Brokers are
    asked side by side. Items whose error is transient, or whose broker cannot be reached, are
    looked up and asked again until the time is over. ``failed(item, failure)`` makes the result of
    an item without an answer. Where no item has an answer, the exception is raised.

    ``error_when_done`` is the error of an item whose work is done already: its message says so
    where an earlier attempt's answer was lost. ``ask`` makes its requests by ``Caller.call_owner``.
    """
    exceptions: dict[K, KafkaAdminProtoError] = {}
    lost: set[K] = set()

    async def attempt(pending: list[K], seconds: float) -> Mapping[K, R]:
        deadline = Deadline(seconds)
        brokers = await find_brokers(pending, seconds)
        by_broker: dict[int, list[K]] = {}
        results: dict[K, R] = {}
        for item in pending:
            exceptions.pop(item, None)
            broker_or_failure = answer_of(item, brokers)
            if isinstance(broker_or_failure, int):
                by_broker.setdefault(broker_or_failure, []).append(item)
            else:
                results[item] = failed(item, broker_or_failure)

        async def ask_one(broker: int, mine: list[K]) -> None:
            try:
                answers = await ask(broker, mine, deadline.left)
                results.update({item: answer_of(item, answers) for item in mine})
            except KafkaAdminProtoError as error:
                for item in mine:
                    exceptions[item] = error
                    if isinstance(error, ConnectionLostError) and error.may_have_acted:
                        lost.add(item)
                    results[item] = failed(item, failure_of(error))

        await asyncio.gather(*(ask_one(broker, mine) for broker, mine in by_broker.items()))
        return results

    unique = list(dict.fromkeys(items))
    if not unique:
        return []
    results = await retry_items(caller, unique, attempt, timeout=timeout, transient=_RETRIED)
    if exceptions.keys() == results.keys():
        raise next(iter(exceptions.values()))
    for item in lost:
        result = results[item]
        why = Failure(error=result.error, message=result.message)
        results[item] = replaced(result, **note_lost_answer(why, True, error_when_done))
    return [results[item] for item in unique]


async def ask_every_broker(
    caller: Caller,
    ask: Callable[[int, float], Awaitable[_V | BrokerFailure]],
    *,
    timeout: float | None,
) -> tuple[list[_V], list[BrokerFailure]]:
    """What each live broker answers, side by side, and the brokers that failed.

    ``ask(broker, seconds_left)`` asks one. A transient error is asked again until the time is over;
    a broker that cannot be reached only as long as the cluster counts it as live. No failure is
    raised, not even where there is no answer at all.
    """
    deadline = call_deadline(caller, timeout)
    brokers = sorted(await caller.brokers(timeout=deadline.left))
    answers = await asyncio.gather(*(_answer(caller, each, ask, deadline) for each in brokers))
    good = [answer for answer in answers if not isinstance(answer, BrokerFailure)]
    return good, [answer for answer in answers if isinstance(answer, BrokerFailure)]


async def _answer(
    caller: Caller,
    broker: int,
    ask: Callable[[int, float], Awaitable[_V | BrokerFailure]],
    deadline: Deadline,
) -> _V | BrokerFailure:
    attempts = 0
    while True:
        try:
            return await ask(broker, deadline.left)
        except KafkaAdminProtoError as error:
            attempts += 1
            pause = caller.backoff.pause(attempts)
            why = failure_of(error)
            failed = BrokerFailure(broker, why["error"] or type(error).__name__, why["message"])
            if failed.error not in _RETRIED or pause >= deadline.left:
                return failed
            if isinstance(error, ConnectionFailedError) and not await _is_live(
                caller, broker, deadline
            ):
                return failed
        await asyncio.sleep(pause)


async def _is_live(caller: Caller, broker: int, deadline: Deadline) -> bool:
    """Whether the cluster counts the broker as live; False if no broker can be asked."""
    try:
        return broker in await caller.brokers(refresh=True, timeout=deadline.left)
    except KafkaAdminProtoError:
        return False


async def ask_leaders(
    caller: Caller,
    partitions: Sequence[Partition],
    ask: Callable[[int, list[Partition], float], Awaitable[Mapping[Partition, R]]],
    failed: Callable[[Partition, Failure], R],
    *,
    timeout: float | None,
) -> list[R]:
    """The results of all partitions, in order, each from its leader; see ``ask_brokers``.

    A partition without a leader has LEADER_NOT_AVAILABLE when the time is over.
    """

    async def find(pending: list[Partition], seconds: float) -> Mapping[Partition, int | Failure]:
        names = {topic for topic, _ in pending}
        topics = await metadata_of_names(caller, names, timeout=seconds)
        return {each: _leader(topics.get(each[0]), each[1]) for each in pending}

    return await ask_brokers(caller, partitions, find, ask, failed, timeout=timeout)


def _leader(topic: MetadataResponseTopic | None, partition: int) -> int | Failure:
    if topic is None:
        return failure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    if topic.error_code:
        return failure(topic.error_code)
    rows = [each for each in topic.partitions if each.partition_index == partition]
    if not rows:
        return failure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    if rows[0].leader_id < 0:
        return failure(rows[0].error_code or codes.LEADER_NOT_AVAILABLE)
    return rows[0].leader_id
