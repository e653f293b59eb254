"""The consumer protocol that consumers embed in the classic one: subscriptions and assignments."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError, TrailingBytesError
from kafka_admin_proto.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafka_admin_proto.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

_NEWEST = 3
_VERSION_BYTES = 2


def version_of(data: bytes, what: str) -> int:
    """The version at the beginning, newer ones as the newest known one. Raises DecodeError."""
    if len(data) < _VERSION_BYTES:
        raise DecodeError("the consumer protocol begins with its version", message=what)
    version = min(int.from_bytes(data[:_VERSION_BYTES], "big", signed=True), _NEWEST)
    if version < 0:
        raise DecodeError(f"the consumer protocol has no version {version}", message=what)
    return version


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """The subscription of a member. Raises DecodeError."""
    found: ConsumerProtocolSubscription = _read(data, "ConsumerProtocolSubscription")
    return found


def read_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """The assignment of a member. Raises DecodeError."""
    found: ConsumerProtocolAssignment = _read(data, "ConsumerProtocolAssignment")
    return found


def write_assignment(value: ConsumerProtocolAssignment, version: int) -> bytes:
    """The bytes of an assignment."""
    encoded = codec("ConsumerProtocolAssignment", version).encode(value)
    return version.to_bytes(_VERSION_BYTES, "big") + encoded


def _read(data: bytes, name: str) -> Any:
    version = version_of(data, name)
    try:
        return codec(name, version).decode(data[_VERSION_BYTES:])
    except TrailingBytesError as error:  # Kafka leaves them
        return error.value
