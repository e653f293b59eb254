"""The sessions of brokers in processes of their own: one that sends no heartbeat is fenced.

A broker's session lasts ``broker.session.timeout.ms`` from its last heartbeat on, by the clock of
the cluster. Kafka's controllers look for ended sessions four times in that time; here one ends when
it is over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.server.brokers import replicas
from kafka_admin_proto.server.clock import Timer

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

_NONE = -1


class Session(msgspec.Struct):
    """What a broker's registration and heartbeats say."""

    #: The offset of its registration's record, which it has to know before it is unfenced.
    registered_offset: int
    #: The directories that it registered with.
    directories: Sequence[UUID]
    #: When its last heartbeat came, by the clock of the cluster in seconds.
    touched_s: float = -math.inf
    #: How far it has applied the log, by its last heartbeat.
    metadata_offset: int = _NONE
    #: The end of the log when its leaders began to move; -1 while it does not end.
    shutdown_offset: int = _NONE
    timer: Timer | None = None


class Sessions:
    """The sessions of a controller's brokers, by their ids."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._sessions: dict[int, Session] = {}
        #: The broker that registered with a directory; it may have lost that one since.
        self._owners: dict[UUID, int] = {}
        #: Brokers that stay fenced although they send heartbeats.
        self.kept_fenced: set[int] = set()

    def registered(self, broker: int, offset: int, directories: Sequence[UUID]) -> None:
        """A new incarnation of a broker has registered by the record at ``offset``."""
        self.forget(broker)
        self._sessions[broker] = Session(offset, directories)
        self._owners |= dict.fromkeys(directories, broker)

    def amended(self, broker: int, offset: int, directories: Sequence[UUID]) -> None:
        """The same incarnation of a broker has registered again: its session goes on."""
        session = self._sessions[broker]
        self._disown(broker, session)
        session.registered_offset, session.directories = offset, directories
        self._owners |= dict.fromkeys(directories, broker)

    def forget(self, broker: int) -> None:
        """End a broker's session: it is another incarnation, or registered no more."""
        known = self._sessions.pop(broker, None)
        if known is not None:
            self._disown(broker, known)
            if known.timer is not None:
                known.timer.cancel()

    def owner(self, directory: UUID) -> int | None:
        """The broker that has a directory, found without a look at all brokers."""
        owner = self._owners.get(directory)
        if owner is None or directory not in self._state.cluster.brokers[owner].directories:
            return None
        return owner

    def _disown(self, broker: int, session: Session) -> None:
        for each in session.directories:
            if self._owners.get(each) == broker:  # one that it lost may have another owner since
                del self._owners[each]

    def of(self, broker: int) -> Session:
        return self._sessions[broker]

    def touch(self, broker: int, metadata_offset: int) -> None:
        """A heartbeat has come."""
        session, clock = self._sessions[broker], self._state.clock
        session.touched_s, session.metadata_offset = clock.time_s(), metadata_offset
        if session.timer is not None:
            session.timer.cancel()
        session.timer = clock.later(self._timeout_s(), self._is_over, broker)

    def is_valid(self, broker: int) -> bool:
        """Whether a broker's last heartbeat is recent; since 4.0 it may be fenced nevertheless."""
        session = self._sessions.get(broker)
        if session is None:
            return False
        if self._state.release < (4,) and self._state.cluster.brokers[broker].fenced:
            return False
        return self._state.clock.time_s() - session.touched_s < self._timeout_s()

    def lowest_active_offset(self) -> float:
        """How far each broker has applied the log, of those that neither end nor are fenced."""
        return min(
            (
                session.metadata_offset
                for broker, session in self._sessions.items()
                if self._state.is_active(broker)
            ),
            default=math.inf,
        )

    def fence(self, broker: int) -> None:
        """Fence a broker although it runs, until ``kept_fenced`` has it no more.

        Raises ValueError for one that is not registered.
        """
        state = self._state
        self._check(broker)
        self.kept_fenced.add(broker)
        if not state.cluster.brokers[broker].fenced:
            state.append(replicas.fence(state, broker))

    def unfence(self, broker: int) -> None:
        """Let the next heartbeat of a broker unfence it; ValueError as for ``fence``."""
        if broker not in self.kept_fenced:  # which may be registered no more
            self._check(broker)
        self.kept_fenced.discard(broker)

    def _check(self, broker: int) -> None:
        brokers = self._state.cluster.brokers
        if broker not in brokers:
            there = ", ".join(map(str, sorted(brokers))) or "none"
            raise ValueError(f"there is no broker {broker}; registered are {there}")

    def end(self) -> None:
        """Fence no more brokers: the cluster has ended."""
        for broker in list(self._sessions):
            self.forget(broker)

    def _timeout_s(self) -> float:
        timeout_ms: int = self._state.broker_value("broker.session.timeout.ms")
        return timeout_ms / 1000

    def _is_over(self, broker: int) -> None:
        state = self._state
        session = self._sessions[broker]
        session.timer, session.shutdown_offset = None, _NONE
        if not state.cluster.brokers[broker].fenced:
            state.append(replicas.fence(state, broker))
            SERVER.info("broker %d is fenced: it sent no heartbeat", broker)
