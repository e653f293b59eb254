"""Envelopes: the request and the response inside, as frames of their own (KIP-590)."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.capture.frames import DecodedFrame, FrameOrigin, codec_of, frame_of_payload
from kafka_admin_proto.errors import DecodeError, UnknownMessageError
from kafka_admin_proto.messages import DefaultPrincipalData
from kafka_admin_proto.protocol.payload_values import Request, Response
from kafka_admin_proto.protocol.payloads import read_request, read_response


def enclosed_request(outer: DecodedFrame, dialect: str) -> DecodedFrame:
    """The frame of the request inside an Envelope, with the principal that the Envelope names."""
    data: bytes = getattr(outer.body, "request_data", b"")
    principal = envelope_principal(getattr(outer.body, "request_principal", None))
    return _enclosed(outer, read_request(data, dialect=dialect), data, principal)


def enclosed_response(
    outer: DecodedFrame,
    api_key: int,
    api_version: int,
    client_id: str | None,
    request: DecodedFrame | None,
    dialect: str,
) -> DecodedFrame | None:
    """The frame of the response inside an Envelope's response; None where there is none.

    It answers a request of that api, version and client, whose frame is ``request`` where it is
    kept.
    """
    data: bytes | None = getattr(outer.body, "response_data", None)
    if data is None:
        return None
    response = read_response(data, api_key, api_version, dialect=dialect)
    return _enclosed(
        outer,
        response,
        data,
        None,
        client_id=client_id,
        latency_us=outer.latency_us,
        request=request,
    )


def _enclosed(
    outer: DecodedFrame,
    payload: Request | Response,
    data: bytes,
    principal: str | None,
    **known: Any,
) -> DecodedFrame:
    origin = FrameOrigin(
        outer.capture,
        outer.connection,
        outer.stream_offset + max(outer.data.find(data), 0),
        outer.ts,
        outer.client,
        outer.server,
        principal,
        line=outer.line,
        topic_names=outer.topic_names,
        forwarded=True,
    )
    may_be_secret = payload.error is not None
    codec = codec_of(payload)
    return frame_of_payload(payload, data, 0, codec, origin, may_be_secret=may_be_secret, **known)


def envelope_principal(data: bytes | None) -> str | None:
    """The principal in an Envelope, as ``DefaultKafkaPrincipalBuilder`` writes it."""
    if data is None or len(data) < 2:
        return None
    version = int.from_bytes(data[:2], "big", signed=True)
    try:
        found = DefaultPrincipalData.decode(data[2:], version)
    except (DecodeError, UnknownMessageError):
        return None
    return f"{found.type}:{found.name}"
