"""How the frames of captures are decoded, and how much of them is shown."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT


class DecodeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options that hold for all connections of a capture.

    ``limit`` is the largest frame in bytes; ``dialect`` names the definitions. ``body`` False
    leaves bodies unread; ``bodies`` are the api keys whose bodies are read, None for all of them.
    ``keep_requests`` are the api keys whose responses have the frame of their request
    (``DecodedFrame.request``). ``mask`` and ``raw`` are those of `frame_record`.
    """

    limit: int = DEFAULT_FRAME_LIMIT
    dialect: str = "kafka"
    body: bool = True
    bodies: Collection[int] | None = None
    keep_requests: Collection[int] = frozenset()
    mask: bool = True
    raw: bool = False

    def reads_body(self, api_key: int) -> bool:
        return self.body and (self.bodies is None or api_key in self.bodies)


DEFAULT_OPTIONS = DecodeOptions()
