"""The share sessions of a broker: the partitions that a member asks for with each ShareFetch.

``ShareSessionCache`` in Kafka.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure

#: A partition by the id of its topic.
Place = tuple[UUID, int]
#: A group and a member of it.
Owner = tuple[str, str]
#: The epochs with which a session begins and ends.
BEGINS, ENDS = 0, -1
_LAST_EPOCH = (1 << 31) - 1
#: The most partitions of a session and of all of a broker, which Kafka does not bound: a request of
#: a session that names none is about all of them.
MOST_PARTITIONS, MOST_OF_BROKER = 5_000, 200_000


class ShareSession:
    """The partitions of a session, each with whether the next response has a row for it anyway.

    ``names`` are those of their topics, which a session knows on when a topic is deleted.
    """

    def __init__(self, partitions: Iterable[Place], connection: object) -> None:
        self.epoch: int = 1
        self.partitions: dict[Place, bool] = dict.fromkeys(partitions, False)
        self.names: dict[UUID, str] = {}
        self.connection = connection

    def go_on(self, epoch: int) -> None:
        """Count a request of the session. Raises ApiFailure for one that is not the next."""
        if epoch != self.epoch:
            raise ApiFailure(codes.INVALID_SHARE_SESSION_EPOCH)
        self.epoch = 1 if epoch == _LAST_EPOCH else epoch + 1

    def update(self, wanted: Iterable[Place], forgotten: Iterable[Place]) -> None:
        """Add partitions, and forget others."""
        for each in wanted:
            self.partitions.setdefault(each, True)
        for each in forgotten:
            self.partitions.pop(each, None)

    def needs_row(self, place: Place, *, has_records: bool, has_error: bool) -> bool:
        """Whether the response of a session that goes on has a row for a partition."""
        is_due = self.partitions.get(place, False)
        if place in self.partitions:
            if has_records:  # partitions that had records come last the next time
                del self.partitions[place]
            self.partitions[place] = has_error
        return has_records or has_error or is_due


class ShareSessions:
    """The sessions of a broker by group and member, ``most`` at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._sessions: dict[Owner, ShareSession] = {}
        #: The member of the last session that each connection began.
        self._last: dict[object, Owner] = {}

    def found(self, owner: Owner) -> ShareSession:
        if owner not in self._sessions:
            raise ApiFailure(codes.SHARE_SESSION_NOT_FOUND)
        return self._sessions[owner]

    def begin(
        self, owner: Owner, partitions: Collection[Place], connection: object
    ) -> ShareSession:
        """A new session in the place of the member's last one.

        Raises ApiFailure if the broker is full, and as Kafka does for a partition that comes twice.
        """
        self._sessions.pop(owner, None)
        if len(set(partitions)) < len(partitions):
            raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
        session = ShareSession(partitions, connection)
        others = sum(len(each.partitions) for each in self._sessions.values())
        if (
            len(self._sessions) >= self._most
            or len(session.partitions) > MOST_PARTITIONS
            or len(session.partitions) + others > MOST_OF_BROKER
        ):
            raise ApiFailure(codes.SHARE_SESSION_LIMIT_REACHED)
        self._sessions[owner] = session
        self._last[connection] = owner
        return session

    def end(self, owner: Owner) -> list[Place]:
        """End a session; its partitions, none if another request has ended it."""
        found = self._sessions.pop(owner, None)
        return [] if found is None else list(found.partitions)

    def last_of(self, connection: object) -> Owner | None:
        """The member whose session a connection began last, which is closed."""
        return self._last.pop(connection, None)

    def is_of(self, owner: Owner, connection: object) -> bool:
        found = self._sessions.get(owner)
        return found is not None and found.connection is connection

    def has_group(self, group: str) -> bool:
        return any(each == group for each, _ in self._sessions)
