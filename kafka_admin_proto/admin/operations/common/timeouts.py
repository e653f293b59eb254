"""An operation's timeout, as requests carry it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from kafka_admin_proto.admin.caller import Broker, Caller, Target
from kafka_admin_proto.admin.errors import RequestTimedOutError
from kafka_admin_proto.admin.retry import Deadline

#: What a controller answers when its time was over: it may have done the work, or may yet.
LATE = "REQUEST_TIMED_OUT"

#: Only brokers of KRaft clusters have DescribeQuorum.
_DESCRIBE_QUORUM = 55
#: Of the time that is left, what an answer has to come back: a tenth, and a second at most.
_ANSWER_SHARE, _ANSWER_S = 0.1, 1.0
_INT32_MAX = (1 << 31) - 1


def wire_timeout_ms(left: float) -> int:
    """What the broker may take, out of ``left`` seconds: its own REQUEST_TIMED_OUT is to arrive."""
    own = left - min(left * _ANSWER_SHARE, _ANSWER_S)
    return int(min(max(1, own * 1000), _INT32_MAX))  # in this order: there may be no end


async def triggers_only(caller: Caller, timeout: float) -> bool:
    """Whether a timeout of 0 goes to the controller as such.

    With ZooKeeper a controller then starts the work and answers REQUEST_TIMED_OUT. A KRaft
    controller answers the same and has done nothing; it needs some time, and never waits for the
    brokers anyway.
    """
    return timeout <= 0 and _DESCRIBE_QUORUM not in await caller.versions(Target.ANY)


async def live_brokers(
    caller: Caller, deadline: Deadline, *, refresh: bool = True
) -> Mapping[int, Broker]:
    """The live brokers, read anew; RequestTimedOutError when the deadline is over first.

    Without ``refresh`` they are those that the client knows of, if it does.
    """
    try:
        async with asyncio.timeout(deadline.left):
            return await caller.brokers(refresh=refresh)
    except RequestTimedOutError:  # it says what was being waited for
        raise
    except TimeoutError as error:
        raise RequestTimedOutError(
            f"no broker said within {deadline.seconds:g} s which ones are live: give more time"
        ) from error
