"""Groups of consumers and others: list, describe, delete; their offsets and members."""

from __future__ import annotations

from kafka_admin_proto.admin.operations.groups.listing import ListGroups
from kafka_admin_proto.admin.operations.groups.offsets import CommittedOffsets
from kafka_admin_proto.admin.operations.groups.removal import RemoveGroups
from kafka_admin_proto.admin.operations.groups.share_offsets import ShareStartOffsets


class GroupOperations(ListGroups, RemoveGroups, CommittedOffsets, ShareStartOffsets):
    """Groups. Each is asked for at its coordinator, wherever that moves within the timeout.

    A group that its coordinator answers with an error has it in its result; where no coordinator
    could be asked at all, the exception is raised.
    """
