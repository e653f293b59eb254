"""What a connection takes from its peer, and keeps for it, at most."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kafka_admin_proto.arguments import integer_check
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one connection; ValueError for one that is below 1, TypeError for no integer.

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
        check_limits(self)


def check_limits(limits: msgspec.Struct, least: Mapping[str, int] | None = None) -> None:
    """Raise TypeError for a limit that is no integer, ValueError for one that is too low.

    ``least`` has the lowest value of the limits for which it is not 1.
    """
    for name in limits.__struct_fields__:
        lowest = (least or {}).get(name, 1)
        number = integer_check(f"the limit {name} is a whole number")(getattr(limits, name))
        if number < lowest:
            raise ValueError(f"the limit {name} is {number}; the least is {lowest}")
