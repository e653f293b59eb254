"""What a connection takes from its peer, and keeps for it, at most."""

from __future__ import annotations

import msgspec

from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one connection; ValueError for one that is not positive."""

    #: The largest frame taken from the peer, its size prefix left out.
    frame_bytes: int = DEFAULT_FRAME_LIMIT
    #: The largest frame taken before the peer is authenticated.
    unauthenticated_frame_bytes: int = 512 * 1024
    #: Requests whose answers are still to come.
    in_flight: int = 1000
    #: Bytes that wait to be sent: requests for the end of a re-authentication, answers for their
    #: turn.
    waiting_bytes: int = DEFAULT_FRAME_LIMIT

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) < 1:
                raise ValueError(f"limit {name} is {getattr(self, name)}; it has to be 1 or more")
