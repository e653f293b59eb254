"""Trace requests and responses, for the callbacks of the caller and for the logger of the client.

The logger has a line for each request with its api, version, node, correlation id, milliseconds and
error codes. It has nothing of the messages themselves, which may hold secrets.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Literal

import msgspec

from kafka_admin_proto.loggers import ADMIN
from kafka_admin_proto.protocol.connection import SentRequest
from kafka_admin_proto.protocol.error_codes import error_name
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
    """Calls the trace function with each request and response of one connection, and logs them.

    A request that is sent while the logger's level is above DEBUG is not logged.
    """

    def __init__(self, trace: Trace | None, broker: int | None, address: str) -> None:
        self.broker = broker
        self._trace = trace
        self._address = address
        #: Requests without an answer and when they were sent, by correlation id.
        self._unanswered: dict[int, tuple[SentRequest, float]] = {}

    def __call__(self, is_request: bool, sent: SentRequest, message: Message | None) -> None:
        latency_s = None
        if is_request:
            if self._trace is None and not ADMIN.isEnabledFor(logging.DEBUG):
                return
            self._unanswered[sent.correlation_id] = sent, time.monotonic()
        else:
            _, sent_at = self._unanswered.pop(sent.correlation_id, (None, None))
            if sent_at is None:
                return
            latency_s = time.monotonic() - sent_at
            if ADMIN.isEnabledFor(logging.DEBUG):
                self._log(sent, f"{latency_s * 1000:.1f} ms{_result(sent, message)}")
        if self._trace is not None:
            self._call_trace(self._trace, is_request, sent, message, latency_s)

    def end(self) -> None:
        """Log the requests that get no answer, since the connection has ended."""
        for sent, _ in self._unanswered.values():
            self._log(sent, "no answer, the connection ended")
        self._unanswered.clear()

    def _log(self, sent: SentRequest, outcome: str) -> None:
        node = self._address if self.broker is None else f"broker {self.broker} ({self._address})"
        ADMIN.debug(
            "%s v%d to %s, correlation id %d: %s",
            _name(sent), sent.version, node, sent.correlation_id, outcome,
        )  # fmt: skip

    def _call_trace(
        self,
        trace: Trace,
        is_request: bool,
        sent: SentRequest,
        message: Message | None,
        latency_s: float | None,
    ) -> None:
        event = TraceEvent(
            kind="request" if is_request else "response",
            broker=self.broker,
            address=self._address,
            api=_name(sent),
            api_key=sent.api_key,
            version=sent.version,
            correlation_id=sent.correlation_id,
            message=message,
            latency_s=latency_s,
        )
        try:
            trace(event)
        except Exception as error:  # the connection must not lose count of its requests
            context = {"message": "a trace function has failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)


def _name(sent: SentRequest) -> str:
    return api_name(sent.api_key, sent.dialect) or str(sent.api_key)


def _result(sent: SentRequest, message: Message | None) -> str:
    """The error codes of a response by their names, as the end of a line."""
    if message is None:
        return ", and the answer cannot be read"
    from kafka_admin_proto.render.field_scan import error_codes  # only lines need it

    codes = error_codes(message.codec(sent.version), message)
    names = [error_name(code, dialect=sent.dialect) or str(code) for code in codes]
    return f", errors {', '.join(names)}" if names else ""
