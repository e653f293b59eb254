"""Replicas of partitions, named by a request or chosen by the placer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID
from zlib import crc32

from kafka_admin_proto.errors import PlacementError
from kafka_admin_proto.messages import PartitionRecord
from kafka_admin_proto.placement import place_new, place_with_fenced
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.brokers.view import View, has_uncordoned
from kafka_admin_proto.server.failures import ApiFailure

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

_RESERVED = 100
#: Ids that stand for no single directory (``DirectoryId``).
MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, LOST_DIRECTORY = (UUID(int=each) for each in range(3))
#: Different placements of topics of one shape on the same brokers.
_SEEDS = 64
#: Placements of more partitions are not cached.
_KEPT_PARTITIONS = 64


def check_replicas(state: State, replicas: Sequence[int], factor: int | None) -> None:
    """Raises ApiFailure unless these brokers can be a partition's replicas.

    ``factor`` is the number of replicas of the partitions before, None for the first one.
    """
    if not replicas:
        raise _invalid("The manual partition assignment includes an empty replica list.")
    before = None
    for broker in sorted(replicas):
        if broker not in state.cluster.brokers:
            raise _invalid(
                f"The manual partition assignment includes broker {broker}, but no such broker is "
                "registered."
            )
        if not has_uncordoned(state.cluster.brokers[broker]):
            raise _invalid(
                f"The manual partition assignment includes broker {broker}, but all its log "
                "directories are cordoned."
            )
        if broker == before:
            raise _invalid(
                f"The manual partition assignment includes the broker {broker} more than once."
            )
        before = broker
    if factor is not None and len(replicas) != factor:
        raise _invalid(
            f"The manual partition assignment includes a partition with {len(replicas)} "
            "replica(s), but this is not consistent with previous partitions, which have "
            f"{factor} replica(s)."
        )


def in_sync_of(state: State, replicas: Sequence[int], partition: int) -> list[int]:
    """The named replicas on active brokers; raises ApiFailure where no broker is active."""
    in_sync = [each for each in replicas if state.is_active(each)]
    if not in_sync:
        raise _invalid(
            f"All brokers specified in the manual partition assignment for partition {partition} "
            "are fenced or in controlled shutdown."
        )
    return in_sync


class PlacementBrokers(NamedTuple):
    """The brokers that new replicas can go to, each id with its rack.

    Fenced ones are among them: a replica there follows once its broker is back.
    """

    live: dict[int, str | None]
    fenced: dict[int, str | None]


def placement_brokers(state: State, factor: int) -> PlacementBrokers:
    """The brokers for ``factor`` replicas of a partition.

    Raises ApiFailure, with the text of Kafka's placer, where there are too few. A fenced broker
    counts, one that is about to end does not.
    """
    live: dict[int, str | None] = {}
    fenced: dict[int, str | None] = {}
    for each in state.usable_brokers():
        (fenced if each.fenced else live)[each.id] = each.rack
    if not live:
        raise ApiFailure(codes.INVALID_REPLICATION_FACTOR, "All brokers are currently fenced.")
    registered = len(live) + len(fenced)
    if factor > registered:
        cordoned = (
            ""
            if state.release < (4, 3)
            else " or some brokers have all their log directories cordoned"
        )
        raise ApiFailure(
            codes.INVALID_REPLICATION_FACTOR,
            f"The target replication factor of {factor} cannot be reached because only "
            f"{registered} broker(s) are registered{cordoned}.",
        )
    return PlacementBrokers(live, fenced)


def place(
    state: State, topic: str, partitions: int, factor: int, fixed: Sequence[Sequence[int]] = ()
) -> list[tuple[list[int], list[int]]]:
    """(replicas, in sync) of a topic's new partitions; raises ApiFailure as placement_brokers does.

    The topics of one request do not all begin with the same broker. Fenced brokers get replicas
    only where the live ones are fewer than the factor, and lead no partition.
    """
    live, fenced = placement_brokers(state, factor)
    seed = (state.end_offset + crc32(topic.encode())) % _SEEDS
    try:
        if len(live) < factor:
            placed = place_with_fenced(live, fenced, partitions, factor, seed=seed)
        elif len(fixed) + partitions > _KEPT_PARTITIONS:
            placed = place_new(live, partitions, factor, fixed=fixed, seed=seed)
        else:
            kept = tuple(map(tuple, fixed))
            placed = _placed(tuple(live.items()), partitions, factor, kept, seed)
    except PlacementError as error:
        raise ApiFailure(codes.INVALID_REPLICATION_FACTOR, str(error)) from error
    return [(replicas, [each for each in replicas if each in live]) for replicas in placed]


@lru_cache(maxsize=1024)
def _placed(
    brokers: tuple[tuple[int, str | None], ...],
    partitions: int,
    factor: int,
    fixed: tuple[tuple[int, ...], ...],
    seed: int,
) -> list[list[int]]:
    """The placer's choice for a topic, kept for other topics of the same shape."""
    return place_new(dict(brokers), partitions, factor, fixed=fixed, seed=seed)


def partition_record(
    state: State, topic_id: UUID, number: int, replicas: Sequence[int], in_sync: Sequence[int]
) -> PartitionRecord:
    """The record of a new partition, led by the first replica that is in sync."""
    return PartitionRecord(
        partition_id=number,
        topic_id=topic_id,
        replicas=list(replicas),
        isr=list(in_sync),
        leader=in_sync[0],
        leader_recovery_state=0,
        leader_epoch=0,
        partition_epoch=0,
        directories=[directory_of(state, each) for each in replicas],
    )


def directory_of(state: State, broker_id: int) -> UUID:
    """The directory of a new replica (``ClusterControlManager.defaultDir``).

    A broker with several directories chooses one by itself, and says so by AssignReplicasToDirs.
    """
    broker = state.cluster.brokers.get(broker_id)
    if broker is None or len(broker.directories) > 1:
        return UNASSIGNED_DIRECTORY
    return broker.directories[0] if broker.directories else MIGRATING_DIRECTORY


def is_reserved(directory: UUID) -> bool:
    """Whether an id is none that a directory can have."""
    return directory.int < _RESERVED


def is_online(state: View, broker_id: int, directory: UUID) -> bool:
    """Whether a replica's directory is one that its broker has (``DirectoryId.isOnline``)."""
    if directory in (UNASSIGNED_DIRECTORY, MIGRATING_DIRECTORY):
        return True
    broker = state.cluster.brokers.get(broker_id)
    return (
        broker is not None
        and directory != LOST_DIRECTORY
        and (not broker.directories or directory in broker.directories)
    )


def _invalid(message: str) -> ApiFailure:
    return ApiFailure(codes.INVALID_REPLICA_ASSIGNMENT, message)
