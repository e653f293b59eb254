"""Decode the frames in blocks of dumped bytes; bytes without a frame become one with a problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from kafka_admin_proto.capture.connection.token_guard import DumpTokenGuard
from kafka_admin_proto.capture.dumps.blocks import Block
from kafka_admin_proto.capture.dumps.payloads import PayloadReader
from kafka_admin_proto.capture.frames import (
    PREFIX_BYTES,
    DecodedFrame,
    FrameOrigin,
    codec_of,
    frame_of_payload,
)
from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import (
    DecodeError,
    FrameError,
    TrailingBytesError,
    UnknownMessageError,
)
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT, check_frame_size
from kafka_admin_proto.protocol.payload_values import Request, Response
from kafka_admin_proto.protocol.payloads import read_request, read_response
from kafka_admin_proto.schema.catalog import catalog


class FrameDecoder:
    """Decodes block after block. It remembers requests, because a response does not name its api.

    With ``direction`` "auto", responses are paired with requests by correlation id. ``api`` and
    ``version`` are needed for bare bodies, and for responses without requests. ``dialect`` names
    the definitions; messages that it does not have are read by Kafka's own.
    """

    def __init__(
        self,
        *,
        unit: Literal["frames", "payload", "body"] = "frames",
        direction: Literal["auto", "request", "response"] = "auto",
        api: str | None = None,
        version: int | None = None,
        limit: int = DEFAULT_FRAME_LIMIT,
        dialect: str = "kafka",
    ) -> None:
        self.unit = unit
        self.direction = direction
        self.version = version
        self.dialect = dialect
        self.limit = limit
        if (unit == "body" or direction == "response") and (api is None or version is None):
            raise ValueError("bare bodies and responses alone need api and version")
        self._payloads = PayloadReader(dialect)
        self._guard = DumpTokenGuard()
        self._capture = ""
        self._message = None if api is None else message_name(api, direction, dialect)
        if self._message is None or version is None:
            return
        spec = codec(self._message, version, dialect=dialect).spec
        if direction == "response" and unit != "body":
            if spec.type != "response" or spec.api_key is None:
                raise UnknownMessageError(f"{spec.name} is no response but a {spec.type}")
            self._api = (spec.api_key, version)

    def decode(self, block: Block, capture: str = "") -> Iterator[DecodedFrame]:
        """All frames of the block; bytes without a frame become one with a problem."""
        if capture != self._capture:
            self._payloads.raw_tokens = False
            self._guard = DumpTokenGuard()
            self._capture = capture
        if self.unit == "body":
            yield self._body(block, capture)
        elif self.unit == "payload":
            yield self._payload(block, capture, 0, block.data)
        else:
            yield from self._frames(block, capture)

    def _frames(self, block: Block, capture: str) -> Iterator[DecodedFrame]:
        data, offset = memoryview(block.data), 0
        while offset < len(data):
            try:
                size = _frame_size(data[offset:], self.limit)
            except FrameError as error:
                yield DecodedFrame(
                    capture=capture,
                    line=block.line,
                    stream_offset=offset,
                    direction="data",
                    data=bytes(data[offset:]),
                    header_offset=PREFIX_BYTES,
                    error=error,
                    is_token=self._payloads.raw_tokens,
                    may_be_token=True,
                )
                return
            yield self._payload(block, capture, offset, bytes(data[offset : offset + size]))
            offset += size

    def _payload(self, block: Block, capture: str, offset: int, data: bytes) -> DecodedFrame:
        header_offset = PREFIX_BYTES if self.unit == "frames" else 0
        payload = self._read(data, header_offset)
        if payload is None:
            return DecodedFrame(
                capture=capture,
                line=block.line,
                stream_offset=offset,
                direction="data",
                data=data,
                header_offset=header_offset,
                is_token=True,
            )
        codec = codec_of(payload)
        exposure = self._guard.frame(payload, codec)
        return frame_of_payload(
            payload, data, header_offset, codec,
            FrameOrigin(capture, stream_offset=offset, line=block.line),
            may_be_token=exposure.may_be_token, may_be_secret=exposure.may_be_secret,
        )  # fmt: skip

    def _read(self, data: bytes, offset: int) -> Request | Response | None:
        if self.direction == "request":
            return read_request(data, dialect=self.dialect, offset=offset)
        if self.direction == "response":
            return read_response(data, *self._api, dialect=self.dialect, offset=offset)
        return self._payloads.read(data, offset)

    def _body(self, block: Block, capture: str) -> DecodedFrame:
        assert self._message is not None
        assert self.version is not None
        found = codec(self._message, self.version, dialect=self.dialect)
        body = None
        error: DecodeError | None = None
        try:
            body = found.decode(block.data)
        except TrailingBytesError as trailing:
            body, error = trailing.value, trailing
        except DecodeError as caught:
            error = caught
        return DecodedFrame(
            capture=capture,
            line=block.line,
            direction="data",
            data=block.data,
            api=found.name,
            api_key=found.spec.api_key,
            api_version=self.version,
            codec=found,
            body=body,
            error=error,
        )


def message_name(api: str, direction: str = "auto", dialect: str = "kafka") -> str:
    """The message that a user means: "CreateTopics" with a direction, or a whole message name."""
    suffix = "Response" if direction == "response" else "Request"
    for name in (api, f"{api}{suffix}"):
        try:
            return catalog().current_name(name, dialect)
        except UnknownMessageError as error:
            unknown = error
    raise unknown


def _frame_size(data: memoryview, limit: int) -> int:
    """Size of the frame at the start of ``data``, its prefix included; FrameError without one."""
    wanted = PREFIX_BYTES
    if len(data) >= PREFIX_BYTES:
        wanted += check_frame_size(bytes(data[:PREFIX_BYTES]), limit, 0)
    if len(data) < wanted:
        raise FrameError(
            f"the data ends {len(data)} bytes into a frame of {wanted}",
            expected="a whole frame",
        )
    return wanted
