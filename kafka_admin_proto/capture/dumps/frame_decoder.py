"""Decode the frames in blocks of dumped bytes; bytes without a frame become one with a problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from kafka_admin_proto.capture.connection.token_guard import DumpTokenGuard
from kafka_admin_proto.capture.dumps.blocks import Block
from kafka_admin_proto.capture.dumps.payloads import PayloadReader
from kafka_admin_proto.capture.frames import (
    BODY_HINT,
    PREFIX_BYTES,
    DecodedFrame,
    FrameOrigin,
    codec_of,
    forgive_padding,
    frame_of_bytes,
    frame_of_payload,
)
from kafka_admin_proto.codec import codec
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import (
    DecodeError,
    FrameError,
    TrailingBytesError,
    UnknownMessageError,
)
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT, check_frame_size
from kafka_admin_proto.protocol.payload_values import Request, Response
from kafka_admin_proto.protocol.payloads import read_request, read_response
from kafka_admin_proto.schema.message_names import find_message


class FrameDecoder:
    """Decodes block after block. It remembers requests, because a response does not name its api.

    With ``direction`` "auto", responses are paired with requests by correlation id. ``api`` and
    ``version`` are needed for bare bodies, and for responses without requests. ``dialect`` names
    the definitions; messages that it does not have are read by Kafka's own.
    With ``keep_requests`` a response has the frame of its request.
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
        keep_requests: bool = False,
    ) -> None:
        self.unit = unit
        self.direction = direction
        self.version = version
        self.dialect = dialect
        self.limit = limit
        if (unit == "body" or direction == "response") and (api is None or version is None):
            raise ValueError("bare bodies and responses alone need api and version")
        #: Connection, None for bytes of which it is not known, → what reads its payloads.
        self._readers: dict[bytes | None, PayloadReader] = {None: PayloadReader(dialect)}
        self._payloads = self._readers[None]
        self._guard = DumpTokenGuard()
        self._keep_requests = keep_requests
        self._capture = ""
        if api is None:
            return
        type_: Literal["request", "response"] = "response" if direction == "response" else "request"
        name, found = find_message(api, type=type_, dialect=dialect, version=version)
        if version is None:
            return
        self._codec = codec(name, version, dialect=found)
        spec = self._codec.spec
        if direction == "response" and unit != "body":
            if spec.type != "response" or spec.api_key is None:
                raise UnknownMessageError(f"{spec.name} is no response but a {spec.type}")
            self._api = (spec.api_key, version)

    def decode(self, block: Block, capture: str = "") -> Iterator[DecodedFrame]:
        """All frames of the block; bytes without a frame become one with a problem."""
        if capture != self._capture:
            for each in self._readers.values():
                each.raw_tokens = False
            self._guard = DumpTokenGuard()
            self._capture = capture
        if block.connection not in self._readers:
            self._readers[block.connection] = PayloadReader(self.dialect)
        self._payloads = self._readers[block.connection]
        if self.unit == "body":
            yield self._body(block, capture)
        elif self.unit == "payload":
            yield self._payload(block, capture, 0, block.data)
        else:
            yield from self._frames(block, capture)

    def _frames(self, block: Block, capture: str) -> Iterator[DecodedFrame]:
        data, offset = memoryview(block.data), 0
        while offset < len(data):
            rest = data[offset:]
            try:
                size = _frame_size(rest, self.limit)
            except FrameError as error:
                yield self._no_frame(block, capture, offset, bytes(rest), error)
                return
            cut_short = None if size <= len(rest) else _cut_short(rest, size)
            yield self._payload(block, capture, offset, bytes(rest[:size]), cut_short)
            offset += size

    def _no_frame(
        self, block: Block, capture: str, offset: int, data: bytes, error: FrameError
    ) -> DecodedFrame:
        if offset == 0:
            self._add_hint(data, error)
        return frame_of_bytes(
            "data", data, _origin(block, capture, offset), header_offset=PREFIX_BYTES, error=error,
            is_token=self._payloads.raw_tokens, may_be_token=True,
        )  # fmt: skip

    def _add_hint(self, data: bytes, error: FrameError) -> None:
        """Let the error of a block's first frame say that a size is missing, or a header too."""
        request = read_request(data, dialect=self.dialect)
        if request.header is None:
            error.fault += BODY_HINT
        elif request.error is None:
            error.fault += (
                f"; without a size in front it is a {request.api} request: --unit payload"
            )

    def _payload(
        self,
        block: Block,
        capture: str,
        offset: int,
        data: bytes,
        cut_short: FrameError | None = None,
    ) -> DecodedFrame:
        """The frame of a payload; ``cut_short``: the data ends before it does."""
        header_offset = PREFIX_BYTES if self.unit == "frames" else 0
        payload = self._read(data, header_offset, block.ts)
        if cut_short is not None and (payload is None or payload.header is None):
            return self._no_frame(block, capture, offset, data, cut_short)
        if payload is None:
            origin = _origin(block, capture, offset)
            return frame_of_bytes("data", data, origin, header_offset=header_offset, is_token=True)
        codec = codec_of(payload)
        if cut_short is None:
            exposure = self._guard.frame(payload, codec)
        else:
            payload.error = cut_short
            exposure = self._guard.cut_frame(payload, codec)
            if exposure.may_be_token:
                hidden = self._no_frame(block, capture, offset, data, cut_short)
                self._keep(hidden)
                return hidden
        frame = frame_of_payload(
            payload, data, header_offset, codec, _origin(block, capture, offset),
            latency_us=self._payloads.latency_us, request=self._payloads.request,
            may_be_token=exposure.may_be_token, may_be_secret=exposure.may_be_secret,
        )  # fmt: skip
        self._keep(frame)
        return frame

    def _keep(self, frame: DecodedFrame) -> None:
        if self._keep_requests:
            self._payloads.keep(frame)

    def _read(self, data: bytes, offset: int, ts: int | None) -> Request | Response | None:
        if self.direction == "request":
            request = read_request(data, dialect=self.dialect, offset=offset)
            forgive_padding(request)
            return request
        if self.direction == "response":
            return read_response(data, *self._api, dialect=self.dialect, offset=offset)
        return self._payloads.read(data, offset, ts)

    def _body(self, block: Block, capture: str) -> DecodedFrame:
        assert self.version is not None
        codec = self._codec
        body = None
        error: DecodeError | None = None
        try:
            body = codec.decode(block.data)
        except TrailingBytesError as trailing:
            body, error = trailing.value, trailing
        except DecodeError as caught:
            error = caught
        return frame_of_bytes(
            "data", block.data, _origin(block, capture, 0), api=codec.name,
            api_key=codec.spec.api_key, api_version=self.version, codec=codec, body=body,
            error=error,
        )  # fmt: skip


def _origin(block: Block, capture: str, offset: int) -> FrameOrigin:
    return FrameOrigin(capture, stream_offset=offset, ts=block.ts, line=block.line)


def _frame_size(data: memoryview, limit: int) -> int:
    """Size of the frame at the start of ``data``, its prefix included; FrameError without one."""
    if len(data) < PREFIX_BYTES:
        raise _cut_short(data, PREFIX_BYTES)
    return PREFIX_BYTES + check_frame_size(bytes(data[:PREFIX_BYTES]), limit, 0)


def _cut_short(data: memoryview, size: int) -> FrameError:
    fault = f"the data ends {counted(len(data), 'bytes')} into a frame of {size}"
    return FrameError(fault, offset=len(data), expected="a whole frame")
