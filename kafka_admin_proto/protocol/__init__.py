"""Between the stream and the body: frames, the headers in front of bodies, and versions."""

from __future__ import annotations

from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT, FrameReader, frame
from kafka_admin_proto.protocol.headers import request_header_version, response_header_version
from kafka_admin_proto.protocol.payload_values import Request, Response, expects_response
from kafka_admin_proto.protocol.payload_writers import write_request, write_response
from kafka_admin_proto.protocol.payloads import api_name, read_request, read_response
from kafka_admin_proto.protocol.versions import (
    Api,
    api_versions,
    cut_versions,
    negotiate,
    negotiate_apis,
    shared_apis,
    supported,
)
from kafka_admin_proto.schema.versions import VersionRange

__all__ = [
    "Api",
    "DEFAULT_FRAME_LIMIT",
    "FrameReader",
    "Request",
    "Response",
    "VersionRange",
    "api_name",
    "api_versions",
    "cut_versions",
    "expects_response",
    "frame",
    "negotiate",
    "negotiate_apis",
    "read_request",
    "read_response",
    "request_header_version",
    "response_header_version",
    "shared_apis",
    "supported",
    "write_request",
    "write_response",
]
