"""What both ends of a connection share: the bytes received, the bytes to send, the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Generic, Literal, TypeVar

from kafka_admin_proto.arguments import Buffer, checked, listed
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import FrameError, LocalProtocolError, RemoteProtocolError
from kafka_admin_proto.protocol.connection.events import (
    NEED_DATA,
    ConnectionClosed,
    SentRequest,
    Signal,
    State,
)
from kafka_admin_proto.protocol.connection.limits import Limits
from kafka_admin_proto.protocol.frames import FrameReader
from kafka_admin_proto.protocol.versions import Api, api_versions

E = TypeVar("E")


class BaseConnection(ABC, Generic[E]):
    """One end of a connection, without a socket. Not to be used by two threads at a time."""

    def __init__(self, limits: Limits | None, state: State) -> None:
        checked(limits, Limits | None, f"{type(self).__name__}: limits")
        self.limits: Limits = Limits() if limits is None else limits
        self._reader = FrameReader(self.limits.frame_bytes)
        self._frames: Iterator[bytes] = iter(())
        self._out: list[bytes] = []
        self._ended = False
        self._failure: RemoteProtocolError | None = None
        self._state = state
        self._enter(state)

    def _checked_apis(self, apis: Iterable[Api] | None) -> list[Api]:
        """The apis that were given, by default all that are meant for use.

        Each connection has some ninety, so their fields are not looked at. ValueError for none.
        """
        if apis is None:
            return api_versions()
        what = f"{type(self).__name__}: apis"
        given = listed(apis, what)
        if not given:
            raise ValueError(
                f"{what} is empty, so that no request could pass; leave it out for all"
            )
        for api in given:
            if not isinstance(api, Api):
                raise TypeError(
                    f"{what}: expected Apis, as shared_apis returns them, got {type(api).__name__}"
                )
        return given

    @property
    def state(self) -> State:
        """The state of the connection."""
        return self._state

    @property
    def buffered(self) -> int:
        """Bytes received that are not read yet: they wait for the rest of their frame."""
        return self._reader.buffered

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._state.value}>"

    def __reduce__(self) -> str:
        raise TypeError(f"a {type(self).__name__} is the end of a stream: it cannot be copied")

    def receive_data(self, data: Buffer) -> None:
        """Take the peer's next bytes; no bytes at all are the end of the stream.

        Raises LocalProtocolError for bytes behind the end. Bytes that come after a
        RemoteProtocolError are dropped.
        """
        if len(data) == 0:
            self._ended = True
        elif self._ended:
            raise LocalProtocolError(
                f"received {counted(len(data), 'bytes')} after the end of the stream, which b'' is"
            )
        elif self._failure is None:
            self._frames = self._reader.feed(data)

    def data_to_send(self) -> bytes:
        """The bytes that the connection itself has to write now, b"" if none; handed out once.

        To be asked after each ``next_event``, after one that raised too.
        """
        out = self._out
        if not out:
            return b""
        data = out[0] if len(out) == 1 else b"".join(out)
        out.clear()
        return data

    def _next_frame(self) -> E | ConnectionClosed | Literal[Signal.NEED_DATA] | None:
        """What the next frame means; None for one that only moved the connection on."""
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        try:
            payload = next(self._frames, None)
            if payload is not None:
                return self._take(payload)
        except FrameError as error:
            fault = str(error)
            error.without_frames()  # the reader keeps it
        except RemoteProtocolError as error:
            self._fail(error)
            raise
        else:
            return self._at_end() if self._ended else NEED_DATA
        raise self._fail(RemoteProtocolError(fault))

    def _at_end(self) -> ConnectionClosed | Literal[Signal.NEED_DATA]:
        if self._state is State.CLOSED:
            return NEED_DATA
        event = ConnectionClosed(self._unanswered(), self._state, self._reader.buffered)
        self._enter(State.CLOSED)
        return event

    def _enter(self, state: State) -> None:
        """Change the state, and with it how large a frame may be."""
        limits = self.limits
        early = state in (State.NEW, State.NEGOTIATING, State.AUTHENTICATING)
        self._reader.limit = (
            min(limits.frame_bytes, limits.unauthenticated_frame_bytes)
            if early
            else limits.frame_bytes
        )
        self._state = state

    def _fail(self, error: RemoteProtocolError) -> RemoteProtocolError:
        self._enter(State.FAILED)
        self._failure = error
        self._frames = iter(())
        self._reader = FrameReader(0)  # the bytes received so far go
        return error

    @abstractmethod
    def _take(self, payload: bytes) -> E | None:
        """What a frame's payload means; None where it only moves the connection on."""

    @abstractmethod
    def _unanswered(self) -> list[SentRequest]:
        """The requests that have no answer yet."""
