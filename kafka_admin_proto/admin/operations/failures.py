"""Error codes of answers, as results and as exceptions."""

from __future__ import annotations

from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.protocol.error_codes import find_error

#: ``error`` and ``message`` of a result.
Failure = tuple[str | None, str | None]


def error_name(code: int) -> str:
    """Kafka's name of an error code; the number as text for one that is not known."""
    found = find_error(code)
    return str(code) if found is None else found.name


def failure(code: int, message: str | None = None) -> Failure:
    """``error`` and ``message`` for an item's error code: Nones for 0.

    Where the broker sends no message, the meaning of the code is the message.
    """
    if code == 0:
        return None, None
    found = find_error(code)
    return error_name(code), message or (None if found is None else found.meaning)


def failure_of(error: Exception) -> Failure:
    """``error`` and ``message`` for an item whose request failed as a whole.

    ``error`` is Kafka's name only where a broker answered with one; else it is the name of the
    exception's class ("ConnectionFailedError"), which no error of Kafka's has.
    """
    if isinstance(error, BrokerError):
        return error.error, error.message
    return type(error).__name__, str(error)


def raise_failure(code: int, message: str | None = None, *, context: str) -> None:
    """Raise BrokerError for an error code that stands for the whole answer; nothing for 0."""
    if code != 0:
        raise BrokerError(code, message, context=context)
