"""The members of groups of the classic protocol (``ClassicGroupMember`` in Kafka)."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from kafka_admin_proto.server.coordination.replies import Reply

#: (name, metadata) of a protocol that a member supports, the one that it likes best first.
Protocols = list[tuple[str, bytes]]


class Member(msgspec.Struct):
    """A member; ``join`` and ``sync`` are its requests that wait.

    ``is_new`` until its first JoinGroup is answered: it cannot send heartbeats yet.
    """

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    is_new: bool = False
    join: Reply | None = None
    sync: Reply | None = None

    def metadata(self, protocol: str | None) -> bytes:
        """What the member sent for a protocol."""
        return next((data for name, data in self.protocols if name == protocol), b"")

    def vote(self, candidates: Collection[str]) -> str:
        """The protocol of the candidates that the member likes best."""
        return next(name for name, _ in self.protocols if name in candidates)

    @property
    def keeps_alive(self) -> bool:
        """Whether the member needs no heartbeat: it waits for the group."""
        return not self.is_new and (self.join is not None or self.sync is not None)
