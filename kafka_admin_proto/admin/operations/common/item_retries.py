"""Requests for several items, of which those with a transient error are sent again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from kafka_admin_proto.admin.caller import Caller, call_deadline
from kafka_admin_proto.admin.retry import TRANSIENT, Deadline
from kafka_admin_proto.errors import KafkaAdminProtoError


class ItemResult(Protocol):
    """What an operation returns for one of its items: a struct with these and more fields."""

    @property
    def error(self) -> str | None: ...

    @property
    def message(self) -> str | None: ...


K = TypeVar("K", bound=Hashable)
R = TypeVar("R", bound=ItemResult)


def replaced(result: R, **fields: object) -> R:
    """A copy of a result with other values of some fields."""
    # R is bound to a protocol, of which mypy cannot know that its classes are Structs.
    copy: R = msgspec.structs.replace(result, **fields)  # type: ignore[type-var]
    return copy


async def retry_items(
    caller: Caller,
    items: Sequence[K],
    attempt: Callable[[list[K], float], Awaitable[Mapping[K, R]]],
    *,
    timeout: float | None = None,
    transient: frozenset[str] = TRANSIENT,
) -> dict[K, R]:
    """The results of all items, those with a transient error asked for again.

    ``attempt(items, seconds_left)`` makes one request for these items alone and returns a result
    for each. Results without a transient error are kept and never asked for again. ``timeout`` is
    for all attempts together, the client's own by default; when it is over, the last results are
    returned with the errors that they have. An exception of the first attempt is raised; one of a
    later attempt would hide results that are known, and is added to the message of those items.
    """
    deadline = call_deadline(caller, timeout)
    results = dict(await attempt(list(items), deadline.left))
    attempts = 1
    while again := [item for item in items if item in results and results[item].error in transient]:
        pause = caller.backoff.pause(attempts)
        if pause >= deadline.left:
            break
        await asyncio.sleep(pause)
        attempts += 1
        try:
            results.update(await attempt(again, deadline.left))
        except KafkaAdminProtoError as error:
            for item in again:
                results[item] = _with_note(results[item], error)
            break
    return {item: results[item] for item in items if item in results}


async def retry_batches(
    caller: Caller,
    batches: Iterable[Sequence[K]],
    attempt: Callable[[list[K], float], Awaitable[Mapping[K, R]]],
    failed: Callable[[K, KafkaAdminProtoError], R],
    *,
    deadline: Deadline,
) -> dict[K, R]:
    """``retry_items`` for one batch after the other, all of them within ``deadline``.

    An exception of the first batch is raised. One of a later batch would hide results that are
    known: ``failed(item, error)`` is then the result of each item of that batch.
    """
    results: dict[K, R] = {}
    for batch in batches:
        try:
            results |= await retry_items(caller, batch, attempt, timeout=deadline.left)
        except KafkaAdminProtoError as error:
            if not results:
                raise
            results |= {item: failed(item, error) for item in batch}
    return results


def _with_note(result: R, error: KafkaAdminProtoError) -> R:
    before = f"{result.message}; " if result.message else ""
    return replaced(result, message=f"{before}asked again, and that failed: {error}")
