"""One partition of a coordinator's topic, on the broker that leads it (``CoordinatorRuntime``).

What changes is appended to the partition; a request whose change must be kept is answered when all
replicas in sync have it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple
from weakref import WeakSet

import msgspec

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.control import read_control_key
from kafka_admin_proto.records.batches.model import COMPRESSIONS, Batch, Record
from kafka_admin_proto.server.apis import WaitKey
from kafka_admin_proto.server.clock import Clock, Timer
from kafka_admin_proto.server.coordination.loading import LeftOut, StrangeRecord
from kafka_admin_proto.server.coordination.replies import Reply
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.segments import StoredBatch, read_stored
from kafka_admin_proto.server.replication.replicas import ReplicatedLog
from kafka_admin_proto.values import Message

_EVERYTHING = 1 << 62
#: How long after a refused write of a timer the next one is tried (``CoordinatorTimerImpl``).
_RETRY_MS = 500
#: The codes of an append that failed, as the clients of coordinators get them.
_CODES = {
    codes.UNKNOWN_TOPIC_OR_PARTITION: codes.COORDINATOR_NOT_AVAILABLE,
    codes.NOT_ENOUGH_REPLICAS: codes.COORDINATOR_NOT_AVAILABLE,
    codes.REQUEST_TIMED_OUT: codes.COORDINATOR_NOT_AVAILABLE,
    codes.NOT_LEADER_OR_FOLLOWER: codes.NOT_COORDINATOR,
    codes.KAFKA_STORAGE_ERROR: codes.NOT_COORDINATOR,
    codes.MESSAGE_TOO_LARGE: codes.UNKNOWN_SERVER_ERROR,
    codes.RECORD_LIST_TOO_LARGE: codes.UNKNOWN_SERVER_ERROR,
}
#: Called with 0 when a record is replicated, or with the error code.
Then = Callable[[int], None]


def unheard(code: int) -> None:
    """Nobody waits for the log."""


class Leads(NamedTuple):
    """The broker that leads the partition, and since which epoch."""

    node: int
    epoch: int


class _Pending(msgspec.Struct, eq=False):
    """What waits until all replicas in sync have the log up to an offset."""

    end_offset: int
    then: Then
    timer: Timer | None = None

    def cancel_timer(self) -> None:
        """Wait without a limit, or no more."""
        if self.timer is not None:
            self.timer.cancel()


class CoordinatorShard:
    """The log of the partition, and what waits for it; `_apply` makes the state of a subclass."""

    def __init__(
        self,
        leads: Leads,
        replicas: ReplicatedLog,
        clock: Clock,
        sent: list[Callable[[WaitKey], None]],
    ) -> None:
        self.leads = leads
        self.clock = clock
        self._replicas = replicas
        self._sent = sent
        self._timers: dict[Hashable, Timer] = {}
        self._pending: deque[_Pending] = deque()
        self._awaited: WeakSet[Reply] = WeakSet()
        self._has_ended = False
        self._replay()

    def _apply(self, batch: Batch, record: Record) -> None:
        """Apply a record of a batch that the log had when its leader took over.

        Raises StrangeRecord for one that is left out; nothing has changed then.
        """
        raise NotImplementedError

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """A marker of a transaction is in the log."""

    @property
    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return self.clock.now_ms()

    # Requests that wait.

    def reply(self, failed: Callable[[int], Message]) -> Reply:
        """A reply of this shard; ``failed`` gives its response if the broker leads no more."""
        return Reply(failed, self._awaited, self._sent)

    def end(self, code: int = codes.NOT_COORDINATOR) -> None:
        """The broker leads the partition no more: end timers, and answer all that waits.

        Other coordinators may still call back: the shard sets no timers and writes nothing then,
        since the log is that of another leader.
        """
        self._has_ended = True
        for each in self._timers.values():
            each.cancel()
        self._timers.clear()
        pending, self._pending = self._pending, deque()
        for one in pending:
            one.cancel_timer()
        for reply in list(self._awaited):
            reply.send(reply.failed(code))

    # Timers.

    def later(self, key: Hashable, delay_ms: int, call: Callable[[], object]) -> None:
        """Make a call after a time, instead of one of the same key that was to come."""
        if self._has_ended:
            return
        self.cancel(key)

        def due() -> None:
            del self._timers[key]
            call()

        self._timers[key] = self.clock.later(delay_ms / 1000, due)

    def later_once(self, key: Hashable, delay_ms: int, call: Callable[[], object]) -> None:
        """Make a call after a time, unless one of the same key is to come."""
        if key not in self._timers:
            self.later(key, delay_ms, call)

    def retried(self, key: Hashable, write: Callable[[Then], object]) -> Callable[[], None]:
        """A call for a timer of that key that writes, again and again if the log refuses it.

        A timer of the key that is set meanwhile ends that.
        """

        def attempt() -> None:
            write(written)

        def written(code: int) -> None:
            if code:
                self.later_once(key, _RETRY_MS, attempt)

        return attempt

    def is_awaited(self, key: Hashable) -> bool:
        """Whether a call of that key is to come."""
        return key in self._timers

    def cancel(self, key: Hashable) -> None:
        """Do not make a call; nothing happens if none is to come."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    # The log.

    @property
    def most_bytes(self) -> int:
        """The size of the largest batch that the log takes."""
        return self._replicas.log.settings.max_message_bytes

    def write(
        self,
        pairs: Sequence[tuple[bytes, bytes | None]],
        applied: Callable[[int], None],
        then: Then,
        *,
        timeout_ms: int,
        compression: int = 0,
        producer: tuple[int, int] | None = None,
    ) -> None:
        """Append keys and values; ``then`` gets 0 once they are replicated, or an error code.

        ``applied`` is called with the offset of the first one as soon as they are in the log. Those
        of a ``producer``, an id and an epoch, belong to its transaction.
        """
        if self._has_ended:
            then(codes.NOT_COORDINATOR)
            return
        now_ms = self.now_ms
        replicas = self._replicas
        log = replicas.log
        records = [Record(at, now_ms, *each) for at, each in enumerate(pairs, log.end_offset)]
        batch = Batch.of(records, compression=COMPRESSIONS[compression])
        if producer is not None:
            batch.is_transactional, batch.base_sequence = True, 0
            batch.producer_id, batch.producer_epoch = producer
        try:
            if replicas.in_sync < replicas.min_isr:
                raise ApiFailure(codes.NOT_ENOUGH_REPLICAS)
            appended = replicas.append_own(batch, leader_epoch=self.leads.epoch, now_ms=now_ms)
        except ApiFailure as failure:
            then(_CODES.get(failure.code, failure.code))
            return
        applied(appended.base_offset)
        self._wait(appended.last_offset + 1, then, timeout_ms)

    def after_writes(self, then: Then, timeout_ms: int) -> None:
        """Call ``then`` with 0 once all that the log has is replicated, or with an error code."""
        if self._has_ended:
            then(codes.NOT_COORDINATOR)
            return
        self._wait(self._replicas.log.end_offset, then, timeout_ms)

    def _wait(self, end_offset: int, then: Then, timeout_ms: int) -> None:
        if self._replicas.log.high_watermark >= end_offset:
            then(0)
            return
        pending = _Pending(end_offset, then)
        pending.timer = self.clock.later(timeout_ms / 1000, self._give_up, pending)
        self._pending.append(pending)

    def replicated(self) -> None:
        """Go on with what waited for the high watermark."""
        while self._pending and self._pending[0].end_offset <= self._replicas.log.high_watermark:
            first = self._pending.popleft()
            first.cancel_timer()
            first.then(0)

    def _give_up(self, pending: _Pending) -> None:
        """The log was not replicated in time."""
        self._pending.remove(pending)
        pending.then(_CODES[codes.REQUEST_TIMED_OUT])

    def _replay(self) -> None:
        """Load all that the partition has, but what is damaged or strange.

        Raises ApiFailure if the log cannot be read.
        """
        log = self._replicas.log
        left_out, offset = LeftOut(log.name), log.start_offset
        while found := log.batches(offset, _EVERYTHING, up_to=log.end_offset):
            for each in found:
                offset = each.last_offset + 1
                self._load(each, left_out)
        left_out.end()

    def _load(self, stored: StoredBatch, left_out: LeftOut) -> None:
        try:
            batch = read_stored(stored)
        except ApiFailure as failure:
            if failure.code != codes.CORRUPT_MESSAGE:
                raise
            what = (
                f"the batch of the offsets {stored.base_offset} to {stored.last_offset} is damaged"
            )
            left_out.add(what, failure.message)
            return
        for record in batch.records:
            try:
                if batch.is_control:
                    self._apply_marker(batch, record)
                else:
                    self._apply(batch, record)
            except StrangeRecord as fault:
                left_out.add(f"the record of offset {record.offset} cannot be used", fault)

    def _apply_marker(self, batch: Batch, record: Record) -> None:
        try:
            name = read_control_key(record.key).name
        except DecodeError as error:
            raise StrangeRecord(error) from None
        if name in ("COMMIT", "ABORT"):
            self.end_transaction(batch.producer_id, commit=name == "COMMIT")
