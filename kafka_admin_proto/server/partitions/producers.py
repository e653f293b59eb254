"""The state of the idempotent and transactional producers of one log (``ProducerStateManager``)."""

from __future__ import annotations

from collections import deque
from collections.abc import MutableMapping

import msgspec

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.header import MAX_INT, BatchHeader, add_sequence
from kafka_admin_proto.server.partitions.failures import RecordsRefused
from kafka_admin_proto.server.releases import ReleaseNumber

#: The last batches of each producer that are recognized when they are sent twice.
_BATCHES_KEPT = 5
_NO_EPOCH = -1
_MAX_EPOCH = (1 << 15) - 1
#: The first version of the feature transaction.version whose markers raise the epoch (KIP-890).
_EPOCH_BUMP = 2


class BatchMetadata(msgspec.Struct, frozen=True, gc=False):
    """What is kept of a producer's batch."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return add_sequence(self.last_sequence, -self.offset_delta)

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class ProducerState(msgspec.Struct):
    """One producer: its epoch, its last batches and its transaction that is under way.

    -1 stands for an epoch, a sequence, a timestamp or an offset that there is not.
    """

    producer_id: int
    producer_epoch: int = _NO_EPOCH
    coordinator_epoch: int = -1
    last_timestamp: int = -1
    current_txn_start_offset: int = -1
    batches: deque[BatchMetadata] = msgspec.field(
        default_factory=lambda: deque(maxlen=_BATCHES_KEPT)
    )

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else -1

    @property
    def is_in_transaction(self) -> bool:
        """Whether the log has records of a transaction that is under way."""
        return self.current_txn_start_offset >= 0

    def enter_epoch(self, epoch: int) -> None:
        """The batches of an older epoch are forgotten."""
        if epoch != self.producer_epoch:
            self.batches.clear()
            self.producer_epoch = epoch

    def snapshot(self) -> ProducerState:
        """What a snapshot has of the producer: of its batches only the last one."""
        return ProducerState(
            self.producer_id, self.producer_epoch, self.coordinator_epoch, self.last_timestamp,
            self.current_txn_start_offset, deque(list(self.batches)[-1:], maxlen=_BATCHES_KEPT),
        )  # fmt: skip


class CompletedTransaction(msgspec.Struct, frozen=True):
    """A transaction that a marker at ``last_offset`` has ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool


