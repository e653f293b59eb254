"""Which payload is a request, and which one answers it.

A dump does not say which side sent what. A payload is a response when a request with its
correlation id is waiting and the bytes read as that api's response; otherwise it is a request.
"""

from __future__ import annotations

from kafka_admin_proto.errors import DecodeError, UnknownMessageError
from kafka_admin_proto.protocol.headers import PRODUCE_KEY
from kafka_admin_proto.protocol.payloads import (
    Request,
    Response,
    expects_response,
    read_request,
    read_response,
)

#: Correlation ids that may wait for a response; the oldest goes first. Half a capture has none.
MAX_WAITING = 100_000
#: Requests of different apis and versions that may wait under one id: each payload with that id is
#: read as the response to each of them, and a hostile capture has one id alone.
MAX_ALIKE = 16

#: For what no request was captured of, and reads as one.
RESPONSE_HINT = (
    "; if this is a response whose request was not captured, say --response with --api and "
    "--version"
)
SASL_HANDSHAKE_KEY = 17


class Pairing:
    """Remembers the requests of a conversation, so that their responses are understood."""

    def __init__(self, dialect: str = "kafka") -> None:
        self._dialect = dialect
        #: Correlation id → (api key, version) → how many such requests wait.
        self._waiting: dict[int, dict[tuple[int, int], int]] = {}
        #: After SaslHandshake v0 tokens follow that have a size in front and nothing else.
        self.raw_tokens: bool = False

    def read(self, data: bytes, offset: int = 0) -> Request | Response | None:
        """The request or response that the payload at ``offset`` is; None for a raw SASL token."""
        id_bytes = data[offset : offset + 4]
        correlation_id = int.from_bytes(id_bytes, "big", signed=True)
        waiting = self._waiting.get(correlation_id, {}) if len(id_bytes) == 4 else {}
        responses = [
            (asked, read_response(data, *asked, dialect=self._dialect, offset=offset))
            for asked in waiting
        ]
        for asked, response in responses:
            if response.error is None:
                return self._answered(correlation_id, asked, response)
        request = read_request(data, dialect=self._dialect, offset=offset)
        no_request = request.header is None or isinstance(request.error, UnknownMessageError)
        if self.raw_tokens and no_request:
            return None
        if request.error is not None and responses:
            asked, response = responses[0]
            if isinstance(response.error, UnknownMessageError):
                return self._answered(correlation_id, asked, response)
            return response
        self._expect(request)
        if no_request or (request.error is not None and request.api_key == PRODUCE_KEY):
            _add_hint(request)
        return request

    def _answered(
        self, correlation_id: int, asked: tuple[int, int], response: Response
    ) -> Response:
        waiting = self._waiting[correlation_id]
        waiting[asked] -= 1
        if not waiting[asked]:
            del waiting[asked]
        if not waiting:
            del self._waiting[correlation_id]
        return response

    def _expect(self, request: Request) -> None:
        """Wait for the response, unless none will come: acks=0 asks for none."""
        if request.header is None:
            return
        if request.error is None:
            self.raw_tokens = (request.api_key, request.api_version) == (SASL_HANDSHAKE_KEY, 0)
        if not expects_response(request.api_key, request.body):
            return
        asked = (request.api_key, request.api_version)
        waiting = self._waiting.setdefault(request.header.correlation_id, {})
        waiting[asked] = waiting.get(asked, 0) + 1
        if len(waiting) > MAX_ALIKE:
            del waiting[next(iter(waiting))]
        if len(self._waiting) > MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]


def _add_hint(request: Request) -> None:
    """A small correlation id reads as api key 0, so that unpaired responses look like Produce."""
    if isinstance(request.error, DecodeError):
        request.error.fault += RESPONSE_HINT
    else:
        request.error = UnknownMessageError(f"{request.error}{RESPONSE_HINT}")
