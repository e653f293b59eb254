"""Changes of a topic's partitions by a draft: the new replicas, their checks and records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zlib import crc32

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import PlacementError
from kafka_admin_proto.placement import regenerate
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Partition, Topic
from kafka_admin_proto.server.brokers.view import is_reassigning
from kafka_admin_proto.server.failures import MOST_RECORDS, ApiFailure
from kafka_admin_proto.server.handlers.topics.alter_partition_reassignments import moved
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.assignments import (
    check_replicas,
    in_sync_of,
    partition_record,
    place,
    placement_brokers,
)
from kafka_admin_proto.values import Message

#: The number that stands for "not defined" and "empty" in the drafts.
NOTHING = -1


def replicas_of(topic: Topic) -> list[list[int]]:
    """The replicas of each partition; during a reassignment the target replicas."""
    return [_target(partition) for _, partition in sorted(topic.partitions.items())]


def by_partition(pairs: Iterable[tuple[int, list[int]]]) -> dict[int, list[int]]:
    """A request's assignment. Raises ApiFailure for a partition that is named twice."""
    assignment: dict[int, list[int]] = {}
    for number, replicas in pairs:
        if number in assignment:
            raise _invalid(f"partition {number} is named twice")
        assignment[number] = replicas
    return assignment


def check_count(partitions: int, before: Sequence[Message] = ()) -> None:
    """Raises ApiFailure for more partitions than a request can add beside the records before."""
    if partitions > MOST_RECORDS - len(before):
        asked = counted(partitions, "partitions")
        text = f"a request may make {MOST_RECORDS} records, and {asked} would be more"
        raise ApiFailure(codes.INVALID_PARTITIONS, text)


def within_limit(before: Sequence[Message], more: list[Message]) -> list[Message]:
    """The records of another topic. Raises ApiFailure if the request makes too many records."""
    if len(before) + len(more) > MOST_RECORDS:
        raise ApiFailure(codes.INVALID_PARTITIONS, f"a request may make {MOST_RECORDS} records")
    return more


def assigned(
    state: State, now: Sequence[list[int]], assignment: dict[int, list[int]]
) -> list[list[int]]:
    """The replicas of all partitions, with those of an assignment replaced or added."""
    wanted = [list(each) for each in now]
    for number in sorted(assignment):
        replicas = assignment[number]
        check_replicas(state, replicas, None)
        if 0 <= number < len(wanted):
            wanted[number] = replicas
        elif number == len(wanted):
            in_sync_of(state, replicas, number)
            wanted.append(replicas)
        else:
            raise _invalid(f"partition {number} cannot be added: the next one is {len(wanted)}")
    return wanted


def refactored(
    state: State, topic: Topic, now: Sequence[list[int]], factor: int, added: int
) -> list[list[int]]:
    """All partitions, and ``added`` ones, with another number of replicas, few of them moved.

    Partitions that have that number stay where they are. Where the live brokers are too few, each
    partition has a replica on every live broker, and its others on fenced brokers.
    """
    if all(len(replicas) == factor for replicas in now):
        return grown(state, topic, now, added)
    live, fenced = placement_brokers(state, factor)
    seed = crc32(topic.name.encode())
    try:
        if len(live) >= factor:
            return regenerate(live, now, replication_factor=factor, new_partitions=added, seed=seed)
        leading = regenerate(live, now, replication_factor=len(live), seed=seed)
        others = regenerate(fenced, now, replication_factor=factor - len(live), seed=seed)
    except PlacementError as error:
        raise ApiFailure(codes.INVALID_REPLICATION_FACTOR, str(error)) from error
    wanted = [first + second for first, second in zip(leading, others, strict=True)]
    return grown(state, topic, wanted, added)


def grown(state: State, topic: Topic, now: Sequence[list[int]], added: int) -> list[list[int]]:
    """All partitions as they are, and ``added`` ones, placed as CreatePartitions places them."""
    if added == 0:
        return [*now]
    placed = place(state, topic.name, added, len(now[0]), now)
    return [*now, *(replicas for replicas, _ in placed)]


def records_of(state: State, topic: Topic, wanted: Sequence[list[int]]) -> list[Message]:
    """The records that add partitions and begin to move replicas.

    Raises ApiFailure for other replicas of a partition that is being reassigned, and for new
    partitions of a topic with such a partition.
    """
    now = replicas_of(topic)
    moving = {number for number, each in topic.partitions.items() if is_reassigning(each)}
    records: list[Message] = []
    if len(wanted) > len(now) and moving:
        raise _moving(min(moving))
    for number, replicas in enumerate(wanted):
        if number >= len(now):
            in_sync = in_sync_of(state, replicas, number)
            records.append(partition_record(state, topic.id, number, replicas, in_sync))
        elif replicas != now[number]:
            if number in moving:
                raise _moving(number)
            record = moved(state, topic, number, replicas)
            records += [] if record is None else [record]
    return records


def _target(partition: Partition) -> list[int]:
    return [each for each in partition.replicas if each not in partition.removing_replicas]


def _moving(number: int) -> ApiFailure:
    return ApiFailure(
        codes.REASSIGNMENT_IN_PROGRESS, f"the replicas of partition {number} are moving"
    )


def _invalid(message: str) -> ApiFailure:
    return ApiFailure(codes.INVALID_REPLICA_ASSIGNMENT, message)
