"""What clients send through the proxy, and what they get, as decoded frames for a log or a file.

The bytes on the client's side are decoded as those of a capture, by the same rules for credentials,
beside what passes: nothing of it depends on what is found here.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Iterable
from typing import IO, Protocol

from kafka_admin_proto.arguments import is_async, listed
from kafka_admin_proto.capture.connection.conversation import Conversation
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.files.pcap_writer import PCAP_HEADER, WrittenConnection
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.record import masked_bytes
from kafka_admin_proto.capture.tcp.segments import ACK, SYN
from kafka_admin_proto.loggers import PROXY
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.wire.types.base import shown

_CLIENT, _BROKER = 0, 1
_ALL = 1 << 32

#: Host and port of an end.
Ends = tuple[tuple[str, int], tuple[str, int]]


class Observer(Protocol):
    """Gets the frames that clients exchange with the proxy; frames may have credentials.

    An observer that raises gets no more, which the log says; what passes is not changed.
    """

    def frame(self, frame: DecodedFrame, ends: Ends, side: int) -> None:
        """A frame that one of the two ends, the client (0) or the proxy (1), has sent."""

    def closed(self, ends: Ends) -> None:
        """The connection between these two has ended."""


class Observed:
    """The observers of a proxy, and the names that the cluster gave to its topics.

    TypeError for an object that is no observer.
    """

    def __init__(self, observers: Iterable[Observer], frame_limit: int) -> None:
        self._observers: list[Observer] = []
        for each in listed(observers, "observers"):
            self.add(each)
        self._options = DecodeOptions(limit=frame_limit)
        self._names = TopicNameIndex()

    def add(self, observer: Observer) -> None:
        """Let an observer see the connections from now on."""
        for method in ("frame", "closed"):
            found = getattr(observer, method, None)
            if isinstance(observer, type) or not callable(found) or is_async(found):
                raise TypeError(
                    f"observers has {shown(observer)}, which is no observer: an object with the "
                    "methods frame and closed, without async"
                )
        self._observers.append(observer)

    def connection(self, ends: Ends) -> ObservedConnection | None:
        """A client's connection; None where nobody observes."""
        if not self._observers:
            return None
        client, proxy = ((host.partition("%")[0], port) for host, port in ends)  # fe80::1%eth0
        return ObservedConnection(self, (client, proxy), self._options, self._names)

    def each(self, method: str, *arguments: object) -> None:
        """Call that method of each observer; one that fails is dropped."""
        for observer in list(self._observers):
            try:
                getattr(observer, method)(*arguments)
            except Exception as error:  # such as a full disk: clients must not notice
                self._observers.remove(observer)
                PROXY.error(
                    "%s ends, and what passes from now on is not in it: %s: %s",
                    observer, type(error).__name__, error,
                    exc_info=not isinstance(error, OSError),
                )  # fmt: skip


class ObservedConnection:
    """The two streams of a client's connection, decoded as they pass."""

    def __init__(
        self, observed: Observed, ends: Ends, options: DecodeOptions, names: TopicNameIndex
    ) -> None:
        self._observed = observed
        self._ends = ends
        self._names = names
        self._frames: list[DecodedFrame] = []
        hosts = [ipaddress.ip_address(host).packed for host, _ in ends]
        ports = [port.to_bytes(2, "big") for _, port in ends]
        self._conversation = Conversation(b"".join((*hosts, *ports)), options, names, self._frames)
        self._next = [0, 0]
        self._segment(_CLIENT, SYN, b"")
        self._segment(_BROKER, SYN | ACK, b"")

    def passed(self, side: int, data: bytes) -> None:
        """Bytes that the client (0) or the proxy (1) has sent."""
        if data:
            try:
                self._segment(side, ACK, data)
            except Exception:  # a fault of the decoder's, which must not end the connection
                PROXY.exception("%s:%d: a frame is not in the log", *self._ends[_CLIENT])
            frames, self._frames[:] = self._frames[:], []
            for frame in frames:
                self._observed.each("frame", frame, self._ends, side)

    def close(self) -> None:
        """The connection has ended."""
        self._observed.each("closed", self._ends)

    def _segment(self, side: int, flags: int, data: bytes) -> None:
        sequence = self._next[side]
        self._next[side] = (sequence + len(data) + bool(flags & SYN)) % _ALL
        now_us = time.time_ns() // 1000
        ordinal = self._names.ordinal + 1
        self._conversation.segment(side, sequence, flags, data, 0, 0, now_us, ordinal, "")


class Recorder:
    """An observer that writes a capture, as pcap, with ``*`` for each byte of a credential.

    Names of users who log in by PLAIN or SCRAM are kept, so that its readers have the principals.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._connections: dict[Ends, WrittenConnection] = {}
        #: The SASL mechanisms that clients have asked for.
        self._mechanisms: dict[Ends, str] = {}
        self._file.write(PCAP_HEADER)
        self._file.flush()

    def __str__(self) -> str:
        return f"the capture {self._file.name}"

    def frame(self, frame: DecodedFrame, ends: Ends, side: int) -> None:
        """Write the packets of a frame; one inside of an Envelope is written with it."""
        if frame.forwarded:
            return
        assert frame.ts is not None
        written = self._connections.get(ends)
        if written is None:
            written = self._connections[ends] = WrittenConnection(*ends)
            self._file.writelines(written.begin(frame.ts))
        if frame.api_key == api_keys.SASL_HANDSHAKE and side == _CLIENT:
            self._mechanisms[ends] = getattr(frame.body, "mechanism", "")
        mechanism = self._mechanisms.get(ends, "")
        data = masked_bytes(frame, mechanism, from_client=side == _CLIENT)
        self._file.writelines(written.data(frame.ts, side, data))
        self._file.flush()

    def closed(self, ends: Ends) -> None:
        self._mechanisms.pop(ends, None)
        written = self._connections.pop(ends, None)
        if written is not None:
            self._file.writelines(written.finish(time.time_ns() // 1000))
            self._file.flush()
