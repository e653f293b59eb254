"""How far replicas are on their way to other brokers and log dirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.admin.operations.cluster.log_dirs import LogDirOperations
from kafka_admin_proto.admin.operations.common.failures import raise_failure
from kafka_admin_proto.admin.operations.common.metadata import metadata_of_names
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.operations.partitions.json_files import ANY_LOG_DIR, PartitionReplicas
from kafka_admin_proto.admin.operations.partitions.moves import OngoingReassignment
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.protocol import codes

ReplicaKey = tuple[str, int, int]

PartitionProgress = Literal["completed", "in_progress", "other_replicas", "unknown"]
LogDirProgress = Literal["completed", "in_progress", "other_log_dir", "not_moving", "unknown"]


class PartitionState(msgspec.Struct, frozen=True):
    """How far a partition is on its way to ``wanted``.

    ``state`` is "other_replicas" where nothing moves and the replicas are not those wanted.
    """

    topic: str
    partition: int
    state: PartitionProgress
    replicas: list[int]
    wanted: list[int]


class LogDirState(msgspec.Struct, frozen=True):
    """How far a replica is on its way to the log dir ``wanted``; ``path`` is where it is now.

    ``state`` is "other_log_dir" where it moves to another one, ``future``, "not_moving" where it
    stays in another one, "unknown" where the broker does not show the replica.
    """

    topic: str
    partition: int
    broker: int
    state: LogDirProgress
    path: str | None
    future: str | None
    wanted: str


async def read_replicas(
    caller: Caller, topics: Iterable[str], deadline: Deadline, *, strict: bool = True
) -> dict[Partition, list[int]]:
    """The replicas of all partitions of the topics; an unknown topic raises BrokerError.

    Without ``strict`` unknown topics are left out.
    """
    names = list(dict.fromkeys(topics))
    replicas: dict[Partition, list[int]] = {}
    found = await metadata_of_names(caller, names, timeout=deadline.left)
    for name in names:
        if name not in found:
            if strict:
                raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION, about={"topic": name})
            continue
        raise_failure(found[name].error_code, about={"topic": name})
        for each in found[name].partitions:
            replicas[name, each.partition_index] = list(each.replica_nodes)
    return replicas


def unknown_partition(topic: str, partition: int) -> BrokerError:
    """The error for a partition that a topic does not have."""
    about: dict[str, str | int] = {"topic": topic, "partition": partition}
    return BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION, about=about)


async def read_paths(
    caller: LogDirOperations, replicas: Mapping[Partition, Sequence[int]], deadline: Deadline
) -> dict[ReplicaKey, str]:
    """The log dirs of replicas; those of brokers that do not answer are left out."""
    now, _ = await _read_log_dirs(
        caller, replicas, {broker for each in replicas.values() for broker in each}, deadline
    )
    return now


async def _read_log_dirs(
    caller: LogDirOperations, partitions: Iterable[Partition], brokers: set[int], deadline: Deadline
) -> tuple[dict[ReplicaKey, str], dict[ReplicaKey, str]]:
    """The log dirs of replicas as they are, and those that they are moving to."""
    now: dict[ReplicaKey, str] = {}
    future: dict[ReplicaKey, str] = {}
    live = await caller.brokers(timeout=deadline.left)
    asked = sorted(brokers & live.keys())
    if not asked:
        return now, future
    described = await caller.describe_log_dirs(
        asked, topics=by_topic(partitions), timeout=deadline.left
    )
    for broker in described:
        for log_dir in broker.log_dirs:
            for each in log_dir.replicas:
                found = future if each.future else now
                found[each.topic, each.partition, broker.broker] = log_dir.path
    return now, future


def partition_state(
    row: PartitionReplicas,
    ongoing: Iterable[OngoingReassignment],
    current: Mapping[Partition, list[int]],
) -> PartitionState:
    """How far one partition is."""
    moving = {(each.topic, each.partition) for each in ongoing}
    partition = row.topic, row.partition
    state: PartitionProgress
    if partition in moving:
        state = "in_progress"
    elif partition not in current:
        state = "unknown"
    else:
        state = "completed" if current[partition] == row.replicas else "other_replicas"
    return PartitionState(row.topic, row.partition, state, current.get(partition, []), row.replicas)


async def log_dir_states(
    caller: LogDirOperations, rows: Iterable[PartitionReplicas], deadline: Deadline
) -> list[LogDirState]:
    """How far the replicas are that have a log dir of their own in the reassignment."""
    wanted = {
        (row.topic, row.partition, broker): path
        for row in rows
        for broker, path in zip(row.replicas, row.log_dirs or [], strict=False)
        if path != ANY_LOG_DIR
    }
    now, future = await _read_log_dirs(
        caller,
        {(topic, number) for topic, number, _ in wanted},
        {broker for _, _, broker in wanted},
        deadline,
    )
    return [
        LogDirState(
            *key,
            _log_dir_progress(path, now.get(key), future.get(key)),
            now.get(key),
            future.get(key),
            path,
        )
        for key, path in wanted.items()
    ]


def _log_dir_progress(wanted: str, path: str | None, future: str | None) -> LogDirProgress:
    if path is None:
        return "unknown"
    if future is not None:
        return "in_progress" if future == wanted else "other_log_dir"
    return "completed" if path == wanted else "not_moving"
