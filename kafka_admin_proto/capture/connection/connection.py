"""One TCP connection's bytes → frame records: sides, pairing, SASL, envelopes.

``Conversation`` takes what ``Direction`` puts in order, and appends to a list of frames. A frame is
appended when its last byte is there; a response waits a moment for its request, as a capture may
have the two in the wrong order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.capture.connection.pairing import SASL_HANDSHAKE_KEY
from kafka_admin_proto.capture.connection.resync import end_to_end, find_request, find_response
from kafka_admin_proto.capture.connection.sasl import SaslExchange
from kafka_admin_proto.capture.connection.token_guard import (
    SASL_AUTHENTICATE_KEY,
    TokenGuard,
    is_plausible_client,
    looks_like_a_request,
)
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.frames import PREFIX_BYTES, DecodedFrame, Direction, frame_of_payload
from kafka_admin_proto.capture.tcp import protocol_detection
from kafka_admin_proto.capture.tcp.framing import MAX_UNSYNCED_BYTES, Framer
from kafka_admin_proto.capture.tcp.reassembly import StreamReassembler
from kafka_admin_proto.errors import DecodeError, FrameError, UnknownMessageError
from kafka_admin_proto.messages.default_principal_data import DefaultPrincipalData
from kafka_admin_proto.protocol.headers import API_VERSIONS_KEY
from kafka_admin_proto.protocol.payloads import (
    Response,
    expects_response,
    read_request,
    read_response,
)

ENVELOPE_KEY = 58
#: Apis whose bodies tell what later frames mean, and are read even when nobody asks for them.
_TELLING_REQUESTS = frozenset(
    {SASL_HANDSHAKE_KEY, SASL_AUTHENTICATE_KEY, ENVELOPE_KEY, API_VERSIONS_KEY}
)
_TELLING_RESPONSES = frozenset({SASL_AUTHENTICATE_KEY, ENVELOPE_KEY})
#: Requests of one connection that may wait for a response; the oldest goes first.
MAX_WAITING = 10_000
#: Microseconds, and bytes, that responses wait for a request that the capture has later.
_EARLY = 1_000_000
_MOST_EARLY = 8 * 1024 * 1024
#: Bytes out of step that are searched again with each new request.
_SEARCHED_OFTEN = 64 * 1024
#: Frames at the start of a connection without one sensible request: it is not Kafka.
_DOUBTFUL = 3


class PendingRequest(NamedTuple):
    """A request that waits for its response; ``inner`` is what its Envelope holds."""

    api_key: int
    api_version: int
    ts: int
    client_id: str | None
    inner: PendingRequest | None = None


class DecodeOptions(msgspec.Struct, frozen=True):
    """What holds for all connections of a capture.

    ``bodies`` are the api keys whose bodies are read, None for all of them.
    """

    limit: int
    dialect: str = "kafka"
    bodies: Collection[int] | None = None
    topics: TopicNameIndex = msgspec.field(default_factory=TopicNameIndex)


class Connection:
    """``ends`` are the endpoints as text; ``client`` is which of them is it, None if unknown."""

    def __init__(
        self,
        ends: tuple[str, str],
        client: int | None,
        in_step: tuple[bool, bool],
        settings: DecodeOptions,
        out: list[DecodedFrame],
        suffix: str = "",
    ) -> None:
        self._ends = ends
        self._settings = settings
        self._out = out
        self._suffix = suffix
        self.capture = ""
        self.name: str = f"{ends[0]}-{ends[1]}{suffix}"
        #: Which end is the client.
        self.client = client
        self.sides: tuple[Side, Side] = (
            Side(self, 0, in_step[0], settings.limit),
            Side(self, 1, in_step[1], settings.limit),
        )
        #: What puts the bytes of each side in order.
        self.directions: tuple[StreamReassembler, StreamReassembler] = (
            StreamReassembler(self.sides[0]),
            StreamReassembler(self.sides[1]),
        )
        if client is not None:
            self._name_sides(client)
        #: Correlation id → the requests with it, the oldest first.
        self.waiting: dict[int, list[PendingRequest]] = {}
        self._early: deque[tuple[bytes, int, int]] = deque()
        self._early_size = 0
        self._sasl = SaslExchange()
        self._software: str | None = None
        self._raw_tokens = False
        #: Which of the frames may be tokens that were read amiss.
        self._doubt = TokenGuard()
        #: Whether the SYN of each end was captured, before any of its bytes.
        self.started: list[bool] = [False, False]
        #: Whether a request or a pair made sense, and whether anything did not.
        self._sensible = False
        self._doubtful = 0
        #: First bytes and number of bytes of each side, once the connection does not speak Kafka.
        self.stranger: list[bytearray] | None = None
        self._strange_bytes = 0
        self._strange_fault = ""

    def handshake(self, client: int, end: int, ts: int) -> None:
        """A late SYN: who is the client, and that what this end has sent so far is all of it."""
        if self.client is None:
            self._name_sides(client)
        framer = self.sides[end].framer
        self.started[end] = True
        if not framer.in_step and framer.offset == 0:
            framer.found(0, ts)
            framer.go_on(ts)

    def starts(self, end: int) -> None:
        """The first bytes of an end: is their start where the connection's is?"""
        if not self.started[end]:
            self._doubt.bytes_missing()

    # What sides tell -----------------------------------------------------------------------

    def search(self, side: Side, ts: int, *, last: bool = False) -> bool:
        """Whether a frame starts among the bytes of a side that is out of step: it is in again."""
        framer, settings = side.framer, self._settings
        if not (last or side.worth_a_search(len(self.waiting))):
            return False
        at = None
        if side.end == self.client or self.client is None:
            at = find_request(framer.buffer, settings)
            if at is not None and self.client is None:
                self._name_sides(side.end)
        else:
            at = find_response(framer.buffer, self.waiting, settings)
        if at is None and side.end != self.client and (last or side.is_full):
            # Nothing can be paired: the other side, or its part before this, was not captured.
            at = 0 if end_to_end(framer.buffer, settings.limit, whole=last) else None
            if at is not None and self.client is None:
                self._name_sides(1 - side.end)
        if at is None:
            return False
        if at and end_to_end(framer.buffer[:at], settings.limit, whole=True):
            at = 0
        framer.found(at, ts)
        side.search_anew()
        return True

    def search_last(self, side: Side, ts: int) -> None:
        """No more joins what a side has out of step: look through all of it."""
        framer = side.framer
        if framer.buffer and not framer.in_step and self.search(side, ts, last=True):
            framer.go_on(ts)

    def _search_other(self, side: Side, ts: int) -> None:
        """What one side has told may be what the other one lacked."""
        other = self.sides[1 - side.end]
        if not other.framer.in_step and other.framer.buffer and self.search(other, ts):
            other.framer.go_on(ts)

    def frame(self, side: Side, data: bytes, offset: int, ts: int) -> None:
        if side.end == self.client:
            self._request(data, offset, ts)
            if self._early:
                self._answer_early(ts)
            self._search_other(side, ts)
        elif self._early or not self._response(data, offset, ts):
            self._early.append((data, offset, ts))
            self._early_size += len(data)
            self._answer_early(ts)

    def broken(
        self, side: Side, data: bytes, offset: int, size: int, missing: int, ts: int
    ) -> None:
        """A frame of ``size`` bytes of which only the start was captured."""
        fault = (
            f"a frame of {size} bytes, of which {len(data)} and then no more were captured: "
            f"{missing} byte{'s are' if missing != 1 else ' is'} missing"
        )
        frame: DecodedFrame | None = None
        error = FrameError(fault, offset=len(data), expected=f"{size} bytes")
        if side.end == self.client:
            read = read_request(data, body=False, dialect=self._settings.dialect, offset=4)
            if read.header is not None:
                frame = frame_of_payload(read, data, PREFIX_BYTES)
                frame.error = error
                self._doubt.request(read, frame)
                self._expect(frame, ts)
        else:
            self._answer_early(ts, hurry=True)
            asked = self._asked(data) if len(data) >= 8 else None
            if asked is not None:
                response = read_response(
                    data, *asked[:2], body=False, dialect=self._settings.dialect, offset=4
                )
                frame = frame_of_payload(response, data, PREFIX_BYTES)
                frame.latency_us, frame.client_id = max(ts - asked.ts, 0), asked.client_id
                self._doubt.undecoded(frame)
        if frame is not None and frame.direction == "request":
            self._handshaken(frame)
        if frame is None:
            frame = DecodedFrame(
                capture="",
                stream_offset=offset,
                direction=self._direction(side),
                data=data,
                header_offset=PREFIX_BYTES,
                may_be_token=True,
            )
        self._doubt.bytes_missing()
        frame.error = error
        frame.may_be_secret = True  # it may be none of the size that it says, and have others in it
        self._emit(frame, offset, ts)

    def unframed(self, side: Side, data: bytes, offset: int, fault: str, ts: int) -> None:
        """Bytes in no frame, or a hole."""
        if side.end != self.client:
            self._answer_early(ts, hurry=True)
        self._doubt.bytes_missing()
        if self.client is not None:
            fault = f"from the {'client' if side.end == self.client else 'server'}: {fault}"
        self._emit(
            DecodedFrame(
                capture="",
                stream_offset=offset,
                direction="data",
                data=data,
                may_be_token=True,
                error=FrameError(fault, expected="a frame"),
            ),
            offset,
            ts,
            end=side.end,
        )

    # The rest ------------------------------------------------------------------------------

    def greet(self, side: Side, data: bytes) -> None:
        """The first bytes of a side: do they say that it does not speak Kafka?

        In the middle of a connection that takes more, as a payload may hold anything.
        """
        if protocol_detection.is_foreign(data, surely=not side.framer.in_step):
            self._estrange("")

    def strange(self, side: Side, data: bytes) -> None:
        """More bytes of a connection that does not speak Kafka."""
        assert self.stranger is not None
        self._strange_bytes += len(data)
        start = self.stranger[side.end]
        if len(start) < protocol_detection.HEAD_BYTES:
            start += data[: protocol_detection.HEAD_BYTES - len(start)]

    def finish(self, ts: int) -> None:
        """The connection is over, or the capture is."""
        self._answer_early(ts, hurry=True)
        if self.stranger is None:
            for side in self.sides:
                self.search_last(side, ts)
            for side in self.sides:
                side.framer.finish(ts)
            self._answer_early(ts, hurry=True)
            return
        for side in self.sides:
            self.strange(side, bytes(side.framer.buffer))
        starts = (bytes(self.stranger[0]), bytes(self.stranger[1]))
        fault = self._strange_fault
        if fault:
            fault = f"{fault}; {self._strange_bytes} more bytes are not decoded"
        else:
            fault = protocol_detection.describe(starts, self._strange_bytes)
        frame = DecodedFrame(
            capture="",
            stream_offset=0,
            direction="data",
            data=b"",
            skipped=self._strange_bytes,
            error=FrameError(fault, expected="Kafka's frames"),
        )
        self._emit(frame, 0, ts)

    def release(self) -> None:
        """Let go of what points back here: captures have more connections than memory."""
        for side in self.sides:
            del side.framer
        del self.sides, self.directions

    def _estrange(self, fault: str) -> None:
        self.stranger = [bytearray(), bytearray()]
        self._strange_fault = fault
        for side in self.sides:
            self.strange(side, bytes(side.framer.buffer))
            side.framer.buffer.clear()
        self._strange_bytes += self._early_size
        self._early.clear()

    def _name_sides(self, client: int) -> None:
        self.client = client
        self.name = f"{self._ends[client]}-{self._ends[1 - client]}{self._suffix}"

    def _direction(self, side: Side) -> Direction:
        if self.client is None:
            return "data"
        return "request" if side.end == self.client else "response"

    def _reads(self, api_key: int, telling: frozenset[int]) -> bool:
        """Whether the bodies of that api are wanted."""
        bodies = self._settings.bodies
        return bodies is None or api_key in bodies or api_key in telling

    def _request(self, data: bytes, offset: int, ts: int) -> None:
        request = read_request(data, body=False, dialect=self._settings.dialect, offset=4)
        if self._raw_tokens:
            is_request = request.api is not None and looks_like_a_request(request)
            if not (self._sasl.agreed or is_request):
                self._sasl.from_client(data[PREFIX_BYTES:])
                self._token(data, offset, ts)
                return
            self._raw_tokens = False
        reads = self._reads(request.api_key, _TELLING_REQUESTS)
        if reads or self._doubt.must_decode:
            request.read_body()
        frame = frame_of_payload(request, data, PREFIX_BYTES)
        self._doubt.request(request, frame)
        if not reads:
            frame.body = None
        self._expect(frame, ts)
        self._emit(frame, offset, ts)
        if frame.header is not None and frame.api is not None:
            self._sensible = True
        elif not (self._sensible or is_plausible_client(frame.client_id)):
            self._doubtful += 1
            if self._doubtful >= _DOUBTFUL:
                self._estrange(f"not Kafka: none of the first {_DOUBTFUL} requests is one")
        if frame.api_key == SASL_HANDSHAKE_KEY:
            self._handshaken(frame)
        elif frame.body is None or frame.error is not None:
            return
        elif frame.api_key == SASL_AUTHENTICATE_KEY:
            self._sasl.from_client(_field(frame.body, "auth_bytes"))
        elif frame.api_key == ENVELOPE_KEY:
            self._unwrap_request(frame, ts)
        elif frame.api_key == API_VERSIONS_KEY:
            name, version = (
                _field(frame.body, f"client_software_{x}") for x in ("name", "version")
            )
            if name or version:
                self._software = frame.client_software = f"{name} {version}".strip()

    def _handshaken(self, frame: DecodedFrame) -> None:
        """After SaslHandshake v0 tokens follow that have a size in front and nothing else."""
        if frame.api_key == SASL_HANDSHAKE_KEY:
            self._sasl.mechanism(_field(frame.body, "mechanism") or "")
            self._raw_tokens = frame.api_version == 0

    def _expect(self, frame: DecodedFrame, ts: int) -> None:
        """Wait for the response, unless none will come: acks=0 asks for none."""
        if frame.api_key is None or frame.api_version is None or frame.correlation_id is None:
            return
        if frame.may_be_token or not expects_response(frame.api_key, frame.body):
            return
        asked = PendingRequest(frame.api_key, frame.api_version, ts, frame.client_id)
        self.waiting.setdefault(frame.correlation_id, []).append(asked)
        if len(self.waiting) > MAX_WAITING:
            del self.waiting[next(iter(self.waiting))]

    def _asked(self, data: bytes) -> PendingRequest | None:
        """The request that a response answers; it waits no longer."""
        correlation_id = int.from_bytes(data[4:8], "big", signed=True)
        waiting = self.waiting.get(correlation_id)
        if waiting is None:
            return None
        if len(waiting) == 1:
            del self.waiting[correlation_id]
        return waiting.pop(0)

    def _response(self, data: bytes, offset: int, ts: int, *, last: bool = False) -> bool:
        """Read a response; False when its request may still come, and this is not its last try."""
        if len(data) >= 8:
            asked = self._asked(data)
            if asked is not None:
                self._answer(data, asked, offset, ts)
                return True
        if self._raw_tokens:
            self._sasl.from_server(data[PREFIX_BYTES:])
            self._token(data, offset, ts)
            return True
        if not last:
            return False
        frame = DecodedFrame(
            capture="",
            stream_offset=offset,
            direction="response",
            data=data,
            header_offset=PREFIX_BYTES,
            may_be_secret=True,
        )
        self._doubt.undecoded(frame)
        if len(data) >= 8:
            frame.correlation_id = int.from_bytes(data[4:8], "big", signed=True)
            fault = f"no request with correlation id {frame.correlation_id} was captured"
        else:
            fault = "a response needs at least 4 bytes"
        frame.error = DecodeError(
            f"{fault}, so that its api is not known", message="ResponseHeader", offset=4
        )
        self._emit(frame, offset, ts)
        return True

    def _answer(self, data: bytes, asked: PendingRequest, offset: int, ts: int) -> None:
        reads = self._reads(asked.api_key, _TELLING_RESPONSES)
        response = read_response(
            data, asked.api_key, asked.api_version, body=reads or self._doubt.must_decode,
            dialect=self._settings.dialect, offset=4,
        )  # fmt: skip
        frame = frame_of_payload(response, data, PREFIX_BYTES)
        frame.latency_us, frame.client_id = max(ts - asked.ts, 0), asked.client_id
        self._sensible = True
        if frame.error is not None:
            self._doubt.undecoded(frame)
        if not reads:
            frame.body = None
        whole = frame.body is not None and frame.error is None
        if whole and frame.codec is not None:
            self._settings.topics.learn(frame.codec.name, frame.body)
        if asked.api_key == SASL_AUTHENTICATE_KEY and whole:
            failed = _field(frame.body, "error_code") != 0
            self._sasl.from_server(_field(frame.body, "auth_bytes") or b"", failed=failed)
        self._emit(frame, offset, ts)
        if asked.inner is not None and whole:
            self._unwrap_response(frame, asked.inner)

    def _answer_early(self, ts: int, *, hurry: bool = False) -> None:
        """Answer the responses at hand, in order, as far as their requests are known."""
        early = self._early
        while early:
            data, offset, came = early[0]
            late = ts - came > _EARLY and not self._is_client_behind()
            last = hurry or late or self._early_size > _MOST_EARLY
            if not self._response(data, offset, came, last=last):
                return
            early.popleft()
            self._early_size -= len(data)

    def _is_client_behind(self) -> bool:
        """Whether requests wait behind a hole: the one that is missed may be among them."""
        return self.client is not None and self.directions[self.client].is_waiting

    def _token(self, data: bytes, offset: int, ts: int) -> None:
        frame = DecodedFrame(
            capture="",
            stream_offset=offset,
            direction="data",
            data=data,
            header_offset=PREFIX_BYTES,
            is_token=True,
        )
        self._emit(frame, offset, ts)

    def _unwrap_request(self, outer: DecodedFrame, ts: int) -> None:
        """The request inside an Envelope, as a frame of its own with its principal (KIP-590)."""
        data: bytes = _field(outer.body, "request_data")
        request = read_request(data, dialect=self._settings.dialect)
        frame = self._inner(frame_of_payload(request, data, 0), outer)
        frame.principal = _principal(_field(outer.body, "request_principal"))
        self._out.append(frame)
        if outer.correlation_id in self.waiting and request.header is not None:
            inner = PendingRequest(request.api_key, request.api_version, ts, frame.client_id)
            waiting = self.waiting[outer.correlation_id]
            waiting[-1] = waiting[-1]._replace(inner=inner)

    def _unwrap_response(self, outer: DecodedFrame, asked: PendingRequest) -> None:
        data: bytes | None = _field(outer.body, "response_data")
        if data is None:
            return
        response: Response = read_response(data, *asked[:2], dialect=self._settings.dialect)
        frame = self._inner(frame_of_payload(response, data, 0), outer)
        frame.latency_us, frame.client_id = outer.latency_us, asked.client_id
        if frame.error is None and frame.codec is not None:
            self._settings.topics.learn(frame.codec.name, frame.body)
        self._out.append(frame)

    def _inner(self, frame: DecodedFrame, outer: DecodedFrame) -> DecodedFrame:
        frame.forwarded = True
        frame.may_be_secret = frame.error is not None
        frame.capture, frame.connection, frame.ts = outer.capture, outer.connection, outer.ts
        frame.client, frame.server = outer.client, outer.server
        frame.stream_offset = outer.stream_offset + max(outer.data.find(frame.data), 0)
        frame.topic_names = outer.topic_names
        return frame

    def _emit(self, frame: DecodedFrame, offset: int, ts: int, *, end: int | None = None) -> None:
        frame.capture, frame.connection = self.capture, self.name
        frame.stream_offset, frame.ts = offset, ts
        frame.principal = self._sasl.principal
        frame.client_software = self._software
        frame.topic_names = self._settings.topics.so_far()
        if self.client is not None:
            frame.client, frame.server = self._ends[self.client], self._ends[1 - self.client]
        self._out.append(frame)


