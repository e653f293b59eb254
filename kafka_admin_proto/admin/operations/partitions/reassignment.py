"""What kafka-reassign-partitions.sh does: generate, execute, verify and cancel reassignments."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import Caller, call_deadline
from kafka_admin_proto.admin.errors import AdminError, InstructionError, NoSuchBrokerError
from kafka_admin_proto.admin.operations.cluster.log_dirs import (
    LogDirOperations,
    MovedReplica,
    ReplicaMove,
)
from kafka_admin_proto.admin.operations.common.timeouts import waiting_time
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.operations.configs.altering import AlterConfigs
from kafka_admin_proto.admin.operations.partitions import throttles
from kafka_admin_proto.admin.operations.partitions.json_files import (
    ANY_LOG_DIR,
    PartitionReplicas,
    check_reassignment,
)
from kafka_admin_proto.admin.operations.partitions.moves import (
    MovePartitions,
    OngoingReassignment,
    PartitionResult,
)
from kafka_admin_proto.admin.operations.partitions.progress import (
    LogDirState,
    PartitionState,
    ReplicaKey,
    log_dir_states,
    partition_state,
    read_paths,
    read_replicas,
    unknown_partition,
)
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import PlacementError
from kafka_admin_proto.placement import count_moves, regenerate

#: Seconds between two reads of the state, and between two attempts to move a replica into a log
#: dir while its broker does not have it yet.
_PAUSE_S = 0.1
#: Seconds that brokers may lag behind the controller, which no longer lists a move.
_SETTLING_S = 1.0
#: The error of moving a replica into a log dir while its broker does not have it.
_NO_REPLICA = "REPLICA_NOT_AVAILABLE"


class GeneratedReassignment(msgspec.Struct, frozen=True):
    """The replicas as they are, for a way back, and as they could be. ``moves`` are copied."""

    current: list[PartitionReplicas]
    proposed: list[PartitionReplicas]
    moves: int


class ExecutedReassignment(msgspec.Struct, frozen=True):
    """The moves that were begun. ``rollback`` has the replicas as they were."""

    rollback: list[PartitionReplicas]
    partitions: list[PartitionResult]
    log_dirs: list[MovedReplica] = []
    throttled: bool = False


class VerifiedReassignment(msgspec.Struct, frozen=True):
    """The state of what was asked about, and of the throttles.

    ``done`` says that no replica of the whole cluster moves to another broker any more, nor one of
    those asked about to another log dir. The throttles are removed then; ``message`` says why not.
    """

    partitions: list[PartitionState]
    log_dirs: list[LogDirState]
    done: bool
    throttles_removed: bool = False
    message: str | None = None


class CancelledReassignment(msgspec.Struct, frozen=True):
    """The partitions and replicas that were moving and now go back."""

    partitions: list[PartitionResult]
    log_dirs: list[MovedReplica]
    throttles_removed: bool = False
    message: str | None = None


class ReassignmentOperations(AlterConfigs, MovePartitions, LogDirOperations):
    """Reassignments as a whole, with their throttles and log dirs."""

    async def generate_reassignment(
        self,
        topics: Iterable[str],
        brokers: Iterable[int],
        *,
        rack_aware: bool = True,
        seed: int = 0,
        timeout: float | None = None,
    ) -> GeneratedReassignment:
        """Replicas of these topics on these brokers: spread, even, as few moved as possible.

        Each partition keeps its number of replicas. Raises NoSuchBrokerError for a broker that is
        not live, InstructionError for too few brokers, BrokerError for a topic that does not exist.
        """
        deadline = call_deadline(self, timeout)
        live = await self.brokers(refresh=True, timeout=deadline.left)
        wanted = list(brokers)
        _check_live(wanted, live)
        racks = {broker: live[broker].rack if rack_aware else None for broker in wanted}
        current = await read_replicas(self, topics, deadline)
        for each in await self.list_partition_reassignments(current, timeout=deadline.left):
            current[each.topic, each.partition] = each.target
        load = Counter(broker for replicas in current.values() for broker in replicas)
        proposed: dict[Partition, list[int]] = {}
        moves = 0
        for topic, numbers in by_topic(sorted(current)).items():
            own = [current[topic, number] for number in numbers]
            load -= Counter(broker for replicas in own for broker in replicas)
            try:
                placed = regenerate(racks, own, elsewhere=load, seed=seed)
            except PlacementError as error:
                raise InstructionError(f"topic {topic!r}: {error}") from error
            moves += count_moves(own, placed)
            for number, replicas in zip(numbers, placed, strict=True):
                proposed[topic, number] = replicas
                load.update(replicas)
        paths = await read_paths(self, current, deadline)
        return GeneratedReassignment(_rows(current, paths), _rows(proposed, {}), moves)

    async def execute_reassignment(
        self,
        partitions: Iterable[PartitionReplicas],
        *,
        throttle: int | None = None,
        log_dirs_throttle: int | None = None,
        additional: bool = False,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
    ) -> ExecutedReassignment:
        """Begin to move partitions, and replicas into the log dirs that are named.

        ``throttle`` and ``log_dirs_throttle`` are bytes/s on each live broker;
        ``verify_reassignment``
        removes them when all is done. While something moves, more is begun only with
        ``additional``, which also changes the throttle of what moves. ``timeout`` (seconds) is
        for beginning; replicas that are new to their broker go into a log dir once they are there.

        Raises before anything is changed: NoSuchBrokerError for a broker that is not live,
        InstructionError for partitions named twice, BrokerError for an unknown partition,
        AdminError where something moves already, or where a throttle cannot be set.
        """
        rows = list(partitions)
        check_reassignment(rows)
        timeout, deadline = waiting_time(self, timeout)
        ongoing = await check_moves(self, rows, additional=additional, timeout=deadline.left)
        wanted = {(row.topic, row.partition): row.replicas for row in rows}
        current = await read_replicas(self, {row.topic for row in rows}, deadline)
        for topic, number in wanted:
            if (topic, number) not in current:
                raise unknown_partition(topic, number)
        before = {partition: current[partition] for partition in wanted}
        rollback = _rows(before, await read_paths(self, before, deadline))
        into = _log_dir_moves(rows)
        changes = []
        if throttle is not None:
            found = throttles.copies(ongoing, before, wanted)
            live = await self.brokers(timeout=deadline.left)
            changes += throttles.throttling(found, throttle, live)
        if log_dirs_throttle is not None:
            changes += throttles.log_dirs_throttling(
                (move.broker for move in into), log_dirs_throttle
            )
        failed = await throttles.apply(self, changes, timeout=deadline.left)
        if failed:
            raise AdminError(
                f"the throttle could not be set, so that nothing was moved: {'; '.join(failed)}; "
                "verifying the reassignment removes what was set elsewhere"
            )
        results = await self.alter_partition_reassignments(
            wanted,
            allow_replication_factor_change=allow_replication_factor_change,
            timeout=deadline.left,
        )
        begun = {(each.topic, each.partition) for each in results if each.error is None}
        moved = await _move_log_dirs(
            self, [move for move in into if (move.topic, move.partition) in begun], deadline
        )
        return ExecutedReassignment(rollback, results, moved, bool(changes))

    async def verify_reassignment(
        self,
        partitions: Iterable[PartitionReplicas],
        *,
        preserve_throttles: bool = False,
        timeout: float | None = None,
    ) -> VerifiedReassignment:
        """How far the partitions are; when all is done, the throttles are removed."""
        rows = list(partitions)
        deadline = call_deadline(self, timeout)
        ongoing = await self.list_partition_reassignments(timeout=deadline.left)
        states = await _settled_states(self, rows, ongoing, deadline)
        log_dirs = await log_dir_states(self, rows, deadline)
        done = not ongoing and not any(
            each.state in ("in_progress", "other_log_dir") for each in log_dirs
        )
        if preserve_throttles or not done:
            return VerifiedReassignment(states, log_dirs, done)
        failed = await _unthrottle(self, rows, deadline)
        message = _not_removed(failed)
        return VerifiedReassignment(states, log_dirs, done, not failed, message)

    async def cancel_reassignment(
        self,
        partitions: Iterable[PartitionReplicas],
        *,
        preserve_throttles: bool = False,
        timeout: float | None = None,
    ) -> CancelledReassignment:
        """Cancel the moves of these partitions, into log dirs too, and remove the throttles."""
        rows = list(partitions)
        timeout, deadline = waiting_time(self, timeout)
        ongoing = await self.list_partition_reassignments(
            [(row.topic, row.partition) for row in rows], timeout=deadline.left
        )
        results = []
        if ongoing:
            results = await self.alter_partition_reassignments(
                {(each.topic, each.partition): None for each in ongoing}, timeout=deadline.left
            )
        back = [
            ReplicaMove(each.topic, each.partition, each.broker, each.path)
            for each in await log_dir_states(self, rows, deadline)
            if each.future is not None and each.path is not None
        ]
        moved = await _move_log_dirs(self, back, deadline)
        if preserve_throttles:
            return CancelledReassignment(results, moved)
        failed = await _unthrottle(self, rows, deadline)
        return CancelledReassignment(results, moved, not failed, _not_removed(failed))


async def _settled_states(
    caller: Caller,
    rows: Sequence[PartitionReplicas],
    ongoing: list[OngoingReassignment],
    deadline: Deadline,
) -> list[PartitionState]:
    """How far the partitions are; a broker has a moment to apply a move that has just ended."""
    settling = Deadline(min(deadline.left, _SETTLING_S))
    while True:
        current = await read_replicas(caller, {row.topic for row in rows}, deadline, strict=False)
        states = [partition_state(row, ongoing, current) for row in rows]
        if settling.is_over or not any(each.state == "other_replicas" for each in states):
            return states
        await asyncio.sleep(min(_PAUSE_S, settling.left))


async def check_moves(
    caller: MovePartitions, rows: Iterable[PartitionReplicas], *, additional: bool, timeout: float
) -> list[OngoingReassignment]:
    """The partitions that are moving already, where ``rows`` may be moved beside them.

    Raises NoSuchBrokerError for a broker that is not live, and AdminError without ``additional``
    where something moves.
    """
    deadline = Deadline(timeout)
    ongoing = await caller.list_partition_reassignments(timeout=timeout)
    if ongoing and not additional:
        raise AdminError(
            f"{counted(len(ongoing), 'partitions')} already being moved, such as "
            f"{ongoing[0].partition} of topic "
            f"{ongoing[0].topic!r}; wait for them, cancel them, or ask for additional moves "
            "(--additional)"
        )
    live = await caller.brokers(refresh=True, timeout=deadline.left)
    _check_live([broker for row in rows for broker in row.replicas], live)
    return ongoing


def _check_live(brokers: Iterable[int], live: Mapping[int, object]) -> None:
    asked = list(brokers)
    for broker in asked:
        if broker not in live:
            raise NoSuchBrokerError(
                f"broker {broker} is not among the live ones ({', '.join(map(str, sorted(live)))})"
            )


def _rows(
    replicas: Mapping[Partition, Sequence[int]], paths: Mapping[ReplicaKey, str]
) -> list[PartitionReplicas]:
    return [
        PartitionReplicas(
            topic,
            number,
            list(replicas[topic, number]),
            [paths.get((topic, number, broker), ANY_LOG_DIR) for broker in replicas[topic, number]],
        )
        for topic, number in sorted(replicas)
    ]


def _log_dir_moves(rows: Iterable[PartitionReplicas]) -> list[ReplicaMove]:
    return [
        ReplicaMove(row.topic, row.partition, broker, path)
        for row in rows
        for broker, path in zip(row.replicas, row.log_dirs or [], strict=False)
        if path != ANY_LOG_DIR
    ]


async def _move_log_dirs(
    caller: LogDirOperations, moves: list[ReplicaMove], deadline: Deadline
) -> list[MovedReplica]:
    """Move replicas into log dirs, again where the replica is not on its broker yet."""
    results: dict[ReplicaMove, MovedReplica] = {}
    pending = moves
    while pending:
        answers = await caller.alter_replica_log_dirs(pending, timeout=max(deadline.left, 1.0))
        results.update(zip(pending, answers, strict=True))
        pending = [move for move in pending if results[move].error == _NO_REPLICA]
        if deadline.left <= _PAUSE_S:
            break
        if pending:
            await asyncio.sleep(_PAUSE_S)
    return [results[move] for move in moves]


async def _unthrottle(
    caller: AlterConfigs, rows: Iterable[PartitionReplicas], deadline: Deadline
) -> list[str]:
    """Remove the throttles of all live brokers: which of them took part is no longer known."""
    brokers = await caller.brokers(timeout=deadline.left)
    changes = throttles.unthrottling((row.topic for row in rows), brokers)
    return await throttles.apply(caller, changes, timeout=deadline.left)


def _not_removed(failed: Sequence[str]) -> str | None:
    if not failed:
        return None
    return f"throttles are still set: {'; '.join(failed)}; verify again to remove them"
