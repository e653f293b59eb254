"""Reads the payloads of a dump, which does not say which side sent them.

A payload is a response when a request with its correlation id is pending and the bytes read as that
api's response; otherwise it is a request.
"""

from __future__ import annotations

from kafka_admin_proto.capture.connection.pairing import PendingRequest, RequestTable
from kafka_admin_proto.capture.frames import RESPONSE_HINT, DecodedFrame, forgive_padding
from kafka_admin_proto.errors import DecodeError, UnknownMessageError
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.payload_values import Request, Response, expects_response
from kafka_admin_proto.protocol.payloads import read_request, read_response

#: Correlation ids of one dump that may await a response; a dump of requests alone has no responses.
MAX_IDS_OF_DUMP = 100_000
#: Requests that may await a response under one correlation id: each payload with the id is read as
#: the response to each of them, and a hostile dump may use one id for all.
MAX_APIS_OF_ID = 16


class PayloadReader:
    """Reads payloads and remembers the requests, because a response does not name its api."""

    def __init__(self, dialect: str = "kafka") -> None:
        self._dialect = dialect
        self._pending = RequestTable(MAX_IDS_OF_DUMP, MAX_APIS_OF_ID, counts_equal=True)
        #: After SaslHandshake v0, tokens follow with a size in front and without a header.
        self.raw_tokens: bool = False
        #: What waits as the request that was read last, None where no response to it will come.
        self._expected: PendingRequest | None = None
        #: The frame of the request that the payload read last answers, where it was kept.
        self.request: DecodedFrame | None = None
        #: The time since that request, in microseconds, where the dump has times.
        self.latency_us: int | None = None

    def read(
        self, data: bytes, offset: int = 0, ts: int | None = None
    ) -> Request | Response | None:
        """Read the payload at ``offset`` as a request or response; None for a raw SASL token.

        ``ts`` is when it was captured, in microseconds since 1970, None where nobody knows.
        """
        self._expected = self.request = self.latency_us = None
        id_bytes = data[offset : offset + 4]
        correlation_id = int.from_bytes(id_bytes, "big", signed=True)
        pending = self._pending.same_id(correlation_id) if len(id_bytes) == 4 else []
        responses = [
            (
                each,
                read_response(
                    data, each.api_key, each.api_version, dialect=self._dialect, offset=offset
                ),
            )
            for each in pending
        ]
        for answered, response in responses:
            if response.error is None:
                self.request = answered.oldest_frame()
                if ts is not None and 0 < answered.ts <= ts:
                    self.latency_us = ts - answered.ts
                self._pending.take(correlation_id, answered)
                return response
        request = read_request(data, dialect=self._dialect, offset=offset)
        forgive_padding(request)
        no_request = request.header is None or isinstance(request.error, UnknownMessageError)
        if self.raw_tokens and no_request:
            return None
        if request.error is not None and responses:
            answered, response = responses[0]
            self.request = answered.oldest_frame()
            if isinstance(response.error, UnknownMessageError):
                self._pending.take(correlation_id, answered)
            return response
        self._expect(request, ts)
        if no_request or (request.error is not None and request.api_key == api_keys.PRODUCE):
            _add_hint(request)
        return request

    def keep(self, frame: DecodedFrame) -> None:
        """Keep the frame of the payload read last until its response, if it waits for one."""
        if self._expected is not None:
            self._pending.keep(self._expected, frame)

    def _expect(self, request: Request, ts: int | None) -> None:
        """Remember a request until its response; a Produce with acks=0 has no response."""
        if request.header is None:
            return
        if request.error is None:
            self.raw_tokens = (request.api_key, request.api_version) == (api_keys.SASL_HANDSHAKE, 0)
        if expects_response(request.api_key, request.body):
            pending = PendingRequest(request.api_key, request.api_version, ts or 0)
            self._expected = self._pending.expect(request.header.correlation_id, pending)


def _add_hint(request: Request) -> None:
    """A small correlation id reads as api key 0, so that unpaired responses look like Produce."""
    if isinstance(request.error, DecodeError):
        request.error.fault += RESPONSE_HINT
    else:
        request.error = UnknownMessageError(f"{request.error}{RESPONSE_HINT}")
