"""Between the stream and the body: frames, and the headers in front of bodies."""

from __future__ import annotations

from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT, FrameReader, frame
from kafka_admin_proto.protocol.headers import request_header_version, response_header_version
from kafka_admin_proto.protocol.payloads import (
    Request,
    Response,
    read_request,
    read_response,
    write_request,
    write_response,
)

__all__ = [
    "DEFAULT_FRAME_LIMIT",
    "FrameReader",
    "Request",
    "Response",
    "frame",
    "read_request",
    "read_response",
    "request_header_version",
    "response_header_version",
    "write_request",
    "write_response",
]
