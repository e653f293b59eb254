"""What a connection takes from its peer, and keeps for it, at most."""

from __future__ import annotations

import msgspec

from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one connection; ValueError for one that is below 1.

    The defaults are a broker's: ``socket.request.max.bytes`` for frames, and
    ``sasl.server.max.receive.size`` as long as the peer may be anyone.
    """

    #: The largest frame that is taken, its size prefix left out.
    frame_bytes: int = DEFAULT_FRAME_LIMIT
    #: The largest frame before versions are negotiated and the peer is authenticated.
    unauthenticated_frame_bytes: int = 512 * 1024
    #: Requests that are unanswered at a time.
    in_flight: int = 1000
    #: Bytes that wait: a server's answers for their turn, a client's requests for the end of a
    #: re-authentication.
    waiting_bytes: int = DEFAULT_FRAME_LIMIT
    #: PBKDF2 rounds that a SCRAM server may ask of a client: about a second's work.
    scram_iterations: int = 1_000_000

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) < 1:
                raise ValueError(f"the limit {name} is {getattr(self, name)}; the least is 1")
