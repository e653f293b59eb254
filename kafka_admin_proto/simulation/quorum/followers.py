"""The followers of a leader in one epoch: their offsets, and their Fetch requests that wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_admin_proto.simulation.node import Cancel, Request
from kafka_admin_proto.simulation.quorum.folder import MetadataLog


@dataclass(slots=True)
class _Follower:
    """``offset`` is -1 before the first Fetch that fits the log."""

    offset: int = -1
    #: When it fetched last, in milliseconds of virtual time.
    at_ms: int = -1
    #: The high watermark in the last response to it; -2 before the first, which always has news.
    sent_high_watermark: int = -2
    waiting: Request | None = None
    give_up: Cancel | None = None


class Followers:
    """Offsets of the voters, and the Fetch requests that wait for something new."""

    def __init__(self, leader_id: int, voters: Sequence[int], start_offset: int) -> None:
        self._leader_id = leader_id
        self._voters = voters
        self._start_offset = start_offset
        self._known: dict[int, _Follower] = {}
        self.high_watermark: int = -1

    def fetched(self, node_id: int, offset: int, now_ms: int) -> None:
        """A node's log agrees with the leader's up to that offset."""
        follower = self._known.setdefault(node_id, _Follower())
        follower.offset, follower.at_ms = offset, now_ms

    def has_news(self, node_id: int, log: MetadataLog) -> bool:
        """Whether a response would say more than the last one."""
        follower = self._known[node_id]
        return (
            follower.offset < log.end.offset or follower.sent_high_watermark != self.high_watermark
        )

    def answered(self, node_id: int) -> None:
        """A response carries the high watermark to the node."""
        self._known[node_id].sent_high_watermark = self.high_watermark

    def wait(self, request: Request, give_up: Cancel) -> None:
        """Keep a Fetch until there is news; ``give_up`` cancels what ends its wait."""
        follower = self._known[request.source]
        self.take(request.source)
        follower.waiting, follower.give_up = request, give_up

    def take(self, node_id: int) -> Request | None:
        """The Fetch of a node that waits, which does so no more."""
        follower = self._known.get(node_id, _Follower())
        request = follower.waiting
        follower.waiting = None
        if follower.give_up is not None:
            follower.give_up()
            follower.give_up = None
        return request

    def waiting(self) -> list[int]:
        """Nodes whose Fetch waits."""
        return [each for each, follower in self._known.items() if follower.waiting is not None]

    def advance(self, log: MetadataLog) -> bool:
        """Raise the high watermark to what a majority of the voters has; whether it rose.

        Records of earlier epochs count only below one of this epoch (Raft's figure 8).
        """
        offsets = sorted(self._offset(each, log) for each in self._voters)
        replicated = offsets[(len(offsets) - 1) // 2]
        if replicated <= max(self._start_offset, self.high_watermark):
            return False
        self.high_watermark = replicated
        return True

    def _offset(self, node_id: int, log: MetadataLog) -> int:
        if node_id == self._leader_id:
            return log.end.offset
        return self._known.get(node_id, _Follower()).offset

    def by_offset(self) -> list[int]:
        """The other voters, those with the longest logs first."""
        others = [each for each in self._voters if each != self._leader_id]
        return sorted(others, key=lambda each: -self._known.get(each, _Follower()).offset)

    def is_heard(self, since_ms: int) -> bool:
        """Whether a majority of the voters, the leader among them, has fetched since then."""
        heard = [
            each
            for each in self._voters
            if each == self._leader_id or self._known.get(each, _Follower()).at_ms >= since_ms
        ]
        return 2 * len(heard) > len(self._voters)

    def has_fetched(self, node_id: int) -> bool:
        """Whether the node has fetched in this epoch, and so knows its leader."""
        return node_id in self._known


def successor_backoff_ms(position: int, count: int, most_ms: int) -> int:
    """The milliseconds that a successor waits before it runs for election.

    ``position`` is its place among ``count`` successors: the first does not wait, and a voter that
    is not among them waits longest. Kafka's ``strictExponentialElectionBackoffMs``.
    """
    if position == 0:
        return 0
    if position >= count:
        return most_ms
    return min(most_ms, (most_ms >> (count - 1)) << (position - 1))
