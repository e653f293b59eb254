"""The states that one partition of ``__share_group_state`` keeps, on its leader.

``ShareCoordinatorShard`` in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from kafka_admin_proto.messages import (
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
    share_snapshot_value,
    share_update_value,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.segments.known_topics import (
    SHARE_GROUP_STATE,
    write_known_record,
)
from kafka_admin_proto.server.apis import WaitKey
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.coordination.loading import check_epoch, read_record
from kafka_admin_proto.server.coordination.shard import CoordinatorShard, Leads, Then, unheard
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.replication.replicas import ReplicatedLog
from kafka_admin_proto.server.share.state import (
    UNKNOWN_OFFSET,
    ShareKey,
    ShareState,
    StateBatch,
    combined,
)
from kafka_admin_proto.values import Message

_NO_EPOCH = -1


class ShareStateShard(CoordinatorShard):
    """States by their keys; ``config`` gives a config of the broker."""

    def __init__(
        self,
        leads: Leads,
        replicas: ReplicatedLog,
        clock: Clock,
        config: Callable[[str], Any],
        sent: list[Callable[[WaitKey], None]],
    ) -> None:
        self.states: dict[ShareKey, ShareState] = {}
        #: The offset of each state's last snapshot, and of the last tombstone.
        self._snapshot_offsets: dict[ShareKey, int] = {}
        self._tombstone_offset = -1
        self._config = config
        super().__init__(leads, replicas, clock, sent)

    def end(self, code: int = codes.NOT_COORDINATOR) -> None:
        """The broker leads the partition no more: what waits for its log hears that.

        Requests wait for these changes, on other brokers too, and have no time of their own.
        """
        pending = list(self._pending)
        super().end(code)
        for each in pending:
            each.then(code)

    def found(self, key: ShareKey, operation: str = "Read") -> ShareState:
        """The state of a partition. Raises ApiFailure where it has none."""
        if key not in self.states:
            raise ApiFailure(
                codes.INVALID_REQUEST,
                f"{operation} operation on uninitialized share partition not allowed.",
            )
        return self.states[key]

    def initialize(self, key: ShareKey, state_epoch: int, start_offset: int, then: Then) -> None:
        """Begin anew with a partition, or begin. Raises ApiFailure for an older epoch."""
        before = self.states.get(key)
        if before is not None and before.state_epoch > state_epoch:
            raise ApiFailure(codes.FENCED_STATE_EPOCH)
        snapshot_epoch = 0 if before is None else before.snapshot_epoch + 1
        leader_epoch = 0 if before is None else before.leader_epoch
        completed = -1 if start_offset == UNKNOWN_OFFSET else 0
        self._snapshot(
            key,
            ShareState(snapshot_epoch, state_epoch, leader_epoch, start_offset, completed),
            then,
        )

    def read(self, key: ShareKey, leader_epoch: int) -> ShareState:
        """The state for the leader of a partition, whose epoch is noted. Raises ApiFailure."""
        state = self.found(key)
        if state.leader_epoch > leader_epoch:
            raise ApiFailure(codes.FENCED_LEADER_EPOCH)
        if state.leader_epoch < leader_epoch:
            self._change(key, state, leader_epoch, state.start_offset, state.completed, (), unheard)
        return self.states[key]

    def change(
        self,
        key: ShareKey,
        epochs: tuple[int, int],
        start_offset: int,
        completed: int,
        batches: Iterable[StateBatch],
        then: Then,
    ) -> None:
        """Note what has changed; ``epochs`` are those of the state and of the leader.

        Raises ApiFailure for older epochs.
        """
        state = self.found(key, "Write")
        batches = list(batches)
        if any(each.last_offset < each.first_offset for each in batches):
            raise ApiFailure(codes.INVALID_REQUEST, "A batch of a state ends before it begins.")
        state_epoch, leader_epoch = epochs
        if leader_epoch != _NO_EPOCH and state.leader_epoch > leader_epoch:
            raise ApiFailure(codes.FENCED_LEADER_EPOCH)
        if state_epoch != _NO_EPOCH and state.state_epoch > state_epoch:
            raise ApiFailure(codes.FENCED_STATE_EPOCH)
        if start_offset == state.start_offset:
            completed = max(completed, state.completed)
        elif start_offset < state.start_offset:
            completed = state.completed
        start = max(start_offset, state.start_offset)
        self._change(key, state, state.leader_epoch, start, completed, batches, then)

    def delete(self, keys: Iterable[ShareKey], then: Then) -> None:
        """Forget the states of partitions; those that have none are passed over."""
        pairs = [
            write_known_record(ShareSnapshotKey(*each), None)
            for each in keys
            if each in self.states
        ]
        if pairs:
            self._write(pairs, then)
        else:
            then(0)

    def prune_later(self) -> None:
        """Delete records that snapshots have made superfluous, now and then."""
        interval_ms = self._config("share.coordinator.state.topic.prune.interval.ms")
        self.later("prune", interval_ms, self._prune)

    def _prune(self) -> None:
        """Let the log begin with the oldest snapshot that is a state's last one.

        Like ``ShareCoordinatorOffsetsManager`` in Kafka: where no state is left, it begins with
        the last tombstone. Snapshots that are not replicated do not count yet.
        """
        log = self._replicas.log
        first = min(self._snapshot_offsets.values(), default=self._tombstone_offset)
        if log.start_offset < first <= log.high_watermark:
            self._replicas.delete_before(first)
        self.prune_later()

    def _change(
        self,
        key: ShareKey,
        before: ShareState,
        leader_epoch: int,
        start_offset: int,
        completed: int,
        batches: Iterable[StateBatch],
        then: Then,
    ) -> None:
        """Append an update, or a snapshot once there are as many updates as the config says."""
        limit: int = self._config("share.coordinator.snapshot.update.records.per.snapshot")
        if before.updates >= limit:
            state = msgspec.structs.replace(
                before,
                snapshot_epoch=before.snapshot_epoch + 1,
                leader_epoch=leader_epoch,
                start_offset=start_offset,
                completed=completed,
                batches=combined(before.batches, batches, start_offset),
            )
            self._snapshot(key, state, then)
            return
        rows = [
            share_update_value.StateBatch(*msgspec.structs.astuple(each))
            for each in combined((), batches, start_offset)
        ]
        value = ShareUpdateValue(before.snapshot_epoch, leader_epoch, start_offset, completed, rows)
        self._write([write_known_record(ShareUpdateKey(*key), value)], then)

    def _snapshot(self, key: ShareKey, state: ShareState, then: Then) -> None:
        rows = [
            share_snapshot_value.StateBatch(*msgspec.structs.astuple(each))
            for each in state.batches
        ]
        now_ms = self.now_ms
        value = ShareSnapshotValue(
            state.snapshot_epoch,
            state.state_epoch,
            state.leader_epoch,
            state.start_offset,
            state.completed,
            now_ms,
            now_ms,
            rows,
        )
        self._write([write_known_record(ShareSnapshotKey(*key), value)], then)

    def _write(self, pairs: list[tuple[bytes, bytes | None]], then: Then) -> None:
        def applied(base_offset: int) -> None:
            for offset, (key, value) in enumerate(pairs, base_offset):
                written = Record(offset, -1, key, value)
                self._apply_record(*read_record(SHARE_GROUP_STATE, written), offset)

        self.write(
            pairs, applied, then,
            timeout_ms=self._config("share.coordinator.write.timeout.ms"),
            compression=self._config("share.coordinator.state.topic.compression.codec"),
        )  # fmt: skip

    def _apply(self, batch: Batch, record: Record) -> None:
        key, value = read_record(SHARE_GROUP_STATE, record)
        if isinstance(value, ShareSnapshotValue):
            check_epoch(value.snapshot_epoch)
        self._apply_record(key, value, record.offset)

    def _apply_record(self, key: Message, value: Message | None, offset: int) -> None:
        match key, value:
            case ShareSnapshotKey(), ShareSnapshotValue():
                place = ShareKey(key.group_id, key.topic_id, key.partition)
                self._snapshot_offsets[place] = offset
                self.states[place] = ShareState(
                    value.snapshot_epoch,
                    value.state_epoch,
                    value.leader_epoch,
                    value.start_offset,
                    value.delivery_complete_count,
                    _batches(value.state_batches),
                    value.create_timestamp,
                )
            case ShareSnapshotKey(), None:
                place = ShareKey(key.group_id, key.topic_id, key.partition)
                self.states.pop(place, None)
                self._snapshot_offsets.pop(place, None)
                self._tombstone_offset = offset
            case ShareUpdateKey(), ShareUpdateValue():
                place = ShareKey(key.group_id, key.topic_id, key.partition)
                before = self.states.get(place)
                if before is not None:
                    self.states[place] = _updated(before, value)


def _updated(before: ShareState, value: ShareUpdateValue) -> ShareState:
    start = before.start_offset if value.start_offset == -1 else value.start_offset
    leader_epoch = before.leader_epoch if value.leader_epoch == -1 else value.leader_epoch
    return msgspec.structs.replace(
        before,
        leader_epoch=leader_epoch,
        start_offset=start,
        completed=value.delivery_complete_count,
        batches=combined(before.batches, _batches(value.state_batches), start),
        updates=before.updates + 1,
    )


def _batches(
    rows: Iterable[share_snapshot_value.StateBatch | share_update_value.StateBatch],
) -> tuple[StateBatch, ...]:
    return tuple(
        StateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in rows
    )
