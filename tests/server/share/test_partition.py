"""What holds of a share group's partition whatever members do, and whenever its state is kept."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.share.acknowledged import Acknowledgement
from kafka_admin_proto.server.share.acquiring import Acquired, Acquiring, LogBatch
from kafka_admin_proto.server.share.partition import Kept, ShareLimits, SharePartition
from kafka_admin_proto.server.share.state import (
    ACKNOWLEDGED,
    ARCHIVED,
    ShareState,
    StateBatch,
    combined,
)
from tests.server.still_clock import StillClock

_LOCK_MS, _DELIVERIES, _MOST = 1000, 3, 20
_LIMITS = ShareLimits(_LOCK_MS, _DELIVERIES, _MOST, renews=True)


class _Played:
    """A partition, a log of batches, and what became of each record."""

    def __init__(self) -> None:
        self.clock = StillClock()
        self.log: list[LogBatch] = []
        self.kept = ShareState(0, 1, 0, 0, 0)
        self.waiting: list[tuple[int, Sequence[StateBatch], Kept]] = []
        self.is_slow = False
        self.deliveries: dict[int, int] = {}
        self.done: set[int] = set()
        #: What each member has: offset → (member, when the lock ends).
        self.held: dict[int, tuple[str, int]] = {}
        self.partition = self._load(0)

    def _load(self, start: int) -> SharePartition:
        return SharePartition(
            self.kept, start, self.clock, lambda: _LIMITS, self._keep, lambda: None
        )

    def _keep(self, start: int, completed: int, changes: Sequence[StateBatch], then: Kept) -> None:
        self.waiting.append((start, changes, then))
        if not self.is_slow:
            self.keep(0)

    def keep(self, code: int) -> None:
        """The coordinator answers all that waits."""
        waiting, self.waiting = self.waiting, []
        for start, changes, then in waiting:
            if not code:
                first = max(start, self.kept.start_offset)
                batches = combined(self.kept.batches, changes, first)
                self.kept = ShareState(0, 1, 0, first, 0, batches)
                for each in changes:
                    numbers = set(range(each.first_offset, each.last_offset + 1))
                    if each.state in (ACKNOWLEDGED, ARCHIVED):
                        self.done |= numbers
            then(code, None)

    def produce(self, size: int) -> None:
        base = self.log[-1].last_offset + 1 if self.log else 0
        self.log.append(LogBatch(base, base + size - 1))

    def fetch(self, member: str, most: int, size: int, is_strict: bool) -> None:
        offset = self.partition.next_offset
        found = [each for each in self.log if each.last_offset >= offset]
        now_ms = self.clock.now_ms()
        for each in self.partition.acquire(member, Acquiring(most, size, is_strict), offset, found):
            self._got(member, each, now_ms)

    def _got(self, member: str, acquired: Acquired, now_ms: int) -> None:
        for offset in range(acquired.first, acquired.last + 1):
            assert offset not in self.done, "a record came again that was done with"
            holder = self.held.get(offset)
            assert holder is None or holder[1] <= now_ms, "another member has the record"
            self.deliveries[offset] = self.deliveries.get(offset, 0) + 1
            assert acquired.deliveries <= _DELIVERIES
            self.held[offset] = member, now_ms + _LOCK_MS

    def acknowledge(self, member: str, first: int, types: list[int], *, each: bool) -> None:
        last = first + len(types) - 1
        given_types = types if each else types[:1]

        def then(code: int, message: str | None) -> None:
            for offset in range(first, last + 1) if not code else ():
                self.held.pop(offset, None)

        try:
            asked = [Acknowledgement(first, last, given_types)]
            self.partition.acknowledge(member, asked, then)
        except ApiFailure as failure:
            assert failure.code in (codes.INVALID_RECORD_STATE, codes.INVALID_REQUEST)

    def leave(self, member: str) -> None:
        self.partition.release(member, lambda *_: None)
        self.held = {offset: each for offset, each in self.held.items() if each[0] != member}

    def pass_time(self, seconds: float) -> None:
        self.clock.pass_time(seconds)

    def move(self) -> None:
        """Another broker leads, which knows what was kept."""
        self.keep(0)
        self.partition.close()
        self.held.clear()
        self.partition = self._load(self.kept.start_offset)

    def slow(self, is_slow: bool) -> None:
        self.is_slow = is_slow
        if not is_slow:
            self.keep(0)

    def check(self) -> None:
        partition = self.partition
        for one, two in pairwise(partition.batches):
            assert one.last < two.first
        for batch in partition.batches:
            assert batch.parts[0].first == batch.first
            assert batch.parts[-1].last == batch.last
            for left, right in pairwise(batch.parts):
                assert left.last + 1 == right.first
        assert partition.start <= partition.end + 1
        if not self.is_slow:
            assert not any(part.before for batch in partition.batches for part in batch.parts)


_MEMBERS = st.sampled_from("ab")
_STEPS = st.one_of(
    st.tuples(st.just("produce"), st.integers(1, 6)),
    st.tuples(
        st.just("fetch"), _MEMBERS, st.integers(0, 8), st.sampled_from([1, 2, 500]), st.booleans()
    ),
    st.tuples(
        st.just("acknowledge"), _MEMBERS, st.integers(0, 12),
        st.lists(st.integers(0, 3), min_size=1, max_size=6), st.booleans(),
    ),
    st.tuples(st.just("leave"), _MEMBERS),
    st.tuples(st.just("pass_time"), st.sampled_from([0.4, 1.1])),
    st.tuples(st.just("slow"), st.booleans()),
    st.tuples(st.just("keep"), st.sampled_from([0, codes.COORDINATOR_NOT_AVAILABLE])),
    st.tuples(st.just("move")),
)  # fmt: skip


@given(st.lists(_STEPS, max_size=30))
def test_records_have_one_member_and_an_end(steps: list[tuple[Any, ...]]) -> None:
    played = _Played()
    for name, *given_values in steps:
        if name == "acknowledge":
            *values, each = given_values
            played.acknowledge(*values, each=each)
        else:
            getattr(played, name)(*given_values)
        played.check()
    played.slow(False)
    for _ in range(200):  # all comes to an end when members accept it
        played.fetch("c", 500, 500, False)
        mine = sorted(offset for offset, each in played.held.items() if each[0] == "c")
        for offset in mine:
            played.acknowledge("c", offset, [1], each=False)
        played.pass_time(_LOCK_MS / 1000 + 0.01)
    end = played.log[-1].last_offset + 1 if played.log else 0
    assert played.partition.start == end
    assert not played.partition.batches
