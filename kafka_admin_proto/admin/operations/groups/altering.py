"""What a group's coordinator answers to a change of several of the group's offsets or members."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Generic

import msgspec

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.operations.common.coordinators import KeyType, ask_coordinators
from kafka_admin_proto.admin.operations.common.failures import NONE, Failure, answer_of
from kafka_admin_proto.admin.operations.common.item_retries import K
from kafka_admin_proto.admin.retry import TRANSIENT


class Altered(msgspec.Struct, Generic[K], frozen=True):
    """The failure of each item, Nones for none; ``error`` is that of the whole group."""

    failures: Mapping[K, Failure]
    error: str | None = None
    message: str | None = None


def altered(failures: Mapping[K, Failure], whole: Failure = NONE) -> Altered[K]:
    """A coordinator that has moved or is loading says so in each item, or of the group.

    Where the group has failed no item was altered, whatever is said of it, as in Java's Admin.
    """
    if whole["error"] is not None:
        return Altered({}, **whole)
    passing = (each for each in failures.values() if each["error"] in TRANSIENT)
    return Altered(failures, **next(passing, whole))


async def alter(
    caller: Caller,
    group: str,
    items: Iterable[K],
    ask: Callable[[int, float], Awaitable[Altered[K]]],
    timeout: float | None,
) -> list[Failure]:
    """The failure of each item, in order; ``ask(broker, seconds)`` asks a coordinator."""

    async def ask_one(broker: int, _: list[str], seconds: float) -> Mapping[str, Altered[K]]:
        return {group: await ask(broker, seconds)}

    (altered,) = await ask_coordinators(
        caller, [group], KeyType.GROUP, ask_one, lambda _, why: Altered({}, **why), timeout=timeout
    )
    whole = Failure(error=altered.error, message=altered.message)
    return [
        answer_of(each, altered.failures)
        if altered.error is None or each in altered.failures
        else whole
        for each in items
    ]
