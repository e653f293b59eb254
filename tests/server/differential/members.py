"""What a cluster has given the members of share groups: their epochs, and records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from kafka_admin_proto.messages import (
    ShareAcknowledgeRequest,
    ShareFetchRequest,
    ShareGroupHeartbeatRequest,
)

#: The epoch with which a session begins.
NOT_BEGUN = 0
ENDS = -1
#: COORDINATOR_LOAD_IN_PROGRESS and COORDINATOR_NOT_AVAILABLE.
_LOADING = (14, 15)
#: OffsetCommit, DeleteGroups, ConsumerGroupHeartbeat, and what share groups are asked.
_OF_GROUPS = frozenset({8, 42, 68, 76, 77, 78, 79, 90, 91, 92})


class Members:
    """Epochs and records of members, by group and member id; sessions by node too."""

    def __init__(self) -> None:
        self._epochs: dict[tuple[str, str], int] = {}
        self._sessions: dict[tuple[int, str, str], int] = {}
        self._acquired: dict[tuple[str, str, str, int], list[int]] = {}

    def epoch(self, group: str, member: str) -> int:
        """The epoch of the last heartbeat's answer, 0 of a member that is new."""
        return self._epochs.get((group, member), 0)

    def session(self, node: int, group: str, member: str) -> int:
        """The next epoch of a member's session with a node."""
        return self._sessions.get((node, group, member), NOT_BEGUN)

    def acquired(self, group: str, member: str, topic: str, partition: int) -> list[int]:
        """The offsets that a member has last got of a partition."""
        return self._acquired.get((group, member, topic, partition), [])

    @property
    def owners(self) -> list[tuple[int, str, str]]:
        """The nodes, groups and member ids of all sessions that there may be."""
        return list(self._sessions)

    def learn(self, node: int, request: Any, answer: Any, names: Mapping[UUID, str]) -> None:
        """Take over what an answer gives."""
        if getattr(answer, "error_code", 1):
            return
        if isinstance(request, ShareGroupHeartbeatRequest):
            self._epochs[request.group_id, request.member_id] = max(0, answer.member_epoch)
        elif isinstance(request, ShareFetchRequest | ShareAcknowledgeRequest):
            epoch, owner = (
                request.share_session_epoch,
                (str(request.group_id), str(request.member_id)),
            )
            self._sessions[node, *owner] = NOT_BEGUN if epoch == ENDS else epoch + 1
            for topic in answer.responses:
                for row in topic.partitions:
                    if found := getattr(row, "acquired_records", None):
                        key = (*owner, names.get(topic.topic_id, ""), row.partition_index)
                        self._acquired[key] = [
                            offset
                            for each in found
                            for offset in range(each.first_offset, each.last_offset + 1)
                        ]


def is_loading(answer: Any) -> bool:
    """Whether a coordinator of groups or of share states is not ready yet."""
    if answer is None or answer.api_key not in _OF_GROUPS:
        return False
    return any(f"error_code={code}," in repr(answer) for code in _LOADING)