class Side:
    """What one end sends: takes bytes and holes in order, and passes frames on."""

    __slots__ = ("_conversation", "_fresh", "_ids", "_next_search", "end", "framer")

    def __init__(self, conversation: Connection, end: int, in_step: bool, limit: int) -> None:
        self._conversation = conversation
        self.end: int = end
        self.framer: Framer = Framer(self, limit, in_step=in_step)
        self._next_search = self._ids = 0
        self._fresh = True

    def worth_a_search(self, ids: int) -> bool:
        """Whether there is enough new: a search of a long buffer for each packet is too much."""
        size = len(self.framer.buffer)
        if size < self._next_search and (ids == self._ids or size > _SEARCHED_OFTEN):
            return False
        self._next_search = size + size // 4
        self._ids = ids
        return True

    def search_anew(self) -> None:
        """What was searched is gone."""
        self._next_search = 0

    @property
    def is_full(self) -> bool:
        """Whether the buffer is about to be given up, out of step as it is."""
        return len(self.framer.buffer) > MAX_UNSYNCED_BYTES

    def data(self, data: bytes, ts: int) -> None:
        conversation = self._conversation
        if self._fresh and data:
            self._fresh = False
            conversation.starts(self.end)
            if conversation.stranger is None:
                conversation.greet(self, data)
        if conversation.stranger is not None:
            conversation.strange(self, data)
        else:
            self.framer.data(data, ts)

    def hole(self, size: int, ts: int) -> None:
        if self._conversation.stranger is None:
            self._conversation.search_last(self, ts)
            self.search_anew()
            self.framer.hole(size, ts)

    def frame(self, data: bytes, offset: int, ts: int) -> None:
        conversation = self._conversation
        if conversation.stranger is None:
            conversation.frame(self, data, offset, ts)
        else:
            conversation.strange(self, data)

    def broken(self, data: bytes, offset: int, size: int, missing: int, ts: int) -> None:
        self._conversation.broken(self, data, offset, size, missing, ts)

    def unframed(self, data: bytes, offset: int, fault: str, ts: int) -> None:
        self._conversation.unframed(self, data, offset, fault, ts)

    def searching(self, ts: int) -> None:
        self._conversation.search(self, ts)


def _field(body: Any, name: str) -> Any:
    """A field of a body whose definition may be a newer release's."""
    return getattr(body, name, None)


def _principal(data: bytes | None) -> str | None:
    """The principal in an Envelope, as ``DefaultKafkaPrincipalBuilder`` writes it."""
    if data is None or len(data) < 2:
        return None
    version = int.from_bytes(data[:2], "big", signed=True)
    try:
        found = DefaultPrincipalData.decode(data[2:], version)
    except (DecodeError, UnknownMessageError):
        return None
    return f"{found.type}:{found.name}"
