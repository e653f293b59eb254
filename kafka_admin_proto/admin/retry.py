"""When to ask again: pauses that grow, a point in time when all is over, and items that failed."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.protocol.error_codes import find_error

if TYPE_CHECKING:
    from kafka_admin_proto.admin.caller import Caller

#: Kafka's errors that pass by themselves within seconds, and with which nothing has been done.
#: Others that Kafka calls retriable are answers: UNKNOWN_TOPIC_OR_PARTITION for a topic that does
#: not exist, REQUEST_TIMED_OUT for a request that may have acted, ELECTION_NOT_NEEDED.
TRANSIENT = frozenset(
    {
        "LEADER_NOT_AVAILABLE",
        "NOT_LEADER_OR_FOLLOWER",
        "NETWORK_EXCEPTION",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "NOT_CONTROLLER",
        "CONCURRENT_TRANSACTIONS",
        "FENCED_LEADER_EPOCH",
        "UNKNOWN_LEADER_EPOCH",
        "OFFSET_NOT_AVAILABLE",
        "UNSTABLE_OFFSET_COMMIT",
        "THROTTLING_QUOTA_EXCEEDED",
    }
)


class ItemResult(Protocol):
    """What an operation returns for one of its items: a struct with these and more fields."""

    @property
    def error(self) -> str | None: ...

    @property
    def message(self) -> str | None: ...


K = TypeVar("K", bound=Hashable)
R = TypeVar("R", bound=ItemResult)


class Backoff(msgspec.Struct, frozen=True):
    """Pauses between attempts: each twice as long as the one before, up to the longest.

    They vary by ``jitter`` (0.2 is up to a fifth, shorter or longer), so that many clients do not
    come back at once. The longest is never exceeded. The defaults are those of Kafka's clients.
    """

    first_s: float = 0.1
    longest_s: float = 1.0
    jitter: float = 0.2

    def pause(self, attempts: int) -> float:
        """Seconds to wait after that number of failed attempts in a row, counted from 1."""
        doubled = self.first_s * 2.0 ** min(attempts - 1, 62)
        varied = doubled * random.uniform(1 - self.jitter, 1 + self.jitter)
        return float(min(varied, self.longest_s))


class Deadline:
    """A point in time, ``seconds`` from now, for all attempts together.

    Infinity is no end; ValueError for what is no number.
    """

    def __init__(self, seconds: float) -> None:
        if math.isnan(seconds):
            raise ValueError("a timeout is a number of seconds, not nan; math.inf never ends")
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, 0 when it is over."""
        return max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.left <= 0


def is_transient(code: int) -> bool:
    """Whether an answer with that error code is worth the same question again."""
    found = find_error(code)
    return found is not None and found.name in TRANSIENT


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
    deadline = Deadline(caller.default_timeout if timeout is None else timeout)
    results = dict(await attempt(list(items), deadline.seconds))
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
    said = f"{result.message}; " if result.message else ""
    note = f"{said}asked again, and that failed: {error}"
    # ItemResult is a protocol, and mypy cannot know that all results are Structs.
    replaced: R = msgspec.structs.replace(result, message=note)  # type: ignore[type-var]
    return replaced
