"""Fetch sessions (KIP-227): a consumer names only what changes, and hears only of what changed.

The rules are those of ``FetchManager``, ``FetchContext`` and ``FetchSession`` in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from random import randrange
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse, FetchResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    LastAnswer,
    next_epoch,
)
from kafka_admin_proto.server.failures import ApiFailure

if TYPE_CHECKING:
    from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchRequest
    from kafka_admin_proto.messages.fetch_response import PartitionData

_SESSIONS, _TOPIC_IDS = 7, 13  # the first versions with them
NO_SESSION = 0
_LENGTH_BYTES = 4
#: A session that was not used for so long, or smaller ones that are so old, make room for others.
_EVICTION_MS = 120_000
#: The most partitions of a session and of all sessions of a shard, which Kafka does not bound. Each
#: request of a session reads all its partitions, and few bytes ask for that.
MOST_PARTITIONS, MOST_OF_SHARD = 5_000, 25_000
#: The parts of a broker's cache, which share its slots and all ids.
_SHARDS = 8
_IDS_OF_SHARD = ((1 << 31) - 1) // _SHARDS

#: A partition of a request: its topic by name or id, and its number.
Key = tuple[str | UUID, int]


class Asked(msgspec.Struct, frozen=True):
    """What is asked of a partition.

    ``name`` is the topic's, None for an id that the broker does not know. In a session it stays,
    whatever becomes of the topic; so does ``answered``, what was answered last.
    """

    name: str | None
    part: FetchPartition
    answered: LastAnswer


class FetchContext:
    """The partitions that a request is about, in the order in which they are read."""

    def __init__(self, partitions: dict[Key, Asked]) -> None:
        self.partitions = partitions

    def response(self, rows: dict[Key, PartitionData], now_ms: int) -> FetchResponse:
        """The response with these rows, as far as the client does not know them."""
        return _response(rows, NO_SESSION)

    def size_bytes(self, rows: dict[Key, PartitionData], version: int) -> int:
        """The bytes of that response, with the length in front, as quotas count them."""
        return _LENGTH_BYTES + len(_response(self._news(rows), NO_SESSION).encode(version))

    def throttled(self) -> FetchResponse:
        """The response without rows of a client that is beyond its quota."""
        return FetchResponse()

    def _news(self, rows: dict[Key, PartitionData]) -> dict[Key, PartitionData]:
        return rows


class _FullContext(FetchContext):
    """The first request of a session, which begins with the response if there is room for it."""

    def __init__(
        self, partitions: dict[Key, Asked], shard: Callable[[], _Shard], kind: _Kind
    ) -> None:
        super().__init__(partitions)
        self._shard = shard
        self._kind = kind

    def response(self, rows: dict[Key, PartitionData], now_ms: int) -> FetchResponse:
        partitions = {key: self.partitions[key] for key in rows}
        for key, row in rows.items():
            partitions[key].answered.remember(row)
        return _response(rows, self._shard().create(partitions, self._kind, now_ms))


class _IncrementalContext(FetchContext):
    """A further request of a session; a row without anything new is left out."""

    def __init__(self, session: _Session) -> None:
        super().__init__(dict(session.partitions))
        self._session = session
        self._next_epoch = session.epoch

    def response(self, rows: dict[Key, PartitionData], now_ms: int) -> FetchResponse:
        session = self._session
        without_rows = self.throttled()
        if without_rows.error_code:
            return without_rows
        changed = {}
        for key, row in rows.items():
            cached = session.partitions.get(key)
            if cached is None or not cached.answered.differs(row):
                continue
            changed[key] = row
            if row.records:  # it is read last next time
                session.partitions[key] = session.partitions.pop(key)
        return _response(changed, session.id)

    def throttled(self) -> FetchResponse:
        response = FetchResponse(session_id=self._session.id)
        if self._session.epoch != self._next_epoch:
            # The client has asked anew meanwhile, on another connection.
            response.error_code = codes.INVALID_FETCH_SESSION_EPOCH
        return response

    def _news(self, rows: dict[Key, PartitionData]) -> dict[Key, PartitionData]:
        partitions = self._session.partitions
        return {
            key: row
            for key, row in rows.items()
            if key in partitions and partitions[key].answered.is_news(row)
        }


class _Kind(msgspec.Struct, frozen=True):
    """Whether a session is a follower's, and whether it names topics by ids."""

    of_follower: bool
    by_ids: bool


class _Session(msgspec.Struct):
    """A session of one client with one broker; ``epoch`` is that of its next request."""

    id: int
    kind: _Kind
    created_ms: int
    used_ms: int
    partitions: dict[Key, Asked]
    epoch: int = next_epoch(INITIAL_EPOCH)

    @property
    def rank(self) -> tuple[bool, int, int]:
        """What has the least one makes room for others first."""
        return self.kind.of_follower, len(self.partitions), self.id


