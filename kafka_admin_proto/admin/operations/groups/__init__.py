"""Groups of consumers and others: list, describe, delete; their offsets and members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.operations.groups import describing, listing, removal
from kafka_admin_proto.admin.operations.groups.model import (
    AlteredOffset,
    DeletedShareOffsets,
    GroupDescription,
    GroupListing,
    GroupOffsets,
    GroupResult,
    MemberToRemove,
    NewOffset,
    RemovedMember,
    ShareOffsets,
)
from kafka_admin_proto.admin.operations.groups.offsets import (
    commit_offsets,
    delete_offsets,
    fetch_offsets,
)
from kafka_admin_proto.admin.operations.groups.share_offsets import (
    alter_share_offsets,
    delete_share_offsets,
    describe_share_offsets,
)


class GroupOperations(Caller):
    """Groups. Each is asked for at its coordinator, wherever that moves within the timeout.

    A group that its coordinator answers with an error has it in its result; where no coordinator
    could be asked at all, the exception is raised.
    """

    async def list_groups(
        self,
        *,
        states: Iterable[str] = (),
        types: Iterable[str] = (),
        protocol_types: Iterable[str] = (),
        timeout: float | None = None,
    ) -> GroupListing:
        """The groups of all brokers, sorted; those of the states, types and protocols asked for.

        ``states`` and ``types`` are Kafka's names in any case ("Stable", "consumer"), which the
        brokers filter by; one that is too old to (before 2.6, before 3.8) is among the ``failed``.
        Raises InstructionError for a name that Kafka has not.
        """
        return await listing.list_groups(
            self, list(states), list(types), set(protocol_types), timeout
        )

    async def describe_groups(
        self,
        groups: Iterable[str],
        *,
        authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> list[GroupDescription]:
        """Groups of any type (classic, consumer, share, streams), in order, each id once.

        A group that does not exist has the error GROUP_ID_NOT_FOUND, from brokers before 4.0 the
        state "Dead" instead.
        """
        return await describing.describe_groups(self, list(groups), authorized_operations, timeout)

    async def delete_groups(
        self, groups: Iterable[str], *, timeout: float | None = None
    ) -> list[GroupResult]:
        """Delete groups without members, and with them their offsets."""
        return await removal.delete_groups(self, list(groups), timeout)

    async def list_group_offsets(
        self,
        groups: Mapping[str, Iterable[tuple[str, int]] | None],
        *,
        require_stable: bool = False,
        timeout: float | None = None,
    ) -> list[GroupOffsets]:
        """The committed offsets of groups: of (topic, partition) pairs, or with None of all.

        Pairs without a committed offset have None. ``require_stable`` waits for transactions that
        have offsets to commit, up to the timeout.
        """
        return await fetch_offsets(self, groups, require_stable, timeout)

    async def alter_group_offsets(
        self,
        group: str,
        offsets: Mapping[tuple[str, int], int | NewOffset],
        *,
        timeout: float | None = None,
    ) -> list[AlteredOffset]:
        """Commit offsets by (topic, partition) for a group without members.

        A group that does not exist is created. One with members answers UNKNOWN_MEMBER_ID.
        """
        return await commit_offsets(self, group, offsets, timeout)

    async def delete_group_offsets(
        self,
        group: str,
        partitions: Iterable[tuple[str, int]],
        *,
        timeout: float | None = None,
    ) -> list[AlteredOffset]:
        """Delete committed offsets of (topic, partition) pairs.

        Those of topics that members are subscribed to stay: GROUP_SUBSCRIBED_TO_TOPIC.
        """
        return await delete_offsets(self, group, partitions, timeout)

    async def list_share_group_offsets(
        self,
        groups: Mapping[str, Iterable[tuple[str, int]] | None],
        *,
        timeout: float | None = None,
    ) -> list[ShareOffsets]:
        """Where share groups begin to read (topic, partition) pairs, or with None all they read.

        Pairs that a group has not begun to read have None (KIP-932, KIP-1226). As coordinators
        answer, a name without a share group has no offsets, and no error.
        """
        return await describe_share_offsets(self, groups, timeout)

    async def alter_share_group_offsets(
        self,
        group: str,
        offsets: Mapping[tuple[str, int], int],
        *,
        timeout: float | None = None,
    ) -> list[AlteredOffset]:
        """Let a share group begin at other offsets, by (topic, partition).

        What was delivered and not acknowledged of them is forgotten. A group with members answers
        NON_EMPTY_GROUP.
        """
        return await alter_share_offsets(self, group, offsets, timeout)

    async def delete_share_group_offsets(
        self, group: str, topics: Iterable[str], *, timeout: float | None = None
    ) -> list[DeletedShareOffsets]:
        """Delete where a share group begins in topics: it begins anew as its configs say.

        A group with members answers NON_EMPTY_GROUP.
        """
        return await delete_share_offsets(self, group, topics, timeout)

    async def remove_group_members(
        self,
        group: str,
        members: Iterable[MemberToRemove] | None = None,
        *,
        reason: str | None = None,
        timeout: float | None = None,
    ) -> list[RemovedMember]:
        """Make members leave a group; all of them by default. They may join again.

        ``reason`` is for the coordinator's log. Raises BrokerError where all were asked for and
        the group cannot be described.
        """
        return await removal.remove_members(self, group, members, reason, timeout)
