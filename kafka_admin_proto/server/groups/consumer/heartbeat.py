"""ConsumerGroupHeartbeat: members come, say what they have, hear what they get, and leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from kafka_admin_proto.messages import ConsumerGroupHeartbeatRequest
from kafka_admin_proto.messages.consumer_group_heartbeat_response import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.replies import Reply
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.change import Change, Subscription
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.consumer.migration import upgraded
from kafka_admin_proto.server.groups.consumer.reconcile import Owned
from kafka_admin_proto.server.groups.consumer.records import (
    assignment_record,
    member_record,
    target_record,
)
from kafka_admin_proto.server.groups.consumer.regexes import resolve
from kafka_admin_proto.server.groups.consumer.removal import remove_member
from kafka_admin_proto.server.groups.modern import (
    LEAVES,
    LEAVES_FOR_NOW,
    check_epoch,
    unreleased,
)
from kafka_admin_proto.server.groups.rebalance import cancel_timers
from kafka_admin_proto.server.groups.records import CoordinatorRecord, group_tombstone
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.timers import expect_heartbeat
from kafka_admin_proto.topic_ids import random_topic_id, topic_id_to_text


class Beat(msgspec.Struct, frozen=True):
    """A heartbeat, and who sent it; ``allowed`` are those of some topics that it may describe."""

    request: ConsumerGroupHeartbeatRequest
    client_id: str
    client_host: str
    allowed: Callable[[Iterable[str]], set[str]]


def heartbeat(shard: Shard, beat: Beat, reply: Reply) -> None:
    """Let a member join, stay or leave; the reply is sent when replicas have what changed.

    Raises ApiFailure.
    """
    request = beat.request
    if request.member_epoch in (LEAVES, LEAVES_FOR_NOW):
        _leave(shard, request, reply)
        return
    response, records, regexes = _stay(shard, beat)
    shard.append(records, reply.once_stored(response))
    resolve(shard, request.group_id, regexes, beat.allowed)


def _stay(
    shard: Shard, beat: Beat
) -> tuple[ConsumerGroupHeartbeatResponse, list[CoordinatorRecord], set[str]]:
    """The answer, the records, and the regular expressions whose topics are to be found then."""
    request = beat.request
    epoch, owned = request.member_epoch, request.topic_partitions
    records: list[CoordinatorRecord] = []
    group = find_or_make(shard, request.group_id, records, joins=epoch == 0)
    check_size(shard, group, request.member_id, request.instance_id)
    member_id = request.member_id or new_member_id()
    if request.instance_id is None:
        member = group.members.get(member_id)
        if member is None:
            member = ConsumerMember(member_id) if epoch == 0 else group.member(member_id)
        check_epoch("consumer", member, epoch, partial(_is_part, owned, member))
    else:
        member = _static_member(group, request.instance_id, member_id, epoch, owned, records)
    updated = msgspec.structs.replace(
        member,
        instance_id=_or(request.instance_id, member.instance_id),
        rack_id=_or(request.rack_id, member.rack_id),
        rebalance_timeout_ms=member.rebalance_timeout_ms
        if request.rebalance_timeout_ms == -1
        else request.rebalance_timeout_ms,
        assignor=_or(request.server_assignor, member.assignor),
        topics=member.topics
        if request.subscribed_topic_names is None
        else frozenset(request.subscribed_topic_names),
        regex=_or(request.subscribed_topic_regex, member.regex),
        client_id=beat.client_id,
        client_host=beat.client_host,
        classic=None,
    )
    change = Change(shard, group, records)
    subscription = change.subscribe(member, updated)
    bumps = subscription in (
        Subscription.TOPICS,
        Subscription.RESOLVED,
    ) or change.prefers_another(member, updated)
    updated = change.assign(
        member, updated, owned, bumps=bumps, is_changed=subscription != Subscription.SAME
    )
    expect_heartbeat(shard, group, member_id)
    response = ConsumerGroupHeartbeatResponse(
        member_id=member_id,
        member_epoch=updated.epoch,
        heartbeat_interval_ms=shard.limits.of_group(group.name).heartbeat_ms,
    )
    is_full = (
        request.rebalance_timeout_ms != -1
        and (request.subscribed_topic_names, request.subscribed_topic_regex) != (None, None)
        and owned is not None
    )
    if epoch == 0 or is_full or member.assigned != updated.assigned:
        response.assignment = Assignment(
            [TopicPartitions(topic, sorted(each)) for topic, each in updated.assigned.items()]
        )
    return response, records, change.unresolved


def _or(given: str | None, before: str | None) -> str | None:
    return before if given is None else given


def new_member_id() -> str:
    """An id for a member that has none: like those of topics, not of 36 characters."""
    return topic_id_to_text(random_topic_id())


def check_size(shard: Shard, group: ConsumerGroup, member_id: str, instance_id: str | None) -> None:
    """Raises ApiFailure if there is no room for a member; since 4.4 a static one has its place."""
    most = shard.limits.max_consumers
    if shard.limits.release >= (4, 4) and instance_id in group.static:
        return
    if len(group.members) >= most and member_id not in group.members:
        text = f"The consumer group has reached its maximum capacity of {most} members."
        raise ApiFailure(codes.GROUP_MAX_SIZE_REACHED, text)


def find_or_make(
    shard: Shard, name: str, records: list[CoordinatorRecord], *, joins: bool
) -> ConsumerGroup:
    """The group of a name, new for a member that joins. Raises ApiFailure.

    A group of the classic protocol that has members is upgraded.
    """
    group = shard.consumer_groups.get(name)
    if group is not None:
        return group
    classic = shard.groups.get(name)
    if name in shard.share_groups or name in shard.streams_groups:
        raise ApiFailure(codes.GROUP_ID_NOT_FOUND, f"Group {name} is not a consumer group.")
    if classic is None:
        if not joins:
            raise ApiFailure(codes.GROUP_ID_NOT_FOUND, f"Consumer group {name} not found.")
        return ConsumerGroup(name)
    if not joins:
        raise ApiFailure(codes.GROUP_ID_NOT_FOUND, f"Group {name} is not a consumer group.")
    if classic.state == "Empty":
        cancel_timers(shard, classic)
        records.append(group_tombstone(name))
        return ConsumerGroup(name)
    return upgraded(shard, classic, records)


def _is_part(owned: Owned, member: ConsumerMember) -> bool:
    return owned is not None and all(
        number in member.assigned.get(each.topic_id, ())
        for each in owned
        for number in each.partitions
    )


def _static_member(
    group: ConsumerGroup,
    instance_id: str,
    member_id: str,
    epoch: int,
    owned: Owned,
    records: list[CoordinatorRecord],
) -> ConsumerMember:
    """The static member of a heartbeat, which may come again with another id."""
    if epoch == 0:
        known = group.static_member(instance_id)
        if known is None:
            return group.members.get(member_id) or ConsumerMember(member_id)
        if known.classic is None and known.epoch != LEAVES_FOR_NOW:
            raise unreleased(member_id, known)
        return replace_static(group, known, member_id, records)
    known = group.checked_static(instance_id, member_id)
    check_epoch("consumer", known, epoch, partial(_is_part, owned, known))
    return known


def replace_static(
    group: ConsumerGroup, known: ConsumerMember, member_id: str, records: list[CoordinatorRecord]
) -> ConsumerMember:
    """Give a static member that has come again its new id."""
    member = msgspec.structs.replace(known, id=member_id, epoch=0, previous_epoch=0)
    records += group.member_tombstones(known.id)
    records.append(member_record(group.name, member))
    records.append(target_record(group.name, member_id, group.target.get(known.id, {})))
    records.append(assignment_record(group.name, member))
    return member


def _leave(shard: Shard, request: ConsumerGroupHeartbeatRequest, reply: Reply) -> None:
    name, member_id = request.group_id, request.member_id
    response = ConsumerGroupHeartbeatResponse(
        member_id=member_id, member_epoch=request.member_epoch
    )
    then = reply.once_stored(response)
    group = shard.consumer_group(name)
    member = group.checked_member(member_id, request.instance_id)
    if request.member_epoch == LEAVES_FOR_NOW and request.instance_id is not None:
        assigned = {topic: dict.fromkeys(each, 0) for topic, each in member.assigned.items()}
        away = msgspec.structs.replace(member, epoch=LEAVES_FOR_NOW, revoked={}, assigned=assigned)
        shard.append([assignment_record(name, away)], then)
        return
    remove_member(shard, group, member, then)
