"""What a connection reports: one event for each thing that the peer's bytes mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, TypeAlias

import msgspec

from kafka_admin_proto.messages import ApiVersionsResponse
from kafka_admin_proto.protocol.payload_values import Request, Response
from kafka_admin_proto.schema.versions import VersionRange


class Signal(Enum):
    """What ``next_event`` returns where there is no event."""

    #: All that was received has been reported: hand over more.
    NEED_DATA = "NEED_DATA"
    #: A server has as many unanswered requests as it may: answer some before reading on.
    PAUSED = "PAUSED"

    def __repr__(self) -> str:
        return self.value


NEED_DATA: Final = Signal.NEED_DATA
PAUSED: Final = Signal.PAUSED


class State(Enum):
    """The state of a connection."""

    #: Nothing was sent yet: ``start`` comes next. Only a client's.
    NEW = "new"
    #: The client asked which versions the broker has.
    NEGOTIATING = "negotiating"
    #: The first SASL exchange is not over.
    AUTHENTICATING = "authenticating"
    #: Requests and responses pass.
    READY = "ready"
    #: A later SASL exchange is not over; answers to earlier requests still come.
    REAUTHENTICATING = "re-authenticating"
    #: The peer ended the stream.
    CLOSED = "closed"
    #: The peer broke the protocol; nothing more is read.
    FAILED = "failed"


class SentRequest(msgspec.Struct, frozen=True):
    """A request without its body; ``context`` is what the caller of ``send`` gave with it.

    ``dialect`` is whose definitions the request is of, and its answer.
    """

    api_key: int
    version: int
    correlation_id: int
    context: Any = None
    dialect: str = "kafka"


class Ready(msgspec.Struct, frozen=True):
    """The broker takes requests from now on.

    ``apis`` has the broker's versions by api key, and ``response`` the answer that they came in:
    None where nothing was negotiated. ``session_lifetime_ms`` is how long the broker takes
    requests before the client has to authenticate again, 0 for without end.
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
    """The broker accepted the credentials again; the session's lifetime starts anew."""

    session_lifetime_ms: int


class RequestReceived(msgspec.Struct, frozen=True, eq=False):
    """A request of the client; ``send(response, to=event)`` answers it.

    ``turn`` counts the requests that are answered, from 0; it is -1 for one that is not (Produce
    with ``acks`` 0). Bytes behind the end of a body, which a broker overlooks, are in
    ``request.error``.
    """

    request: Request
    turn: int


class Authenticated(msgspec.Struct, frozen=True):
    """The client proved who it is.

    ``principal`` is Kafka's form of the name, ``User:alice``. ``again`` says that this was a
    re-authentication. ``session_lifetime_ms`` is what the client was granted, 0 for without end;
    closing the connection after that time is up to the server, which has the clock.
    ``by_token`` says that the password was a delegation token.
    """

    principal: str
    mechanism: str
    session_lifetime_ms: int
    again: bool
    by_token: bool = False


class ProofNeeded(msgspec.Struct, frozen=True, eq=False):
    """A token that takes time: ``send_proof(event.compute())`` sends it.

    It is the answer to a SCRAM server's challenge, or comes from the caller's token provider.

    ``compute`` may be called in any thread. Only for a client with ``defer_proofs``; until the
    proof is sent there are no further events.
    """

    compute: Callable[[], bytes]


class ConnectionClosed(msgspec.Struct, frozen=True):
    """The peer ended the stream.

    ``unanswered`` are the requests that have no answer, in order. ``state`` is where the
    connection stood, and ``bytes_left`` how much had come of a frame that was not whole.
    """

    unanswered: list[SentRequest]
    state: State
    bytes_left: int = 0


ClientEvent: TypeAlias = Ready | ResponseReceived | Reauthenticated | ProofNeeded | ConnectionClosed
ServerEvent: TypeAlias = RequestReceived | Authenticated | ConnectionClosed
