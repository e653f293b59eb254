"""Partitions of share groups that get a state at the share coordinator before members get them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.server.coordination.shard import Then, unheard
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.share.group import ShareGroup
from kafka_admin_proto.server.groups.share.records import (
    Initialized,
    StatePartitions,
    state_record,
)
from kafka_admin_proto.server.share.coordinators import asked_again
from kafka_admin_proto.server.share.state import UNKNOWN_OFFSET, ShareKey

if TYPE_CHECKING:
    from kafka_admin_proto.server.groups.records import CoordinatorRecord
    from kafka_admin_proto.server.share.coordinators import ShareCoordinators

#: The offsets from which partitions are read; UNKNOWN_OFFSET where the group's config decides.
Starts = Mapping[ShareKey, int]


def new_partitions(
    shard: Shard, group: ShareGroup, topics: Iterable[str]
) -> dict[UUID, Initialized]:
    """The partitions of topics that have no state, nor ask for one since a short time."""
    now_ms, known = shard.now_ms, group.partitions
    recent = {
        topic_id: each
        for topic_id, each in known.initializing.items()
        if now_ms - each.since_ms < shard.limits.initialize_retry_ms
    }
    new = {}
    for name in sorted(topics):
        topic = shard.topics.find(name)
        if topic is None:
            continue
        there = frozenset[int]().union(
            *(part[topic.id].partitions for part in (known.initialized, recent) if topic.id in part)
        )
        if missing := frozenset(topic.partitions) - there:
            new[topic.id] = Initialized(name, missing, now_ms)
    return new


def starts_of(group: ShareGroup, new: Mapping[UUID, Initialized]) -> dict[ShareKey, int]:
    """Where partitions begin: those that a known topic gets later are read from their first one."""
    known = {*group.partitions.initialized, *group.partitions.initializing}
    return {
        ShareKey(group.name, topic_id, number): 0 if topic_id in known else UNKNOWN_OFFSET
        for topic_id, each in new.items()
        for number in sorted(each.partitions)
    }


def initializing_record(group: ShareGroup, new: Mapping[UUID, Initialized]) -> CoordinatorRecord:
    """The record that these partitions get a state."""
    known = group.partitions
    partitions = StatePartitions(
        _union(known.initializing, new),
        known.initialized,
        {topic: name for topic, name in known.deleting.items() if topic not in new},
    )
    return state_record(group.name, partitions)


def initialize(
    states: ShareCoordinators,
    shard: Shard,
    name: str,
    epoch: int,
    starts: Starts,
    then: Then = unheard,
    attempt: int = 1,
) -> None:
    """Ask for a state of partitions; members get them once all have one.

    A share coordinator that is not there is asked some times more; then the next heartbeat asks.
    ``then`` gets 0 when all is kept, or an error code.
    """
    states.ask_each(
        starts,
        lambda led, key, kept: led.initialize(key, epoch, starts[key], kept),
        partial(_initialized, states, shard, name, epoch, starts, then, attempt),
    )


def _initialized(
    states: ShareCoordinators,
    shard: Shard,
    name: str,
    epoch: int,
    starts: Starts,
    then: Then,
    attempt: int,
    code: int,
) -> None:
    """All partitions have a state, or not all, and then the code says why."""
    group = shard.share_groups.get(name)
    if group is None:
        then(codes.GROUP_ID_NOT_FOUND)
        return
    if asked_again(
        shard, code, attempt, partial(initialize, states, shard, name, epoch, starts, then)
    ):
        return
    known = group.partitions
    done = topics_of(shard, starts)
    initialized = known.initialized
    if code:
        SERVER.warning("the share group %s gets no state: %s", name, error_name(code))
    else:
        initialized = _union(initialized, done)
    partitions = StatePartitions(_without(known.initializing, done), initialized, known.deleting)
    shard.append([state_record(name, partitions)], lambda failed: then(code or failed))


def topics_of(shard: Shard, keys: Iterable[ShareKey]) -> dict[UUID, Initialized]:
    """The partitions of keys by topic."""
    by_topic: dict[UUID, set[int]] = {}
    for each in keys:
        by_topic.setdefault(each.topic_id, set()).add(each.partition)
    return {
        topic_id: Initialized(
            shard.topics.name_of(topic_id) or "<UNKNOWN>", frozenset(numbers), shard.now_ms
        )
        for topic_id, numbers in by_topic.items()
    }


def forget_topics(shard: Shard, gone: Collection[UUID]) -> None:
    """Note that topics were deleted, whose states their coordinators delete."""
    for group in shard.share_groups.values():
        known = group.partitions
        kept = known.without(gone)
        if kept != known:
            shard.append([state_record(group.name, kept)])


def _union(
    older: Mapping[UUID, Initialized], newer: Mapping[UUID, Initialized]
) -> dict[UUID, Initialized]:
    union = dict(older)
    for topic_id, partitions in newer.items():
        numbers = partitions.partitions.union(
            older[topic_id].partitions if topic_id in older else frozenset()
        )
        union[topic_id] = msgspec.structs.replace(partitions, partitions=numbers)
    return union


def _without(
    topics: Mapping[UUID, Initialized], done: Mapping[UUID, Initialized]
) -> dict[UUID, Initialized]:
    rest = {}
    for topic_id, topic in topics.items():
        left = topic.partitions - (done[topic_id].partitions if topic_id in done else frozenset())
        if left:
            rest[topic_id] = msgspec.structs.replace(topic, partitions=left)
    return rest
