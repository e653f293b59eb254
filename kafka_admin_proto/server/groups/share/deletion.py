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
from kafka_admin_proto.server.share.coordinators import asked_again
from kafka_admin_proto.server.share.state import ShareKey

if TYPE_CHECKING:
    from kafka_admin_proto.server.share.coordinators import ShareCoordinators


def delete_share_group(states: ShareCoordinators, shard: Shard, name: str, then: Then) -> None:
    """Delete a group without members, and its states. Raises ApiFailure."""
    group = shard.share_group(name)
    check_empty(group)

    def deleted(code: int) -> None:
        if code:
            then(code)
        else:
            shard.append(group.tombstones(), then)

    delete_states(states, shard, group, _topics(group), deleted)


def check_empty(group: ShareGroup) -> None:
    """Raises ApiFailure for a group with members."""
    if group.members:
        raise ApiFailure(codes.NON_EMPTY_GROUP)


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
        else:
            ask()

    def ask(attempt: int = 1) -> None:
        states.ask_each(
            keys, lambda led, key, then: led.delete([key], then), partial(asked, attempt)
        )

    def asked(attempt: int, code: int) -> None:
        if not asked_again(shard, code, attempt, ask):
            then(code)

    shard.append([state_record(group.name, left)], marked)
