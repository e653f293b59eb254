"""Waiting until every live broker has a change, which takes longer than the controller's answer.

    left = await every_broker_sees(caller, ["orders"], missing, timeout=10)

``left`` has an entry for each topic that some broker did not have as asked when the time was over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.admin.operations.common.metadata import (
    TOPIC_AUTHORIZATION_FAILED,
    metadata_of_names,
    slices,
)
from kafka_admin_proto.admin.operations.common.timeouts import live_brokers
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic

#: Seconds between two requests to a broker: at first, and at most. Metadata usually reaches all
#: brokers of a KRaft cluster within 0.35 s.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5
#: Seconds for one request, after which the client checks whether the broker is still live.
_REQUEST_S = 5.0

#: Takes a topic's name and its part of a broker's Metadata (None: the broker does not know it).
#: Returns a sentence for each difference from what was asked for, without the broker's name.
Missing = Callable[[str, MetadataResponseTopic | None], Iterable[str]]
#: Takes a broker, items and the seconds left. Returns sentences for what the broker lacks, by item.
FindMissing = Callable[[int, Sequence[str], float], Awaitable[dict[str, list[str]]]]


async def every_broker_sees(
    caller: Caller, names: Sequence[str], missing: Missing, *, timeout: float
) -> dict[str, list[str]]:
    """Ask each live broker for these topics until nothing is missing or ``timeout`` (s) is over.

    Returns what was missing at the end, by topic, each sentence with its broker in front; empty
    when all is as asked. A broker that ends in the meantime is left out. Raises BrokerError when
    the client may not describe a topic: no waiting would help.
    """

    async def find_missing(broker: int, asked: Sequence[str], left: float) -> dict[str, list[str]]:
        found = {}
        for some in slices(asked):
            answer = await metadata_of_names(caller, some, to=broker, timeout=left)
            for name in some:
                topic = answer.get(name)
                if topic is not None and topic.error_code == TOPIC_AUTHORIZATION_FAILED:
                    raise BrokerError(topic.error_code, context=f"topic {name!r}")
                found[name] = list(missing(name, topic))
        return found

    return await wait_for_all_brokers(caller, names, find_missing, timeout)


async def wait_for_all_brokers(
    caller: Caller, items: Sequence[str], find_missing: FindMissing, timeout: float
) -> dict[str, list[str]]:
    """Call ``find_missing`` for each live broker until nothing is missing; the rest at the end.

    Otherwise as ``every_broker_sees``.
    """
    if not items:
        return {}
    deadline = Deadline(timeout)
    try:
        brokers = list(await live_brokers(caller, deadline))
    except KafkaAdminProtoError as error:
        return {item: [f"the brokers are not known: {error}"] for item in items}
    tasks = [
        asyncio.ensure_future(_wait_for_broker(caller, broker, items, find_missing, deadline))
        for broker in brokers
    ]
    try:
        answers = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    left: dict[str, list[str]] = {}
    for broker, answer in zip(brokers, answers, strict=True):
        for item, sentences in answer.items():
            left.setdefault(item, []).extend(f"broker {broker}: {each}" for each in sentences)
    return left


async def _wait_for_broker(
    caller: Caller, broker: int, items: Sequence[str], find_missing: FindMissing, deadline: Deadline
) -> dict[str, list[str]]:
    """What this broker lacks at the end; an item that it has had as asked is not read again."""
    pause = _FIRST_PAUSE_S
    waiting = {item: ["it was not asked in time"] for item in items}
    while waiting and not deadline.is_over:
        try:
            found = await find_missing(broker, list(waiting), min(deadline.left, _REQUEST_S))
            waiting = {item: sentences for item, sentences in found.items() if sentences}
        except BrokerError:
            raise
        except KafkaAdminProtoError as error:
            if await _has_ended(caller, broker, deadline):
                return {}
            waiting = {item: [f"it does not answer: {error}"] for item in waiting}
        if waiting:
            await asyncio.sleep(min(pause, deadline.left))
            pause = min(2 * pause, _LONGEST_PAUSE_S)
    return waiting


async def _has_ended(caller: Caller, broker: int, deadline: Deadline) -> bool:
    try:
        return broker not in await live_brokers(caller, deadline)
    except KafkaAdminProtoError:
        return False


def not_waited_for_message(error: BrokerError) -> str:
    """The message of a result whose effect the client may not look at."""
    return f"the controller has taken it, and it is not waited for: {error}"


def incomplete_message(
    missing: list[str], deadline: Deadline, answer: str = "the controller has taken it"
) -> str:
    """The message of a result that is not complete in time."""
    return (
        f"{answer}, but it is not complete after {deadline.seconds:g} s: "
        f"{'; '.join(missing)}; the rest may still come"
    )