class _Shard:
    """A part of the sessions: at most ``slots`` of them."""

    def __init__(self, number: int, slots: int) -> None:
        self._number = number
        self._slots = slots
        self.sessions: dict[int, _Session] = {}

    def create(self, partitions: dict[Key, Asked], kind: _Kind, now_ms: int) -> int:
        """The id of a new session; NO_SESSION if there is no room for it."""
        if len(partitions) > MOST_PARTITIONS:
            return NO_SESSION
        while self._is_full(len(partitions)):
            if not self._evict(len(partitions), kind, now_ms):
                return NO_SESSION
        first = self._number * _IDS_OF_SHARD
        while (found := randrange(max(1, first), first + _IDS_OF_SHARD)) in self.sessions:
            pass
        self.sessions[found] = _Session(found, kind, now_ms, now_ms, partitions)
        return found

    def _is_full(self, size: int) -> bool:
        """Whether one more session, of ``size`` partitions, would be too much."""
        kept = sum(len(each.partitions) for each in self.sessions.values())
        return len(self.sessions) >= self._slots or kept + size > MOST_OF_SHARD

    def _evict(self, size: int, kind: _Kind, now_ms: int) -> bool:
        """Make room: of a session that is not used any more, or of one that counts less."""
        if not self.sessions:
            return False
        evicted = min(self.sessions.values(), key=lambda each: (each.used_ms, each.id))
        if now_ms - evicted.used_ms <= _EVICTION_MS:
            less = [
                each
                for each in self.sessions.values()
                if each.rank < (kind.of_follower, size, 0)
                and (
                    each.used_ms - each.created_ms > _EVICTION_MS
                    or (kind.of_follower and not each.kind.of_follower)
                )
            ]
            if not less:
                return False
            evicted = min(less, key=lambda each: each.rank)
        del self.sessions[evicted.id]
        return True


class FetchSessions:
    """The sessions of a node; as in Kafka, each shard has an eighth of the ``slots``."""

    def __init__(self, slots: int) -> None:
        self._shards = [_Shard(number, slots // _SHARDS) for number in range(_SHARDS)]
        self._next = 0

    def context(
        self,
        request: FetchRequest,
        version: int,
        *,
        of_follower: bool,
        name_of: Callable[[UUID], str | None],
        now_ms: int,
    ) -> FetchContext:
        """What a request is about; its session, if it has one, is updated or ended.

        Raises ApiFailure for an unknown session, an epoch that is not the next one, and topics by
        name in a session by ids or the other way round.
        """
        by_ids = version >= _TOPIC_IDS
        asked = {
            (each.topic_id if by_ids else each.topic, part.partition): Asked(
                name_of(each.topic_id) if by_ids else each.topic, part, LastAnswer()
            )
            for each in request.topics
            for part in each.partitions
        }
        epoch = request.session_epoch if version >= _SESSIONS else FINAL_EPOCH
        if epoch in (FINAL_EPOCH, INITIAL_EPOCH):
            if version >= _SESSIONS and request.session_id != NO_SESSION:
                self._shard_of(request.session_id).sessions.pop(request.session_id, None)
            if epoch == FINAL_EPOCH:
                return FetchContext(asked)
            return _FullContext(asked, self._next_shard, _Kind(of_follower, by_ids))
        sessions = self._shard_of(request.session_id).sessions
        session = sessions.get(request.session_id)
        if session is None:
            raise ApiFailure(codes.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            raise ApiFailure(codes.INVALID_FETCH_SESSION_EPOCH)
        if session.kind.by_ids != by_ids:
            raise ApiFailure(codes.FETCH_SESSION_TOPIC_ID_ERROR)
        partitions = session.partitions
        for key, each in asked.items():
            known = partitions.get(key, each)
            partitions[key] = Asked(known.name, each.part, known.answered)
        for topic in request.forgotten_topics_data:
            for number in topic.partitions:
                partitions.pop((topic.topic_id if by_ids else topic.topic, number), None)
        if not partitions:
            del sessions[session.id]
            return FetchContext(asked)
        if len(partitions) > MOST_PARTITIONS:  # the client goes on without a session
            del sessions[session.id]
            raise ApiFailure(codes.FETCH_SESSION_ID_NOT_FOUND)
        for key, each in partitions.items():
            if each.name is None and isinstance(key[0], UUID):
                partitions[key] = msgspec.structs.replace(each, name=name_of(key[0]))
        session.used_ms, session.epoch = now_ms, next_epoch(epoch)
        return _IncrementalContext(session)

    def partitions(self, request: FetchRequest) -> dict[Key, FetchPartition]:
        """The partitions of the session that a further request is of; none without one."""
        if request.session_epoch in (FINAL_EPOCH, INITIAL_EPOCH):
            return {}
        try:
            session = self._shard_of(request.session_id).sessions.get(request.session_id)
        except ApiFailure:
            session = None
        return {} if session is None else {key: x.part for key, x in session.partitions.items()}

    def _next_shard(self) -> _Shard:
        number, self._next = self._next, (self._next + 1) % _SHARDS
        return self._shards[number]

    def _shard_of(self, session_id: int) -> _Shard:
        """Raises ApiFailure for an id behind those of all shards, where Kafka's own code fails."""
        number = int(session_id / _IDS_OF_SHARD)  # as in Java, rounded towards zero
        if not 0 <= number < _SHARDS:
            raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
        return self._shards[number]


def _response(rows: dict[Key, PartitionData], session_id: int) -> FetchResponse:
    """The rows in their order; those of one topic that follow each other are of one item."""
    response = FetchResponse(session_id=session_id)
    last: str | UUID | None = None
    for (name, _), row in rows.items():
        if name != last:
            topic = FetchableTopicResponse()
            if isinstance(name, UUID):
                topic.topic_id = name
            else:
                topic.topic = name
            response.responses.append(topic)
            last = name
        response.responses[-1].partitions.append(row)
    return response
