"""When a request is sent again: transient errors, the pauses between attempts, the deadline."""

from __future__ import annotations

import random
import time

import msgspec

from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.protocol.error_codes import find_error

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


class Left(float):
    """Seconds that are left of a deadline; ``given_s`` is what its user gave, for sentences."""

    given_s: float


class Deadline:
    """A point in time, ``seconds`` from now, for all attempts together.

    ``math.inf`` never ends. Raises InstructionError for nan and negative numbers.
    """

    def __init__(self, seconds: float) -> None:
        if not seconds >= 0:  # nan as well
            raise InstructionError(
                f"a timeout is a number of seconds, 0 or more, not {seconds:g}; math.inf never ends"
            )
        #: What the user gave, also where this is what was left of another deadline.
        self.seconds: float = seconds.given_s if isinstance(seconds, Left) else seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> Left:
        """Seconds that are left, 0 when it is over."""
        found = Left(max(0.0, self._end - time.monotonic()))
        found.given_s = self.seconds
        return found

    @property
    def half(self) -> float:
        """Half the seconds that are left, for a step that leaves the rest to those behind it."""
        return self.left / 2

    @property
    def is_over(self) -> bool:
        return self.left <= 0


def is_transient(code: int) -> bool:
    """Whether an answer with that error code is worth the same question again."""
    found = find_error(code)
    return found is not None and found.name in TRANSIENT
