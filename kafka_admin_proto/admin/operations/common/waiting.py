"""Waiting until every live broker has what was asked for: a controller's answer comes before that.

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

#: Seconds between two questions to a broker: at first, and at most. Metadata usually reaches all
#: brokers of a KRaft cluster within 0.35 s.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5
#: Seconds that one question may take before it is looked whether the broker still lives.
_QUESTION_S = 5.0

#: Of a topic's name and what a broker's Metadata has of it (None: nothing), what is not as asked:
#: sentences without the broker's name.
Missing = Callable[[str, MetadataResponseTopic | None], Iterable[str]]
#: What one broker lacks of the items: sentences by item. The float is the seconds that are left.
Look = Callable[[int, Sequence[str], float], Awaitable[dict[str, list[str]]]]


async def every_broker_sees(
    caller: Caller, names: Sequence[str], missing: Missing, *, timeout: float
) -> dict[str, list[str]]:
    """Ask each live broker for these topics until nothing is missing or ``timeout`` (s) is over.

    Returns what was missing at the end, by topic, each sentence with its broker in front; empty
    when all is as asked. A broker that ends in the meantime is left out. Raises BrokerError when
    the client may not describe a topic: no waiting would help.
    """

    async def look(broker: int, asked: Sequence[str], left: float) -> dict[str, list[str]]:
        found = {}
        for some in slices(asked):
            answer = await metadata_of_names(caller, some, to=broker, timeout=left)
            for name in some:
                topic = answer.get(name)
                if topic is not None and topic.error_code == TOPIC_AUTHORIZATION_FAILED:
                    raise BrokerError(topic.error_code, context=f"topic {name!r}")
                found[name] = list(missing(name, topic))
        return found

    return await until_all_brokers(caller, names, look, timeout)


async def until_all_brokers(
    caller: Caller, items: Sequence[str], look: Look, timeout: float
) -> dict[str, list[str]]:
    """Look at each live broker until nothing is missing, as ``every_broker_sees``."""
    if not items:
        return {}
    deadline = Deadline(timeout)
    try:
        brokers = list(await live_brokers(caller, deadline))
    except KafkaAdminProtoError as error:
        return {item: [f"the brokers are not known: {error}"] for item in items}
    tasks = [
        asyncio.ensure_future(_until_one(caller, broker, items, look, deadline))
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


async def _until_one(
    caller: Caller, broker: int, items: Sequence[str], look: Look, deadline: Deadline
) -> dict[str, list[str]]:
    """What this broker lacks at the end; an item that it had as asked is not looked at again."""
    pause = _FIRST_PAUSE_S
    waiting = {item: ["it was not asked in time"] for item in items}
    while waiting and not deadline.is_over:
        try:
            found = await look(broker, list(waiting), min(deadline.left, _QUESTION_S))
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
