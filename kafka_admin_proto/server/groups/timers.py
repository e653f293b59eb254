"""The timers of members of groups in which the coordinator assigns, and what ends by them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.groups.modern import ModernGroup, RevokingMember
from kafka_admin_proto.server.groups.shard import Shard


def session_key(group: str, member_id: str) -> Hashable:
    """The key of the timer of a member's session."""
    return "session", group, member_id


def revocation_key(group: str, member_id: str) -> Hashable:
    """The key of the timer within which a member gives back."""
    return "revocation", group, member_id


def join_key(group: str, member_id: str) -> Hashable:
    """The key of the timer within which a member of the classic protocol joins again."""
    return "classic join", group, member_id


def sync_key(group: str, member_id: str) -> Hashable:
    """The key of the timer within which a member of the classic protocol asks what it gets."""
    return "classic sync", group, member_id


def cancel_member(shard: Shard, group: str, member_id: str) -> None:
    """End all timers of a member."""
    for key in (session_key, revocation_key, join_key, sync_key):
        shard.cancel(key(group, member_id))


def expect_heartbeat(
    shard: Shard, group: ModernGroup[Any, Any], member_id: str, timeout_ms: int | None = None
) -> None:
    """Let a member's session begin anew."""
    if timeout_ms is None:
        timeout_ms = shard.limits.of_group(group.name, group.kind).session_ms
    shard.later(session_key(group.name, member_id), timeout_ms, expiry(shard, group, member_id))


def expect_revocation(shard: Shard, group: ModernGroup[Any, Any], member: RevokingMember) -> None:
    """Remove a member that does not give back in time, and is of the same epoch then."""
    key = revocation_key(group.name, member.id)
    expire = expiry(shard, group, member.id, key=key, epoch=member.epoch)
    shard.later(key, member.rebalance_timeout_ms, expire)


def expiry(
    shard: Shard,
    group: ModernGroup[Any, Any],
    member_id: str,
    *,
    key: Hashable = None,
    epoch: int | None = None,
) -> Callable[[], None]:
    """A function that removes a member, if it is still there, of that epoch if one is given.

    What the log refuses is tried again by a timer of that key, by default the session's.
    """
    kind, name = group.kind, group.name

    def expired(then: Then) -> None:
        now = shard.modern_group(name)
        member = None if now is None or now.kind != kind else now.members.get(member_id)
        if member is not None and epoch in (None, member.epoch):
            shard.removes[kind](shard, now, member, then)

    return shard.retried(key or session_key(name, member_id), expired)
