"""Frames of either side of a proxy: their sizes, their bodies, and how they are passed on."""

from __future__ import annotations

from kafka_admin_proto.errors import (
    DecodeError,
    RemoteProtocolError,
    TrailingBytesError,
    UnknownMessageError,
)
from kafka_admin_proto.protocol.frames import check_frame_size
from kafka_admin_proto.protocol.payload_values import Request, Response
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.values import Message


def decoded_body(given: Request | Response, call: Call, peer: str, *, views: bool) -> Message:
    """The body of a request or response; RemoteProtocolError for one that does not decode.

    With ``views`` bytes in it, such as records, are not copied.
    """
    try:
        if given.error is not None:
            raise given.error
        body: Message = given.codec.decode_at(given.data, given.body_offset, zero_copy=views)
    except TrailingBytesError as error:  # librdkafka sends some, and brokers do not mind
        given.error = error.without_frames()
        body = error.value
    except (DecodeError, UnknownMessageError) as error:
        raise RemoteProtocolError(
            f"{peer} sent a {given.api} {given.message_type} of version {call.api_version} that "
            f"does not decode: {error}"
        ) from None
    return body


def encoded(response: Response, body: Message) -> bytes:
    """The payload with a body that the proxy has changed.

    ``Response.encode`` would decode the old one again, to see whether it was.
    """
    rest = response.error.rest if isinstance(response.error, TrailingBytesError) else b""
    return response.data[: response.body_offset] + response.codec.encode(body) + rest


def check_size(buffer: bytearray, limit: int, peer: str) -> None:
    """Raise RemoteProtocolError if no frame begins in what a peer has sent."""
    if len(buffer) >= 4:
        try:
            check_frame_size(bytes(buffer[:4]), limit, 0)
        except DecodeError as error:
            raise RemoteProtocolError(f"{peer} sent no frame: {error}") from None


def put_frame(out: list[bytes], payload: bytes) -> None:
    """Put a frame behind what is to be written, without a copy of the payload."""
    out.append(len(payload).to_bytes(4, "big"))
    out.append(payload)
