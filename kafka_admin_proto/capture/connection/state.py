"""The state of a connection, as data with a schema: what goes on in another process.

A stream that is read in batches ends each batch with `Conversation.state` and begins the next one
with `Conversation.from_state`. The bytes are MessagePack of `ConversationState`, behind a version.
"""

from __future__ import annotations

import msgspec

from kafka_admin_proto.capture.connection.pairing import (
    EarlyResponse,
    Holes,
    PendingRequest,
    RequestTable,
)
from kafka_admin_proto.capture.connection.sasl import SaslExchange
from kafka_admin_proto.capture.connection.stream_decoder import StreamState
from kafka_admin_proto.capture.connection.token_guard import TokenGuard
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex, TopicNamesAt
from kafka_admin_proto.capture.frames import DecodedFrame, FrameOrigin, codec_of, frame_of_payload
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.tcp.protocol_detection import ForeignTraffic
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.protocol.payloads import read_request

#: The version of the schema below; it changes with the fields and with their meaning. A new field
#: whose default is right for an older state needs none: releases pass over what they do not know.
STATE_VERSION = 2


class StateError(KafkaAdminProtoError):
    """The state of a connection was written by another version of this package, or is damaged."""


class KeptFrame(msgspec.Struct):
    """The frame of a pending request; its header and body are read again from ``data``.

    Names of topics were known up to the packet ``ordinal``. The rest as in `FrameOrigin`.
    """

    data: bytes
    header_offset: int
    ordinal: int
    may_be_secret: bool
    capture: str
    connection: str | None
    stream_offset: int
    ts: int | None
    client: str | None
    server: str | None
    principal: str | None
    client_software: str | None
    forwarded: bool


class PendingState(msgspec.Struct):
    """A pending request; see `PendingRequest`."""

    api_key: int
    api_version: int
    ts: int
    client_id: bytes | None
    frame: KeptFrame | None
    enclosed: PendingState | None


class ConnectionState(msgspec.Struct, omit_defaults=True):
    """All that a connection needs to go on.

    ``capture`` is the file of the last packet. ``client`` is the end that is the client, None as
    long as it is not known. ``kafka_seen``: a request or a pair has decoded; ``implausible`` counts
    the requests before that which cannot be Kafka's. ``foreign`` is there once the connection was
    found not to speak Kafka.
    """

    ends: tuple[str, str]
    suffix: str
    client: int | None
    streams: tuple[StreamState, StreamState]
    capture: str = ""
    pending: list[tuple[int, list[PendingState]]] = []
    holes: Holes = msgspec.field(default_factory=Holes)
    early: list[EarlyResponse] = []
    sasl: SaslExchange = msgspec.field(default_factory=SaslExchange)
    guard: TokenGuard = msgspec.field(default_factory=TokenGuard)
    software: str | None = None
    client_id: bytes | None = None
    kafka_seen: bool = False
    implausible: int = 0
    foreign: ForeignTraffic | None = None


class ConversationState(msgspec.Struct, omit_defaults=True):
    """All that a conversation needs to go on; see `Conversation`."""

    connections: int
    flipped: int = 0
    client: int | None = None
    ts: int = 0
    ordinal: int = 0
    ended_us: int | None = None
    connection: ConnectionState | None = None


def pending_states(table: RequestTable) -> list[tuple[int, list[PendingState]]]:
    return [(key, [_pending_state(each) for each in requests]) for key, requests in table.items()]


def restore_pending(
    table: RequestTable,
    states: list[tuple[int, list[PendingState]]],
    options: DecodeOptions,
    names: TopicNameIndex,
) -> None:
    """Put the requests back into an empty table."""
    for correlation_id, requests in states:
        for state in requests:
            table.expect(correlation_id, _pending(state, options, names))


def _pending_state(request: PendingRequest) -> PendingState:
    inner = request.enclosed
    return PendingState(
        request.api_key,
        request.api_version,
        request.ts,
        client_bytes(request.client_id),
        None if request.frame is None else _kept(request.frame),
        None if inner is None else _pending_state(inner),
    )


def _kept(frame: DecodedFrame) -> KeptFrame:
    same = {name: getattr(frame, name) for name in KeptFrame.__struct_fields__ if name != "ordinal"}
    ordinal = frame.topic_names.ordinal if isinstance(frame.topic_names, TopicNamesAt) else 0
    return KeptFrame(ordinal=ordinal, **same)


def _pending(state: PendingState, options: DecodeOptions, names: TopicNameIndex) -> PendingRequest:
    client_id, inner = client_text(state.client_id), state.enclosed
    return PendingRequest(
        state.api_key,
        state.api_version,
        state.ts,
        client_id,
        None if inner is None else _pending(inner, options, names),
        None if state.frame is None else _frame(state.frame, client_id, options, names),
    )


def client_bytes(client_id: str | None) -> bytes | None:
    """A client id as the state has it: the bytes of the wire, which may be no UTF-8."""
    return None if client_id is None else client_id.encode("utf-8", "surrogateescape")


def client_text(client_id: bytes | None) -> str | None:
    return None if client_id is None else client_id.decode("utf-8", "surrogateescape")


def _frame(
    kept: KeptFrame, client_id: str | None, options: DecodeOptions, names: TopicNameIndex
) -> DecodedFrame:
    request = read_request(kept.data, dialect=options.dialect, offset=kept.header_offset)
    origin = FrameOrigin(
        kept.capture, kept.connection, kept.stream_offset, kept.ts, kept.client, kept.server,
        kept.principal, kept.client_software, names.at(kept.ordinal), kept.forwarded,
    )  # fmt: skip
    return frame_of_payload(
        request, kept.data, kept.header_offset, codec_of(request), origin, client_id=client_id,
        may_be_secret=kept.may_be_secret,
    )  # fmt: skip


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ConversationState)


def write_state(state: ConversationState) -> bytes:
    return STATE_VERSION.to_bytes(2, "big") + _encoder.encode(state)


def read_state(data: bytes) -> ConversationState:
    """The state that ``write_state`` wrote. Raises StateError."""
    version = int.from_bytes(data[:2], "big")
    if version != STATE_VERSION:
        raise StateError(
            f"the state of a connection has version {version} and this release reads version "
            f"{STATE_VERSION}: finish the stream with the release that began it, or start a new one"
        )
    try:
        return _decoder.decode(data[2:])
    except msgspec.DecodeError as error:
        raise StateError(f"the state of a connection is damaged: {error}") from None
