"""What a cluster has given the members of share groups: their epochs, and records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from kafka_admin_proto.messages import (
    ShareAcknowledgeRequest,
    ShareFetchRequest,
    ShareGroupHeartbeatRequest,
)
from kafka_admin_proto.protocol import codes

#: The epoch with which a session begins.
NOT_BEGUN = 0
ENDS = -1
#: COORDINATOR_LOAD_IN_PROGRESS and COORDINATOR_NOT_AVAILABLE.
_LOADING = (14, 15)
#: OffsetCommit, DeleteGroups, ConsumerGroupHeartbeat, and what share groups are asked.
_OF_GROUPS = frozenset({8, 42, 68, 76, 77, 78, 79, 90, 91, 92})
_TYPES = ("gap", "accept", "release", "reject", "renew")

#: The node, group and member id, topic and partition of records.
Place = tuple[int, str, str, str, int]


class Members:
    """Epochs and records of members, by group and member id; sessions and records by node too.

    ``answers`` counts rows of answers that acknowledged records of their members without an error,
    ``acknowledged`` these records by the type; both stay when the members are forgotten.
    """

    def __init__(self) -> None:
        self.answers = 0
        self.acknowledged: Counter[str] = Counter()
        self.forget()

    def forget(self) -> None:
        """There are no members any more."""
        self._epochs: dict[tuple[str, str], int] = {}
        self._sessions: dict[tuple[int, str, str], int] = {}
        self._acquired: dict[Place, list[int]] = {}
        #: Partitions that each session asks for in an order that nobody knows.
        self._unordered: dict[tuple[int, str, str], list[set[tuple[UUID, int]]]] = {}

    def epoch(self, group: str, member: str) -> int:
        """The epoch of the last heartbeat's answer, 0 of a member that is new."""
        return self._epochs.get((group, member), 0)

    def session(self, node: int, group: str, member: str) -> int:
        """The next epoch of a member's session with a node."""
        return self._sessions.get((node, group, member), NOT_BEGUN)

    def acquired(self, place: Place) -> list[int]:
        """The offsets that a member has of a partition."""
        return self._acquired.get(place, [])

    def holders(self, node: int) -> list[Place]:
        """Who has records of which partitions that a node leads."""
        places = (place for place, offsets in self._acquired.items() if offsets)
        return sorted(place for place in places if place[0] == node)

    def is_ordered(self, node: int, group: str, member: str) -> bool:
        """Whether both clusters read the partitions of a member's session in the same order.

        Partitions with records come last the next time. Those of one answer do so in the order of
        their hashes in Kafka, which are those of topics' ids, until each has come alone.
        """
        return not self._unordered.get((node, group, member))

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
            owner = (node, str(request.group_id), str(request.member_id))
            epoch = request.share_session_epoch
            self._sessions[owner] = NOT_BEGUN if epoch == ENDS else epoch + 1
            rows = {
                (topic.topic_id, row.partition_index): row
                for topic in answer.responses
                for row in topic.partitions
            }
            for topic in request.topics:
                for part in topic.partitions:
                    row = rows.get((topic.topic_id, part.partition_index))
                    if row is not None and part.acknowledgement_batches:
                        name = names.get(topic.topic_id, "")
                        self._acknowledge((*owner, name, part.partition_index), part, row)
            for (topic_id, number), row in rows.items():
                place = (*owner, names.get(topic_id, ""), number)
                found = {
                    offset
                    for each in getattr(row, "acquired_records", ())
                    for offset in range(each.first_offset, each.last_offset + 1)
                }
                if found:
                    self._acquired[place] = sorted({*self.acquired(place), *found})
            if isinstance(request, ShareFetchRequest):
                self._reorder(owner, request, {key for key, row in rows.items() if row.records})
            if epoch == ENDS:
                for place in self.holders(node):
                    if place[:3] == owner:
                        del self._acquired[place]

    def _reorder(
        self, owner: tuple[int, str, str], request: ShareFetchRequest, moved: set[tuple[UUID, int]]
    ) -> None:
        """Take over which partitions come last from now on: those with records, but at first."""
        if request.share_session_epoch in (NOT_BEGUN, ENDS):
            self._unordered[owner] = []
            return
        gone = {
            (topic.topic_id, number)
            for topic in request.forgotten_topics_data
            for number in topic.partitions
        }
        blocks = [*(each - moved for each in self._unordered.get(owner, [])), moved]
        self._unordered[owner] = [left for each in blocks if len(left := each - gone) > 1]

    def _acknowledge(self, place: Place, part: Any, row: Any) -> None:
        """Take over what became of the acknowledgements of a partition."""
        has = {*self.acquired(place)}
        named = list(_named(part))
        if not (code := getattr(row, "acknowledge_error_code", row.error_code)):
            done = [(offset, kind) for offset, kind in named if offset in has]
            self.answers += bool(done)
            self.acknowledged.update(_TYPES[kind] for _, kind in done)
            gone = {offset for offset, kind in done if _TYPES[kind] != "renew"}
        elif code == codes.INVALID_RECORD_STATE and all(offset in has for offset, _ in named):
            gone = {offset for offset, _ in named}  # the member has them no more
        else:
            return
        self._acquired[place] = sorted(has - gone)


def _named(part: Any) -> Iterator[tuple[int, int]]:
    """The (offset, type) of all that a request acknowledges of a partition."""
    for each in part.acknowledgement_batches:
        offsets = range(each.first_offset, each.last_offset + 1)
        types = each.acknowledge_types
        yield from zip(offsets, types * len(offsets) if len(types) == 1 else types, strict=False)


def is_loading(answer: Any) -> bool:
    """Whether a coordinator of groups or of share states is not ready yet."""
    if answer is None or answer.api_key not in _OF_GROUPS:
        return False
    return any(f"error_code={code}," in repr(answer) for code in _LOADING)