class Producers:
    """The producers of the log named ``name``, by their ids.

    ``ongoing`` has the producer of each transaction that is under way, by first offset.
    ``unreplicated`` has the last offset of those that ended above the high watermark, and
    ``snapshots`` the producers at some offsets.
    """

    def __init__(
        self, name: str, release: ReleaseNumber, snapshots: MutableMapping[int, list[ProducerState]]
    ) -> None:
        self.name = name
        self.release = release
        self.states: dict[int, ProducerState] = {}
        self.ongoing: dict[int, int] = {}
        self.unreplicated: dict[int, int] = {}
        self._snapshots = snapshots
        #: The offset up to which the states follow from the log, and that of the last snapshot.
        self.map_end: int = 0
        self._snapshot_end = 0

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of a transaction whose end is not known or not replicated."""
        return min([*self.ongoing, *self.unreplicated], default=None)

    def duplicate_of(self, header: BatchHeader) -> BatchMetadata | None:
        """The batch with the same sequences that the producer sent before, if it is still known."""
        state = self.states.get(header.producer_id)
        if state is None or state.producer_epoch != header.producer_epoch:
            return None
        wanted = header.base_sequence, header.last_sequence
        return next(
            (each for each in state.batches if (each.first_sequence, each.last_sequence) == wanted),
            None,
        )

    def check(self, header: BatchHeader, offset: int, *, of_coordinator: bool = False) -> None:
        """The checks of a batch that would begin at ``offset``. Raises RecordsRefused.

        A coordinator counts its records by no sequences.
        """
        state = self.states.get(header.producer_id) or ProducerState(header.producer_id)
        epoch, sequence = header.producer_epoch, header.base_sequence
        if header.is_transactional:
            self._check_transaction(state, epoch)
        self._check_epoch(state, epoch, offset)
        if of_coordinator:
            pass
        elif epoch != state.producer_epoch:
            if sequence != 0 and state.producer_epoch != _NO_EPOCH:
                at = " at" if self.release >= (4, 4) else "at"
                raise RecordsRefused(
                    codes.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"Invalid sequence number for new epoch of producer {state.producer_id}{at} "
                    f"offset {offset} in partition {self.name}: {epoch} (request epoch), "
                    f"{sequence} (seq. number), {state.producer_epoch} (current producer epoch)",
                )
        elif state.producer_epoch != _NO_EPOCH and not _follows(state.last_sequence, sequence):
            raise RecordsRefused(
                codes.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Out of order sequence number for producer {state.producer_id} at offset "
                f"{offset} in partition {self.name}: {sequence} (incoming seq. number), "
                f"{state.last_sequence} (current end sequence number)",
            )
        if state.is_in_transaction and not header.is_transactional:
            raise RecordsRefused(
                codes.INVALID_TXN_STATE,
                f"Expected transactional write from producer {state.producer_id} at offset "
                f"(offset={offset}, segment=[-1:-1]) in partition {self.name}",
            )

    def append(self, header: BatchHeader) -> None:
        state = self.states.setdefault(header.producer_id, ProducerState(header.producer_id))
        state.enter_epoch(header.producer_epoch)
        state.batches.append(
            BatchMetadata(
                header.last_sequence,
                header.last_offset,
                header.last_offset_delta,
                header.max_timestamp,
            )
        )
        state.last_timestamp = header.max_timestamp
        if header.is_transactional and not state.is_in_transaction:
            state.current_txn_start_offset = header.base_offset
            self.ongoing[header.base_offset] = header.producer_id

    def check_marker(
        self, producer_id: int, epoch: int, coordinator_epoch: int, offset: int, version: int
    ) -> None:
        """The checks of a transaction's marker by the version of transactions.

        Raises RecordsRefused.
        """
        state = self.states.get(producer_id) or ProducerState(producer_id)
        self._check_transaction(state, epoch)
        if self.release < (4,):
            version = 0
        is_repeated = epoch == state.producer_epoch and (
            not state.is_in_transaction or epoch == _MAX_EPOCH
        )
        if version < _EPOCH_BUMP or not is_repeated:
            self._check_epoch(state, epoch, offset, version=version)
        if state.coordinator_epoch > coordinator_epoch:
            raise RecordsRefused(
                codes.TRANSACTION_COORDINATOR_FENCED,
                f"Invalid coordinator epoch for producerId {producer_id} at offset {offset} in "
                f"partition {self.name}: {coordinator_epoch} (zombie), {state.coordinator_epoch} "
                "(current)",
            )

    def append_marker(
        self, header: BatchHeader, coordinator_epoch: int, timestamp: int, *, is_aborted: bool
    ) -> CompletedTransaction | None:
        """A marker is in the log: the transaction that it ended, None if that had no records."""
        state = self.states.setdefault(header.producer_id, ProducerState(header.producer_id))
        first_offset = state.current_txn_start_offset
        state.enter_epoch(header.producer_epoch)
        state.coordinator_epoch = coordinator_epoch
        state.last_timestamp = timestamp
        state.current_txn_start_offset = -1
        if first_offset < 0:
            return None
        return CompletedTransaction(
            header.producer_id, first_offset, header.base_offset, is_aborted
        )

    def complete(self, transaction: CompletedTransaction) -> int:
        """The transaction has ended. Returns the last stable offset if all is replicated."""
        others = [
            first
            for first, producer_id in self.ongoing.items()
            if producer_id != transaction.producer_id
        ]
        self.ongoing.pop(transaction.first_offset, None)
        self.unreplicated[transaction.first_offset] = transaction.last_offset
        return min(others, default=transaction.last_offset + 1)

    def replicated_to(self, offset: int) -> None:
        """The high watermark or the log's start is at ``offset``."""
        if self.unreplicated:
            self.unreplicated = {
                first: last for first, last in self.unreplicated.items() if last >= offset
            }

    def start_at(self, offset: int) -> None:
        """The log begins at ``offset`` now."""
        self.replicated_to(offset)
        self.map_end = max(self.map_end, offset)
        self._snapshot_end = max(self._snapshots, default=offset)

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget the producers that wrote nothing for so long, unless in a transaction."""
        self.states = {
            each.producer_id: each
            for each in self.states.values()
            if each.is_in_transaction or now_ms - each.last_timestamp < expiration_ms
        }

    def take_snapshot(self) -> None:
        """Keep the states at ``map_end`` for a truncation, as Kafka does with each new segment."""
        if self.map_end > self._snapshot_end:
            self._snapshots[self.map_end] = [each.snapshot() for each in self.states.values()]
            self._snapshot_end = self.map_end

    def drop_snapshot(self, offset: int) -> None:
        self._snapshots.pop(offset, None)

    def reload(self, start_offset: int, end_offset: int) -> bool:
        """Go back to the last snapshot in the log, which has these offsets now.

        Returns whether the batches from ``map_end`` on have to be applied again.
        """
        was_empty = not self.states and not self.unreplicated and self.map_end >= end_offset
        for offset in list(self._snapshots):
            if not start_offset < offset <= end_offset:
                del self._snapshots[offset]
        if end_offset == self.map_end:
            self.start_at(start_offset)
            return False
        self.map_end = self._snapshot_end = max(self._snapshots, default=start_offset)
        self.unreplicated = {}
        states = [each.snapshot() for each in self._snapshots.get(self.map_end, ())]
        self.states = {each.producer_id: each for each in states}
        self.ongoing = {
            each.current_txn_start_offset: each.producer_id
            for each in states
            if each.is_in_transaction
        }
        return end_offset > self.map_end and not was_empty

    def clear(self, offset: int) -> None:
        """The log is empty and begins at ``offset``."""
        self.states, self.ongoing, self.unreplicated = {}, {}, {}
        self._snapshots.clear()
        self._snapshot_end, self.map_end = 0, offset

    def _check_transaction(self, state: ProducerState, epoch: int) -> None:
        """The check of a transactional batch that would begin a transaction."""
        is_new = not state.is_in_transaction or self.release >= (4,)
        if is_new and epoch < state.producer_epoch:
            raise RecordsRefused(
                codes.INVALID_PRODUCER_EPOCH,
                f"Epoch of producer {state.producer_id} is {epoch}, which is smaller than the "
                f"last seen epoch {state.producer_epoch}",
            )

    def _check_epoch(
        self, state: ProducerState, epoch: int, offset: int, *, version: int = -1
    ) -> None:
        current = state.producer_epoch
        if epoch > current or (epoch == current and version < _EPOCH_BUMP):
            return
        text = "smaller than the last seen epoch"
        of_version = ""
        if self.release >= (4,):
            text = f"{'<=' if version >= _EPOCH_BUMP else '<'} the last seen epoch"
            of_version = f" (TV{version})"
        raise RecordsRefused(
            codes.INVALID_PRODUCER_EPOCH,
            f"Epoch of producer {state.producer_id} at offset {offset} in {self.name} is {epoch}, "
            f"which is {text} {current}{of_version}",
        )


def _follows(last: int, first: int) -> bool:
    return first == last + 1 or (first == 0 and last == MAX_INT)
