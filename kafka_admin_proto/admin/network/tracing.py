"""Trace requests and responses: decode them for the callbacks of the caller."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Literal

import msgspec

from kafka_admin_proto.protocol.connection import SentRequest
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.values import Message


class TraceEvent(msgspec.Struct, frozen=True):
    """One request or response; secrets in ``message`` are masked in its repr.

    ``broker`` is the id, None for a bootstrap address. ``message`` is None for a body that cannot
    be read. ``latency_s`` is from request to response, None for requests.
    """

    kind: Literal["request", "response"]
    broker: int | None
    address: str
    api: str
    api_key: int
    version: int
    correlation_id: int
    message: Message | None
    latency_s: float | None = None


Trace = Callable[[TraceEvent], None]


class Tracer:
    """Calls the trace function with each request and response of one connection."""

    def __init__(self, trace: Trace, broker: int | None, address: str) -> None:
        self.broker = broker
        self._trace = trace
        self._address = address
        #: When requests without an answer were sent, by correlation id.
        self._sent_at: dict[int, float] = {}

    def __call__(self, is_request: bool, sent: SentRequest, message: Message | None) -> None:
        """Called by the connection with each message."""
        latency_s = None
        if is_request:
            self._sent_at[sent.correlation_id] = time.monotonic()
        else:
            latency_s = time.monotonic() - self._sent_at.pop(sent.correlation_id)
        event = TraceEvent(
            "request" if is_request else "response",
            self.broker,
            self._address,
            api_name(sent.api_key, sent.dialect) or str(sent.api_key),
            sent.api_key,
            sent.version,
            sent.correlation_id,
            message,
            latency_s,
        )
        try:
            self._trace(event)
        except Exception as error:  # the connection must not lose count of its requests
            context = {"message": "a trace function has failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
