"""Fetch sessions (KIP-227), as far as topic ids matter: Kafka's FetchSession."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from kafka_admin_proto.messages.fetch_request import FetchPartition
from kafka_admin_proto.protocol.fetch_sessions import LastAnswer
from kafka_admin_proto.schema.scalars import ZERO_UUID

#: A session keeps this many before others: Kafka's max.incremental.fetch.session.cache.slots.
_SESSIONS = 1000

#: The key of a partition in a session: the topic's id, or its name in requests without ids.
Key = tuple[UUID, str, int]


@dataclass(slots=True)
class FetchedPartition:
    """A partition in a Fetch request. ``topic`` is None while no topic of that id is known."""

    topic: str | None
    topic_id: UUID
    partition: FetchPartition
    answered: LastAnswer = field(default_factory=LastAnswer)

    @property
    def key(self) -> Key:
        name = "" if self.topic_id != ZERO_UUID else self.topic or ""
        return self.topic_id, name, self.partition.partition


@dataclass(slots=True)
class Session:
    """A session: its partitions in the order in which they are answered."""

    uses_ids: bool
    epoch: int = 1
    partitions: dict[Key, FetchedPartition] = field(default_factory=dict)


@dataclass(slots=True)
class SessionCache:
    """Sessions by id."""

    sessions: dict[int, Session] = field(default_factory=dict)
    _last_id: int = 0

    def add(self, session: Session) -> int:
        """Keep a session, and return its id; 0 where there is no room."""
        if len(self.sessions) >= _SESSIONS:
            return 0
        self._last_id += 1
        self.sessions[self._last_id] = session
        return self._last_id
