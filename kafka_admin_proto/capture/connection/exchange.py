"""The exchange of a connection: the frames of its client and of its server → decoded frames.

Requests wait in the table for their responses. SASL, envelopes and topic names, which change how
later frames are read or shown, are in modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_admin_proto.capture.connection import state as states
from kafka_admin_proto.capture.connection.endpoints import Endpoints
from kafka_admin_proto.capture.connection.envelope import enclosed_request, enclosed_response
from kafka_admin_proto.capture.connection.pairing import (
    EarlyResponse,
    EarlyResponses,
    PendingRequest,
    RequestTable,
)
from kafka_admin_proto.capture.connection.sasl import SaslExchange
from kafka_admin_proto.capture.connection.token_guard import (
    Exposure,
    TokenGuard,
    looks_like_a_request,
)
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.frames import (
    PREFIX_BYTES,
    DecodedFrame,
    Direction,
    FrameOrigin,
    codec_of,
    forgive_padding,
    frame_of_bytes,
    frame_of_payload,
)
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, FrameError, KafkaAdminProtoError
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.payload_values import expects_response
from kafka_admin_proto.protocol.payloads import read_request, read_response
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: Stateful apis: their bodies say what later frames mean, and are read whatever the options are.
STATEFUL_REQUESTS = frozenset(
    {api_keys.SASL_HANDSHAKE, api_keys.SASL_AUTHENTICATE, api_keys.ENVELOPE, api_keys.API_VERSIONS}
)
STATEFUL_RESPONSES = frozenset({api_keys.SASL_AUTHENTICATE, api_keys.ENVELOPE})
#: How long, and in how many bytes, responses wait for a request that the capture has later.
_EARLY_US = 1_000_000
_MAX_EARLY_BYTES = 8 * 1024 * 1024
_HARMLESS = Exposure()


class Exchange:
    """``client_has_gap`` says whether requests wait behind a gap that may still be filled."""

    __slots__ = (
        "_client_has_gap", "_endpoints", "_names", "_options", "_out", "client_id", "early",
        "guard", "kafka_seen", "pending", "sasl", "software",
    )  # fmt: skip

    def __init__(
        self,
        state: states.ConnectionState,
        endpoints: Endpoints,
        options: DecodeOptions,
        topic_names: TopicNameIndex,
        out: list[DecodedFrame],
        unanswered: list[DecodedFrame],
        client_has_gap: Callable[[], bool],
    ) -> None:
        self._endpoints = endpoints
        self._options = options
        self._names = topic_names
        self._out = out
        self._client_has_gap = client_has_gap
        self.pending: RequestTable = RequestTable(unanswered=unanswered)
        if state.pending:
            states.restore_pending(self.pending, state.pending, options, topic_names)
        self.pending.holes = state.holes
        self.early: EarlyResponses = EarlyResponses(state.early)
        self.guard: TokenGuard = state.guard
        self.sasl: SaslExchange = state.sasl
        self.software: str | None = state.software
        #: What the client has called itself last.
        self.client_id: str | None = states.client_text(state.client_id)
        #: A request or a pair has decoded.
        self.kafka_seen: bool = state.kafka_seen

    # Requests ---------------------------------------------------------------------------------

    def request(self, data: bytes, offset: int, ts: int) -> DecodedFrame | None:
        """Decode a frame of the client; None for a SASL token without a header."""
        # The api key is looked at before the header, so that both parts are read in one call.
        wanted = self._wants(int.from_bytes(data[4:6], "big", signed=True), STATEFUL_REQUESTS)
        reads = wanted or self.guard.must_decode
        raw_tokens = self.sasl.raw_tokens
        request = read_request(
            data, body=reads and not raw_tokens, dialect=self._options.dialect, offset=4
        )
        if raw_tokens:
            is_request = request.api is not None and looks_like_a_request(request)
            if not (self.sasl.agreed or is_request):
                self.sasl.from_client(data[PREFIX_BYTES:])
                self._token(data, offset, ts)
                return None
            self.sasl.raw_tokens = False
            if reads:
                request.read_body()
        forgive_padding(request)
        codec = codec_of(request)
        exposure = self.guard.request(request, codec)
        if not wanted:
            request.body = None
        if request.api_key == api_keys.API_VERSIONS and request.error is None:
            software = software_of(request.body)
            self.software = self.software if software is None else software
        frame = frame_of_payload(
            request, data, PREFIX_BYTES, codec, self.origin(offset, ts),
            client_id=self.client_id,
            may_be_token=exposure.may_be_token, may_be_secret=exposure.may_be_secret,
        )  # fmt: skip
        if frame.client_id is not None:
            self.client_id = frame.client_id
        self._expect(frame, ts)
        self._out.append(frame)
        if frame.header is not None and frame.api is not None:
            self.kafka_seen = True
        self._learn_from_request(frame, ts)
        if self.early:
            self.answer_early(ts)
        return frame

    def _learn_from_request(self, frame: DecodedFrame, ts: int) -> None:
        """What the request means for later frames."""
        if frame.api_key == api_keys.SASL_HANDSHAKE:
            self._handshaken(frame)
        elif frame.body is None or frame.error is not None:
            return
        elif frame.api_key == api_keys.SASL_AUTHENTICATE:
            self.sasl.from_client(_field(frame.body, "auth_bytes"))
        elif frame.api_key == api_keys.ENVELOPE:
            enclosed = enclosed_request(frame, self._options.dialect)
            self._out.append(enclosed)
            if enclosed.header is not None and frame.correlation_id is not None:
                pending = self._pending_request(enclosed, ts)
                self.pending.enclose(frame.correlation_id, pending)

    def _handshaken(self, frame: DecodedFrame) -> None:
        mechanism = replace_invalid_utf8(_field(frame.body, "mechanism") or "")
        self.sasl.handshake(mechanism, frame.api_version)

    def _expect(self, frame: DecodedFrame, ts: int) -> None:
        """Wait for the response, unless none will come: acks=0 asks for none."""
        if frame.api_key is None or frame.correlation_id is None or frame.may_be_token:
            return
        if expects_response(frame.api_key, frame.body):
            self.pending.expect(frame.correlation_id, self._pending_request(frame, ts))

    def _pending_request(self, frame: DecodedFrame, ts: int) -> PendingRequest:
        assert frame.api_key is not None
        assert frame.api_version is not None
        kept = frame if frame.api_key in self._options.keep_requests else None
        return PendingRequest(frame.api_key, frame.api_version, ts, frame.client_id, None, kept)

    # Responses --------------------------------------------------------------------------------

    def response(self, data: bytes, offset: int, ts: int) -> None:
        """Decode a frame of the server, or keep it until its request is captured."""
        if self.early or not self._response(data, offset, ts):
            self.early.add(EarlyResponse(data, offset, ts))
            self.answer_early(ts)

    def answer_early(self, ts: int, *, hurry: bool = False, at_once: bool = False) -> None:
        """Decode the early responses, in order, as far as their requests are known by now.

        ``hurry``: no request can come any more, but those behind a gap that may still be filled.
        ``at_once``: nor do they wait for these, since the row of a later response follows.
        """
        early = self.early
        while early:
            data, offset, came = early.waiting[0]
            late = (hurry or ts - came > _EARLY_US) and not self._client_has_gap()
            last = at_once or late or early.size > _MAX_EARLY_BYTES
            if not self._response(data, offset, came, last=last):
                return
            early.remove_first()

    def _response(self, data: bytes, offset: int, ts: int, *, last: bool = False) -> bool:
        """Decode a response; False when its request may still come, and this is no ``last`` try."""
        if not last and self.pending.holes.spoil_pairs and self._client_has_gap():
            return False
        request = self._take(data, ts)
        if request is not None:
            self._answer(data, request, offset, ts)
            return True
        if self.sasl.raw_tokens:
            self.sasl.from_server(data[PREFIX_BYTES:])
            self._token(data, offset, ts)
            return True
        if not last:
            return False
        correlation_id = None
        fault = "a response needs at least 4 bytes"
        if len(data) >= 8:
            correlation_id = int.from_bytes(data[4:8], "big", signed=True)
            fault = f"no request with correlation id {correlation_id} was captured"
        fault = f"{fault}, so that its api is not known"
        self.emit(
            "response", data, offset, ts, header_offset=PREFIX_BYTES, may_be_secret=True,
            may_be_token=self.guard.undecoded().may_be_token, correlation_id=correlation_id,
            error=DecodeError(fault, message="ResponseHeader", offset=4),
        )  # fmt: skip
        return True

    def _answer(self, data: bytes, request: PendingRequest, offset: int, ts: int) -> None:
        wanted = self._wants(request.api_key, STATEFUL_RESPONSES)
        response = read_response(
            data, request.api_key, request.api_version, dialect=self._options.dialect, offset=4,
            body=wanted or self.guard.must_decode,
        )  # fmt: skip
        self.kafka_seen = True
        exposure = _HARMLESS if response.error is None else self.guard.undecoded()
        if not wanted:
            response.body = None
        codec = codec_of(response)
        whole = response.body is not None and response.error is None
        if whole and codec is not None:
            self._names.learn(codec.name, response.body)
        if request.api_key == api_keys.SASL_AUTHENTICATE and whole:
            failed = _field(response.body, "error_code") != 0
            self.sasl.from_server(_field(response.body, "auth_bytes") or b"", failed=failed)
        latency, error = _latency(request.ts, ts)
        frame = frame_of_payload(
            response, data, PREFIX_BYTES, codec, self.origin(offset, ts),
            client_id=request.client_id, latency_us=latency, request=request.frame,
            may_be_token=exposure.may_be_token, may_be_secret=exposure.may_be_secret,
            error=response.error or error,
        )  # fmt: skip
        self._out.append(frame)
        if request.enclosed is not None and whole:
            self._enclosed_response(frame, request.enclosed)

    def _enclosed_response(self, outer: DecodedFrame, request: PendingRequest) -> None:
        frame = enclosed_response(
            outer, request.api_key, request.api_version, request.client_id, request.frame,
            self._options.dialect,
        )  # fmt: skip
        if frame is not None:
            if frame.error is None and frame.codec is not None:
                self._names.learn(frame.codec.name, frame.body)
            self._out.append(frame)

    def _take(self, data: bytes, ts: int) -> PendingRequest | None:
        """The request that the response in a frame answers; it waits no longer."""
        if len(data) < 8:
            return None
        correlation_id = int.from_bytes(data[4:8], "big", signed=True)
        if self.pending.holes.spoil_pairs:
            return self.pending.take_behind_hole(correlation_id, ts)
        return self.pending.take(correlation_id)

    # Frames of which only the start was captured -----------------------------------------------

    def truncated(
        self, from_client: bool | None, data: bytes, offset: int, size: int, missing: int, ts: int,
        reason: str,
    ) -> None:  # fmt: skip
        """A frame of ``size`` bytes; ``from_client`` None: it is not known who sent it."""
        fault = (
            f"only the first {len(data)} of a frame's {counted(size, 'bytes')} were captured, with "
            f"{counted(missing, 'bytes')} missing behind them{reason}"
        )
        # The size may be damaged, and the bytes several frames: none behind the header is shown.
        error = FrameError(fault, offset=len(data), expected=counted(size, "bytes"))
        if not from_client:
            self.answer_early(ts, at_once=True)
        find = self._truncated_request if from_client else self._truncated_response
        frame = find(data, offset, ts, error)
        self.bytes_missing()
        if frame is not None:
            self._out.append(frame)
            return
        direction: Direction = "request" if from_client else "response"
        self.emit(
            "data" if from_client is None else direction, data, offset, ts,
            header_offset=PREFIX_BYTES, may_be_token=True, may_be_secret=True, error=error,
        )  # fmt: skip

    def _truncated_request(
        self, data: bytes, offset: int, ts: int, error: FrameError
    ) -> DecodedFrame | None:
        request = read_request(data, body=False, dialect=self._options.dialect, offset=4)
        if request.header is None:
            return None
        codec = codec_of(request)
        exposure = self.guard.request(request, codec, truncated=True)
        frame = frame_of_payload(
            request, data, PREFIX_BYTES, codec, self.origin(offset, ts), client_id=self.client_id,
            may_be_token=exposure.may_be_token, may_be_secret=True, error=error,
        )  # fmt: skip
        self._expect(frame, ts)
        if frame.api_key == api_keys.SASL_HANDSHAKE:
            self._handshaken(frame)
        return frame

    def _truncated_response(
        self, data: bytes, offset: int, ts: int, error: FrameError
    ) -> DecodedFrame | None:
        request = self._take(data, ts)
        if request is None:
            return None
        response = read_response(
            data, request.api_key, request.api_version, body=False,
            dialect=self._options.dialect, offset=4,
        )  # fmt: skip
        return frame_of_payload(
            response, data, PREFIX_BYTES, codec_of(response), self.origin(offset, ts),
            client_id=request.client_id, latency_us=_latency(request.ts, ts)[0],
            request=request.frame,
            may_be_token=self.guard.undecoded().may_be_token, may_be_secret=True, error=error,
        )  # fmt: skip

    def bytes_missing(self) -> None:
        """The start of the connection, or a later part of it, was not captured."""
        self.guard.bytes_missing()
        self.pending.bytes_missing()

    # Frames without a header that could be read ------------------------------------------------

    def emit(self, direction: Direction, data: bytes, offset: int, ts: int, **known: Any) -> None:
        """Append a frame of bytes that have no header."""
        self._out.append(frame_of_bytes(direction, data, self.origin(offset, ts), **known))

    def _token(self, data: bytes, offset: int, ts: int) -> None:
        self.emit("data", data, offset, ts, header_offset=PREFIX_BYTES, is_token=True)

    def _wants(self, api_key: int, stateful: frozenset[int]) -> bool:
        return api_key in stateful or self._options.reads_body(api_key)

    def origin(self, offset: int, ts: int) -> FrameOrigin:
        """What is known of a frame beside its bytes."""
        ends = self._endpoints
        return FrameOrigin(
            ends.capture, ends.name, offset, ts or None, ends.client_text, ends.server_text,
            self.sasl.principal, self.software, self._names.now(), cut_off=self.guard.cut_off,
        )  # fmt: skip


def _latency(asked: int, answered: int) -> tuple[int | None, KafkaAdminProtoError | None]:
    """Microseconds from a request to its response, or why there are none.

    0 is the time of packets that have none.
    """
    if not (asked and answered):
        return None, None
    if answered >= asked:
        return answered - asked, None
    fault = (
        f"it was captured {asked - answered} microseconds before its request, so that it has no "
        "latency"
    )
    return None, KafkaAdminProtoError(fault)


def software_of(body: Any) -> str | None:
    """The client's software, as the body of an ApiVersions has it; None where it does not say."""
    name, version = (_field(body, f"client_software_{each}") for each in ("name", "version"))
    return replace_invalid_utf8(f"{name} {version}".strip()) if name or version else None


def _field(body: Any, name: str) -> Any:
    """A field of a body; None where its definition, a newer release's, does not have it."""
    return getattr(body, name, None)
