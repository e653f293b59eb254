"""Frames: a payload with its size in front, as four bytes, big-endian and signed."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from kafka_admin_proto.arguments import Buffer, as_bytes
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import EncodeError, FrameError
from kafka_admin_proto.wire.engine import compiled

#: A broker's ``socket.request.max.bytes``: what no request it accepts is larger than.
DEFAULT_FRAME_LIMIT = 100 * 1024 * 1024

_SIZE = struct.Struct(">i").unpack_from
#: Up to here a payload is copied twice, which takes less time than a view of the buffer.
_SMALL_BYTES = 4096

#: Protocol detection: how other protocols begin, where a frame has its size.
_OTHER_PROTOCOLS = {
    b"\x16\x03": "a TLS handshake: the port speaks TLS, or the capture is encrypted",
    b"\x15\x03": "a TLS alert: the port speaks TLS, or the capture is encrypted",
    b"\x17\x03": "TLS application data: the capture is encrypted",
    b"GET ": "an HTTP request",
    b"POST": "an HTTP request",
    b"PUT ": "an HTTP request",
    b"HEAD": "an HTTP request",
    b"HTTP": "an HTTP response",
    b"SSH-": "an SSH banner",
    b"PROX": "a PROXY protocol header",
}


def frame(payload: Buffer) -> bytes:
    """The payload with its size in front; TypeError for what is not bytes."""
    if not isinstance(payload, bytes):
        payload = as_bytes(payload)
    size = len(payload)
    if size >= 1 << 31:
        raise EncodeError(f"a payload of {counted(size, 'bytes')} does not fit a frame", value=size)
    return size.to_bytes(4, "big") + payload


def check_frame_size(prefix: bytes, limit: int, offset: int) -> int:
    """The size that four bytes say; FrameError for a negative one, one over ``limit``, or TLS."""
    size = int.from_bytes(prefix, "big", signed=True)
    if 0 <= size <= limit:
        return size
    other = _OTHER_PROTOCOLS.get(prefix) or _OTHER_PROTOCOLS.get(prefix[:2])
    if other:
        fault = f"not a Kafka frame but {other}"
    elif size < 0:
        fault = f"frame size {size} is negative"
    else:
        fault = f"frame size {size} is over the limit of {limit}"
    raise FrameError(fault, offset=offset, expected=f"a frame size from 0 to {limit}")


class FrameReader:
    """Cuts a stream into payloads, in whatever pieces it arrives.

    Usage::

        reader = FrameReader()
        for payload in reader.feed(data):
            ...
        reader.close()      # raises if the stream ended inside a frame

    Memory stays within one frame plus the data last fed. After a FrameError the stream has lost
    its footing: each further call raises the same error.
    """

    def __init__(self, limit: int = DEFAULT_FRAME_LIMIT) -> None:
        self.limit = limit
        #: Offset in the stream of the frame that comes next.
        self.offset: int = 0
        self._buffer = bytearray()
        self._error: FrameError | None = None

    @property
    def buffered(self) -> int:
        """Bytes that wait for the rest of their frame."""
        return len(self._buffer)

    def feed(self, data: Buffer) -> Iterator[bytes]:
        """Take the next piece of the stream; yields each payload that is now whole.

        Frames that were whole before a bad size are yielded before it raises. All of ``data`` is
        kept even when the caller stops iterating early. TypeError for what is not bytes.
        """
        if self._error is None:
            try:
                self._buffer += data
            except TypeError:  # a view with gaps, or no bytes
                self._buffer += as_bytes(data)
        return self._payloads()

    def close(self) -> None:
        """The stream has ended: FrameError if that was inside a frame."""
        if self._error is not None:
            raise self._error
        if self.buffered:
            known = self.buffered >= 4
            size = counted(_SIZE(self._buffer)[0] + 4, "bytes") if known else "unknown size"
            raise FrameError(
                f"the stream ends {counted(self.buffered, 'bytes')} into a frame of {size}",
                offset=self.offset,
                expected="a whole frame",
            )

    def _payloads(self) -> Iterator[bytes]:
        if self._error is not None:
            raise self._error
        buffer = self._buffer
        while True:
            payload = cut_frame(buffer, self.limit)
            if payload is None:
                break
            self.offset += 4 + len(payload)
            yield payload
        if len(buffer) >= 4:
            try:
                check_frame_size(bytes(buffer[:4]), self.limit, self.offset)
            except FrameError as error:
                self._error = error
                buffer.clear()
                raise


def cut_frame_in_python(buffer: bytearray, limit: int) -> bytes | None:
    """Take the first payload out of the buffer, and its size with it.

    None, with the buffer as it was, for a frame that is not whole or has a size that cannot be.
    """
    if len(buffer) < 4:
        return None
    (size,) = _SIZE(buffer)
    end = 4 + size
    if not 0 <= size <= limit or len(buffer) < end:
        return None
    if size <= _SMALL_BYTES:
        payload = bytes(buffer[4:end])
    else:
        with memoryview(buffer) as view:
            payload = bytes(view[4:end])
    del buffer[:end]
    return payload


#: The same by the engine, where there is one.
cut_frame: Callable[[bytearray, int], bytes | None] = (
    compiled.cut_frame if compiled else cut_frame_in_python
)
