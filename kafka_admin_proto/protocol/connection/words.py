"""How errors of connections name requests and error codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.protocol.error_codes import find_error
from kafka_admin_proto.protocol.payloads import api_name

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection.events import SentRequest
    from kafka_admin_proto.protocol.payload_values import Response


def api_words(api_key: int, dialect: str = "kafka") -> str:
    """An api by its name, "api key 4711" without one."""
    return api_name(api_key, dialect) or f"api key {api_key}"


def error_words(code: int, message: str | None = None) -> str:
    """An error code by Kafka's name, with the peer's words or else what it means."""
    found = find_error(code)
    if found is None:
        return f"error {code}" + (f": {message}" if message else "")
    return f"{found.name} ({code}): {message or found.meaning}"


def mismatch(response: Response, request: SentRequest) -> str:
    """A response that is not the one to the oldest request without an answer."""
    asked = f"{api_words(request.api_key, request.dialect)} v{request.version}"
    if response.header is None:
        return f"the response to {asked} has no header that reads: {response.problem}"
    return (
        f"the response has correlation id {response.header.correlation_id}, and the oldest "
        f"request without an answer, {asked}, has {request.correlation_id}"
    )
