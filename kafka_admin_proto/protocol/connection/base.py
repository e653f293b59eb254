"""What both roles of a connection share: the bytes received, the events found, the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

from kafka_admin_proto.codec import Buffer
from kafka_admin_proto.errors import FrameError, LocalProtocolError, RemoteProtocolError
from kafka_admin_proto.protocol.connection.events import NEED_DATA, Signal, State
from kafka_admin_proto.protocol.connection.limits import Limits
from kafka_admin_proto.protocol.frames import FrameReader

_E = TypeVar("_E")


class BaseConnection(ABC, Generic[_E]):
    """One end of a connection, without a socket."""

    def __init__(self, limits: Limits | None) -> None:
        self.limits = Limits() if limits is None else limits
        self.state = State.NEW
        self._reader = FrameReader(self.limits.frame_bytes)
        self._frames: Iterator[bytes] = iter(())
        self._events: deque[_E] = deque()
        self._out: list[bytes] = []
        self._ended = False
        self._failure: RemoteProtocolError | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.state.value}>"

    def __reduce__(self) -> str:
        raise TypeError(f"a {type(self).__name__} is one end of a live stream and is not copied")

    def receive_data(self, data: Buffer) -> None:
        """Take the next bytes of the peer; no bytes at all are the end of the stream.

        Raises LocalProtocolError for bytes after the end. Bytes after a RemoteProtocolError are
        dropped.
        """
        if self._ended:
            if len(data):
                raise LocalProtocolError("bytes were handed over after the end of the stream")
            return
        if not len(data):
            self._ended = True
        elif self._failure is None:
            self._frames = self._reader.feed(data)

    def next_event(self) -> _E | Signal:
        """The next event; NEED_DATA when the bytes received hold no further one.

        Raises RemoteProtocolError for what no peer may send, and from then on with each call.
        """
        while True:
            if self._events:
                return self._events.popleft()
            if self._failure is not None:
                raise self._failure.with_traceback(None)
            try:
                payload = next(self._frames, None)
                if payload is None:
                    return self._no_frame()
                event = self._take(payload)
            except FrameError as error:
                raise self._fail(RemoteProtocolError(str(error))) from None
            except RemoteProtocolError as error:
                self._fail(error)
                raise
            if event is not None:
                return event

    def data_to_send(self) -> bytes:
        """The bytes that are to be written now, in this order; none are kept."""
        out = b"".join(self._out)
        self._out.clear()
        return out

    def _no_frame(self) -> _E | Signal:
        if not self._ended or self.state is State.CLOSED:
            return NEED_DATA
        event = self._closed()
        self.state = State.CLOSED
        return event

    def _fail(self, error: RemoteProtocolError) -> RemoteProtocolError:
        self.state = State.FAILED
        self._failure = error
        self._frames = iter(())
        self._reader = FrameReader(0)
        return error

    @abstractmethod
    def _take(self, payload: bytes) -> _E | None:
        """What a frame's payload means; None where it only moves the connection on."""

    @abstractmethod
    def _closed(self) -> _E:
        """The event of the stream's end."""
