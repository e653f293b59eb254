"""Timeouts: the part that a request gives the broker, and what a change is waited for."""

from __future__ import annotations

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.operations.common.failures import Failure
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.protocol import api_keys

#: The error of a controller whose time was over: it may have done the work, or may do it yet.
REQUEST_TIMED_OUT = "REQUEST_TIMED_OUT"

#: The part of the time left that the answer has for its way back: a tenth, at most a second.
_ANSWER_SHARE, _ANSWER_S = 0.1, 1.0
_INT32_MAX = (1 << 31) - 1
#: Seconds for a request after the deadline is over: 0 would mean not to wait.
LEAST_S = 0.001


def wire_timeout_ms(left: float) -> int:
    """The broker's part of ``left`` seconds, so that its REQUEST_TIMED_OUT arrives in time."""
    own = left - min(left * _ANSWER_SHARE, _ANSWER_S)
    return int(min(max(1, own * 1000), _INT32_MAX))  # in this order: there may be no end


def waiting_time(caller: Caller, timeout: float | None) -> tuple[float, Deadline]:
    """Seconds that a change is waited for on all brokers, and the end of the whole call.

    Both are the client's own timeout where ``timeout`` is None. With 0 or less nothing is waited
    for, and the requests themselves have the client's own.
    """
    seconds = caller.default_timeout if timeout is None else timeout
    return seconds, Deadline(caller.default_timeout if seconds <= 0 else seconds)


def waiting_time_left(timeout: float, deadline: Deadline) -> float:
    """Seconds that are left for the next part of a change: never 0 where it is waited for."""
    return max(deadline.left, LEAST_S) if timeout > 0 else timeout


def taken(why: Failure, trigger: bool) -> Failure:
    """The failure of an item; none where its work was only to be started (``triggers_only``)."""
    if trigger and why["error"] == REQUEST_TIMED_OUT:
        note = "the controller has taken the request and does not wait"
        return Failure(error=None, message=note)
    return why


async def triggers_only(caller: Caller, timeout: float) -> bool:
    """Whether the request is sent with a timeout of 0, which only starts the work.

    With ZooKeeper a controller then starts the work and answers REQUEST_TIMED_OUT. A KRaft
    controller answers the same and has done nothing; it needs some time, and never waits for the
    brokers anyway.
    """
    return timeout <= 0 and api_keys.DESCRIBE_QUORUM not in await caller.versions(Target.ANY)
