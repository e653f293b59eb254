"""The timers of members of groups of the consumer protocol, by their keys."""

from __future__ import annotations

from collections.abc import Hashable

from kafka_admin_proto.server.coordination.shard import CoordinatorShard


def session_key(group: str, member_id: str) -> Hashable:
    """The key of the timer of a member's session."""
    return "session", group, member_id


def revocation_key(group: str, member_id: str) -> Hashable:
    """The key of the timer within which a member gives partitions back."""
    return "revocation", group, member_id


def join_key(group: str, member_id: str) -> Hashable:
    """The key of the timer within which a member of the classic protocol joins again."""
    return "classic join", group, member_id


def sync_key(group: str, member_id: str) -> Hashable:
    """The key of the timer within which a member of the classic protocol asks what it gets."""
    return "classic sync", group, member_id


def cancel_member(shard: CoordinatorShard, group: str, member_id: str) -> None:
    """End all timers of a member."""
    for key in (session_key, revocation_key, join_key, sync_key):
        shard.cancel(key(group, member_id))
