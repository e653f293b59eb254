"""What an assignor is given, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

import msgspec

#: Partitions by topic.
Partitions = dict[UUID, list[int]]


class Subscriber(msgspec.Struct, frozen=True):
    """A member as an assignor sees it: the topics that it subscribes, and its last assignment.

    ``wanted`` is the number of these topics and of those that are missing.
    """

    instance_id: str | None
    wanted: int
    topics: Sequence[UUID]
    partitions: Mapping[UUID, Sequence[int]]


class Subscribers(msgspec.Struct, frozen=True):
    """The members of a group, in the order in which Kafka looks at them.

    ``are_equal``: all subscribe the same topics. ``counts`` are the numbers of partitions of all
    topics. ``owners`` are the members of the last assignment, which may have left.
    """

    members: Mapping[str, Subscriber]
    are_equal: bool
    counts: Mapping[UUID, int]
    owners: Mapping[tuple[UUID, int], str]


#: Gives the partitions of each member.
Assign = Callable[[Subscribers], dict[str, Partitions]]
