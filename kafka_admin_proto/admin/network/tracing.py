"""Requests and responses as they pass, decoded for whoever watches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Literal

import msgspec

from kafka_admin_proto.errors import FrameError
from kafka_admin_proto.protocol.frames import FrameReader
from kafka_admin_proto.protocol.payloads import (
    Request,
    api_name,
    expects_response,
    read_request,
    read_response,
)
from kafka_admin_proto.values import Message


class TraceEvent(msgspec.Struct, frozen=True):
    """One request or response; secrets in ``message`` are masked in its repr.

    ``broker`` is the id, None for a bootstrap address. ``message`` is None where the body cannot be
    read, and ``problem`` then says why. ``latency_s`` is from request to response, None for
    requests. ``size`` is that of the frame.
    """

    kind: Literal["request", "response"]
    broker: int | None
    address: str
    api: str
    api_key: int
    version: int
    correlation_id: int | None
    size: int
    message: Message | None
    latency_s: float | None = None
    problem: str | None = None


Trace = Callable[[TraceEvent], None]


class Tap:
    """What passes on one connection, both ways. It reads along and changes nothing."""

    def __init__(self, trace: Trace, broker: int | None, address: str) -> None:
        self.broker = broker
        self._trace = trace
        self._address = address
        self._out, self._in = FrameReader(), FrameReader()
        self._pending: deque[tuple[Request, float]] = deque()

    def sent(self, data: bytes) -> None:
        """Take bytes that were written."""
        for payload in self._out.feed(data):
            request = read_request(payload)
            if expects_response(request.api_key, request.body):
                self._pending.append((request, time.monotonic()))
            self._trace(
                TraceEvent(
                    "request",
                    self.broker,
                    self._address,
                    request.api or str(request.api_key),
                    request.api_key,
                    request.api_version,
                    None if request.header is None else request.header.correlation_id,
                    len(payload) + 4,
                    request.body,
                    problem=request.problem,
                )
            )

    def received(self, data: bytes) -> None:
        """Take bytes that were read; what is no frame is the connection's to complain about."""
        try:
            for payload in self._in.feed(data):
                self._response(payload)
        except FrameError:
            self._pending.clear()

    def _response(self, payload: bytes) -> None:
        if not self._pending:
            return
        request, since = self._pending.popleft()
        response = read_response(payload, request.api_key, request.api_version)
        self._trace(
            TraceEvent(
                "response",
                self.broker,
                self._address,
                api_name(request.api_key) or str(request.api_key),
                request.api_key,
                response.api_version,
                None if response.header is None else response.header.correlation_id,
                len(payload) + 4,
                response.body,
                time.monotonic() - since,
                response.problem,
            )
        )
