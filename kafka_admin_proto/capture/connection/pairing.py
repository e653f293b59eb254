"""The table of requests that wait for their responses, one for each connection or dump.

Correlation ids repeat: on several connections in one dump, over time, and in clients that give all
requests the same one. Requests with one id therefore wait in a row, the oldest first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import msgspec

from kafka_admin_proto.capture.frames import DecodedFrame

#: Correlation ids of one connection that may wait for a response; the oldest is dropped first.
MAX_IDS_OF_CONNECTION = 10_000
#: Requests of one connection that may wait under the same id.
MAX_SAME_ID = 1000
#: Bytes of the request frames of one connection that are kept for their responses.
MAX_KEPT_BYTES = 16 * 1024 * 1024


class PendingRequest(msgspec.Struct):
    """A request that waits for its response.

    ``ts`` is when it was captured, in microseconds since 1970; 0 where that is not known, or where
    equal requests of a dump wait. ``enclosed`` is the request inside
    an Envelope. ``frame`` is there where `DecodeOptions.keep_requests` has the api. ``count`` is
    how many equal requests of a dump wait, and ``frames`` are those of the newest of them, as many
    as `RequestTable.keep` was given and still has.
    """

    api_key: int
    api_version: int
    ts: int = 0
    client_id: str | None = None
    enclosed: PendingRequest | None = None
    frame: DecodedFrame | None = None
    count: int = 1
    frames: deque[DecodedFrame] | None = None

    def oldest_frame(self) -> DecodedFrame | None:
        """The frame of the oldest of equal requests, None where it is not kept."""
        return self.frames[0] if self.frames and len(self.frames) == self.count else None


class Holes(msgspec.Struct):
    """What a connection's table knows of bytes that were not captured.

    ``last_id`` and ``last_ts`` are those of the last request. ``ids_repeat``: one had the id of the
    one before it. ``seen``: bytes are missing. ``unsure_until``: the time of the last request that
    a hole was found behind.
    """

    last_id: int | None = None
    last_ts: int = 0
    ids_repeat: bool = False
    seen: bool = False
    unsure_until: int = 0

    @property
    def spoil_pairs(self) -> bool:
        """Whether the oldest request with an id may have lost its response."""
        return self.ids_repeat and self.seen


class RequestTable:
    """The pending requests by correlation id.

    ``counts_equal``: requests of one api and version under one id are counted and not kept apart,
    for dumps. Kept frames of requests that get no response go to ``unanswered``.
    """

    __slots__ = (
        "_counts_equal", "_kept_bytes", "_max_ids", "_max_same_id", "_pending", "_unanswered",
        "holes",
    )  # fmt: skip

    def __init__(
        self,
        max_ids: int = MAX_IDS_OF_CONNECTION,
        max_same_id: int = MAX_SAME_ID,
        *,
        counts_equal: bool = False,
        unanswered: list[DecodedFrame] | None = None,
    ) -> None:
        self._max_ids = max_ids
        self._max_same_id = max_same_id
        self._counts_equal = counts_equal
        self._unanswered = unanswered
        self._kept_bytes = 0
        self.holes: Holes = Holes()
        self._pending: dict[int, list[PendingRequest]] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def items(self) -> Iterable[tuple[int, list[PendingRequest]]]:
        """Correlation ids and their requests, the ids in the order of their first requests."""
        return self._pending.items()

    def expect(self, correlation_id: int, request: PendingRequest) -> PendingRequest:
        """A request was sent: wait for its response. Returns it, or the one it is counted with."""
        if request.frame is not None:
            self._keep(request.frame)
        holes = self.holes
        if holes.last_id == correlation_id:
            holes.ids_repeat = True
        holes.last_id, holes.last_ts = correlation_id, request.ts
        same_id = self._pending.get(correlation_id)
        if same_id is None:
            self._pending[correlation_id] = [request]
            if len(self._pending) > self._max_ids:
                self._drop(self._pending.pop(next(iter(self._pending))))
            return request
        if self._counts_equal:
            for other in same_id:
                if (other.api_key, other.api_version) == (request.api_key, request.api_version):
                    other.count, other.ts = other.count + 1, 0
                    return other
        same_id.append(request)
        if len(same_id) > self._max_same_id:
            self._drop([same_id.pop(0)])
        return request

    def keep(self, request: PendingRequest, frame: DecodedFrame) -> None:
        """Keep the frame of the newest of the equal requests that wait as ``request``."""
        if request.frames is None:
            request.frames = deque()
        request.frames.append(frame)
        self._keep(frame)

    def same_id(self, correlation_id: int) -> list[PendingRequest]:
        """The requests that wait under an id, the oldest first."""
        return self._pending.get(correlation_id, [])

    def take(
        self, correlation_id: int, request: PendingRequest | None = None
    ) -> PendingRequest | None:
        """Remove the oldest request with that id, or the one given: its response was captured."""
        same_id = self._pending.get(correlation_id)
        if same_id is None:
            return None
        taken = same_id[0] if request is None else request
        if taken.count > 1:
            if taken.frames and len(taken.frames) == taken.count:
                self._kept_bytes -= len(taken.frames.popleft().data)
            taken.count -= 1
            return taken
        if len(same_id) == 1:
            del self._pending[correlation_id]
        else:
            same_id.remove(taken)
        if self._kept_bytes:
            self._kept_bytes -= sum(len(frame.data) for frame in _kept(taken))
        return taken

    def bytes_missing(self) -> None:
        """Some bytes of the connection were not captured: requests may be among them, or the
        responses to those that wait.
        """
        self.holes.seen = True
        self.holes.unsure_until = self.holes.last_ts

    def take_behind_hole(self, correlation_id: int, ts: int) -> PendingRequest | None:
        """Remove the newest request with that id of no later time, and all older ones.

        A client that gives each request the same id mostly waits for each response, so that the
        older ones, or their responses, were not captured. Where the response may be that of a lost
        request, or of an older one, the request has no time.
        """
        candidates = [each for each in self.same_id(correlation_id) if each.ts <= ts]
        if not candidates:
            return None
        for each in candidates[:-1]:
            self._drop([each])
            self.take(correlation_id, each)
        request = self.take(correlation_id, candidates[-1])
        if request is not None and (len(candidates) > 1 or request.ts <= self.holes.unsure_until):
            request.ts = 0
        return request

    def enclose(self, correlation_id: int, enclosed: PendingRequest) -> None:
        """The newest request with that id is an Envelope with this request inside."""
        same_id = self._pending.get(correlation_id)
        if same_id is not None:
            same_id[-1].enclosed = enclosed
            if enclosed.frame is not None:
                self._keep(enclosed.frame)

    def newest_ids(self, count: int) -> Iterator[int]:
        """Up to ``count`` correlation ids, the newest first."""
        return islice(reversed(self._pending), count)

    def finish(self) -> None:
        """No more responses come."""
        for same_id in self._pending.values():
            self._drop(same_id)
        self._pending.clear()

    def _keep(self, frame: DecodedFrame) -> None:
        self._kept_bytes += len(frame.data)
        if self._kept_bytes > MAX_KEPT_BYTES:
            # A dump may have many more ids than a connection: they are not gone through so often.
            rest = MAX_KEPT_BYTES // 2 if self._counts_equal else MAX_KEPT_BYTES
            for same_id in list(self._pending.values()):
                self._drop(same_id)  # they still wait, without their frames
                if self._kept_bytes <= rest:
                    return

    def _drop(self, requests: list[PendingRequest]) -> None:
        """Release the frames of requests that have no response, or one too late to be paired."""
        for request in requests:
            for frame in _kept(request):
                self._kept_bytes -= len(frame.data)
                if self._unanswered is not None:
                    self._unanswered.append(frame)
            request.frame = request.frames = None
            if request.enclosed is not None:
                request.enclosed.frame = None


def _kept(request: PendingRequest) -> Iterator[DecodedFrame]:
    for each in (request, request.enclosed):
        if each is not None and each.frame is not None:
            yield each.frame
    yield from request.frames or ()


class EarlyResponse(NamedTuple):
    """A response whose request was not captured yet, at ``offset`` of its stream."""

    data: bytes
    offset: int
    ts: int


class EarlyResponses:
    """Responses that wait for a request which the capture has later, in their order."""

    __slots__ = ("size", "waiting")

    def __init__(self, waiting: Iterable[EarlyResponse] = ()) -> None:
        self.waiting: deque[EarlyResponse] = deque(waiting)
        self.size: int = sum([len(each.data) for each in self.waiting])

    def __bool__(self) -> bool:
        return bool(self.waiting)

    def add(self, response: EarlyResponse) -> None:
        self.waiting.append(response)
        self.size += len(response.data)

    def remove_first(self) -> None:
        self.size -= len(self.waiting.popleft().data)

    def clear(self) -> None:
        self.waiting.clear()
        self.size = 0
