"""The end of share groups, and of what they have of topics: first at the share coordinator."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.share.group import ShareGroup
from kafka_admin_proto.server.groups.share.records import state_record
from kafka_admin_proto.server.share.state import ShareKey

if TYPE_CHECKING:
    from kafka_admin_proto.server.share.coordinators import ShareCoordinators


def delete_share_group(states: ShareCoordinators, shard: Shard, name: str, then: Then) -> None:
    """Delete a group without members, and its states. Raises ApiFailure."""
    group = empty_group(shard, name)

    def deleted(code: int) -> None:
        if code:
            then(code)
        else:
            shard.append(group.tombstones(), then)

    delete_states(states, shard, group, _topics(group), deleted)


def empty_group(shard: Shard, name: str) -> ShareGroup:
    """The share group of a name, which has no members. Raises ApiFailure."""
    group = shard.share_group(name)
    if group.members:
        raise ApiFailure(codes.NON_EMPTY_GROUP)
    return group


def _topics(group: ShareGroup) -> set[UUID]:
    return {*group.partitions.initialized, *group.partitions.initializing}


def delete_states(
    states: ShareCoordinators, shard: Shard, group: ShareGroup, topics: Iterable[UUID], then: Then
) -> None:
    """Delete a group's states of topics; ``then`` gets 0 when all are deleted, or an error code."""
    known, gone = group.partitions, set(topics)
    keys = [
        ShareKey(group.name, topic_id, number)
        for part in (known.initialized, known.initializing)
        for topic_id, each in part.items()
        if topic_id in gone
        for number in sorted(each.partitions)
    ]
    if not keys:
        then(0)
        return
    names = {
        topic_id: each.name
        for part in (known.initialized, known.initializing)
        for topic_id, each in part.items()
    }
    left = known.without(gone)
    left = msgspec.structs.replace(
        left, deleting={**left.deleting, **{topic_id: names[topic_id] for topic_id in gone}}
    )

    def marked(code: int) -> None:
        if code:
            then(code)
            return
        waiting, found = set(keys), set[int]()

        def deleted(key: ShareKey, code: int) -> None:
            waiting.discard(key)
            found.add(code)
            if not waiting:
                then(max(found, key=bool))

        for key in keys:
            try:
                states.led(key.text).delete([key], partial(deleted, key))
            except ApiFailure as failure:
                deleted(key, failure.code)

    shard.append([state_record(group.name, left)], marked)
