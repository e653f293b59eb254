"""An operation's timeout, as requests carry it."""

from __future__ import annotations

from kafka_admin_proto.admin.caller import Caller, Target

#: Only brokers of KRaft clusters have DescribeQuorum.
_DESCRIBE_QUORUM = 55
#: Of the time that is left, what an answer has to come back: a tenth, and a second at most.
_ANSWER_SHARE, _ANSWER_S = 0.1, 1.0
_INT32_MAX = (1 << 31) - 1


def wire_timeout_ms(left: float) -> int:
    """What the broker may take, out of ``left`` seconds: its own REQUEST_TIMED_OUT is to arrive."""
    own = left - min(left * _ANSWER_SHARE, _ANSWER_S)
    return min(max(1, int(own * 1000)), _INT32_MAX)


async def triggers_only(caller: Caller, timeout: float) -> bool:
    """Whether a timeout of 0 goes to the controller as such.

    With ZooKeeper a controller then starts the work and answers REQUEST_TIMED_OUT. A KRaft
    controller answers the same and has done nothing; it needs some time, and never waits for the
    brokers anyway.
    """
    return timeout <= 0 and _DESCRIBE_QUORUM not in await caller.versions(Target.ANY)
