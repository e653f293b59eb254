"""What a connection reports: one event for each thing that the peer's bytes mean."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

import msgspec

from kafka_admin_proto.messages.api_versions_response import ApiVersionsResponse
from kafka_admin_proto.protocol.payloads import Response
from kafka_admin_proto.schema.versions import VersionRange


class Signal(Enum):
    """What ``next_event`` returns where there is no event."""

    #: All that was received has been reported: hand over more.
    NEED_DATA = "NEED_DATA"

    def __repr__(self) -> str:
        return self.value


NEED_DATA: Final = Signal.NEED_DATA


class State(Enum):
    """Where a connection stands."""

    #: Nothing was sent yet: ``start`` is next.
    NEW = "new"
    #: The client asked which versions the broker has.
    NEGOTIATING = "negotiating"
    #: SASL's steps are being taken.
    AUTHENTICATING = "authenticating"
    #: Requests pass.
    READY = "ready"
    #: The peer ended the stream.
    CLOSED = "closed"
    #: The peer broke the protocol; nothing more is read.
    FAILED = "failed"


class SentRequest(msgspec.Struct, frozen=True):
    """A request that was sent; ``context`` is what the caller gave with it."""

    api_key: int
    version: int
    correlation_id: int
    context: Any = None


class Ready(msgspec.Struct, frozen=True):
    """The connection takes requests.

    ``apis`` has the versions of the broker by api key, and ``response`` the answer that they stand
    in; both are empty (None) when nothing was negotiated. ``session_lifetime_ms`` is how long the
    broker takes requests without re-authentication, 0 where that has no end.
    """

    apis: Mapping[int, VersionRange]
    response: ApiVersionsResponse | None
    session_lifetime_ms: int = 0


class ResponseReceived(msgspec.Struct, frozen=True):
    """The answer to ``request``.

    A body that does not decode stays in ``response`` as bytes, and ``response.error`` says why.
    """

    response: Response
    request: SentRequest


class Reauthenticated(msgspec.Struct, frozen=True):
    """The broker accepted the credentials again; the session's lifetime counts from now."""

    session_lifetime_ms: int


class ConnectionClosed(msgspec.Struct, frozen=True):
    """The peer ended the stream.

    ``unanswered`` are the requests whose answers did not come, in order. ``state`` is where the
    connection stood, and ``bytes_left`` how much had come of a frame that was not whole.
    """

    unanswered: list[SentRequest]
    state: State
    bytes_left: int = 0


ClientEvent: TypeAlias = (
    Ready | ResponseReceived | Reauthenticated | ConnectionClosed | Literal[Signal.NEED_DATA]
)
