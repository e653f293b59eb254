"""Waiting until a condition of a test holds, and what to say if it does not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator, Iterable
from inspect import isawaitable
from typing import TYPE_CHECKING, TypeVar

from kafka_admin_proto.arguments import is_time
from kafka_admin_proto.wire.types.base import shown

if TYPE_CHECKING:
    from kafka_admin_proto.server.inspection.asked_requests import AskedRequest
    from kafka_admin_proto.server.state import State

_T = TypeVar("_T")

#: Between two looks at a condition.
PAUSE_S = 0.01
#: So many topics and requests are named when the time is over.
_NAMED = 10


def until(
    condition: Callable[[], _T], timeout: float, now: Callable[[], str]
) -> Generator[None, None, _T]:
    """Ask a condition until it is true, which is the result; yields where the caller is to pause.

    A ValueError of the condition, as for a topic that is not there yet, counts as not true. Raises
    TimeoutError, which says what there is ``now``, TypeError for no condition or no number, and
    ValueError for a number that is no time.
    """
    if not callable(condition):
        raise TypeError(f"wait_for takes a function without arguments, not {shown(condition)}")
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"timeout is a number of seconds, not {shown(timeout)}")
    if not is_time(timeout):
        raise ValueError(f"timeout is 0 or more seconds, not {shown(timeout)}")
    ends = time.monotonic() + timeout
    while True:
        reason = ""
        try:
            result = condition()
        except ValueError as error:
            reason = f" ({error})"
        else:
            if isawaitable(result):
                if isinstance(result, Coroutine):
                    result.close()  # or Python would say that nobody awaited it
                raise TypeError(
                    "wait_for takes a function without async: its result is looked at, not awaited"
                )
            if result:
                return result
        if time.monotonic() >= ends:
            raise TimeoutError(f"the condition did not hold within {timeout:g} s{reason}; {now()}")
        yield


async def held(looks: Generator[None, None, _T]) -> _T:
    """The result of ``until``, with pauses of the running event loop."""
    while True:
        try:
            next(looks)
        except StopIteration as end:
            found: _T = end.value
            return found
        await asyncio.sleep(PAUSE_S)


def summary(state: State, requests: Iterable[AskedRequest]) -> str:
    """The topics with their numbers of records, and the last requests."""
    counts = []
    for name in sorted(state.topic_names):
        topic = state.topic(name)
        assert topic is not None
        if state.metadata_log is not None:  # the records are with other processes
            counts.append(name)
            continue
        logs = [state.partitions.log(topic, number).log for number in topic.partitions]
        counts.append(f"{name} {sum(each.high_watermark - each.start_offset for each in logs)}")
    asked = [f"{each.api} v{each.version} of {each.client_id!r}" for each in requests]
    return (
        f"records by topic: {_some(counts, len(counts)) or 'no topics'}; "
        f"last requests: {_some(asked[-_NAMED:], len(asked)) or 'none'}"
    )


def _some(texts: list[str], count: int) -> str:
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    return ", ".join(texts[:_NAMED]) + more
