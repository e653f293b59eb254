"""The consumer protocol: subscriptions and assignments that consumers embed in the classic one.

Both begin with their version, an int16. As in Kafka's ``ConsumerProtocol``, a newer version is read
as the newest known one, and bytes behind its last field are passed over.
"""

from __future__ import annotations

from typing import Any, Final

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import DecodeError, TrailingBytesError
from kafka_admin_proto.messages import ConsumerProtocolAssignment, ConsumerProtocolSubscription

#: The protocol type of groups whose members speak it.
CONSUMER: Final = "consumer"
SUBSCRIPTION: Final = "ConsumerProtocolSubscription"
ASSIGNMENT: Final = "ConsumerProtocolAssignment"
#: Bytes of the version in front.
VERSION_BYTES: Final = 2
_NEWEST: Final = 3


def codec_of(data: bytes, name: str) -> Codec[Any]:
    """The codec of a subscription or assignment, by the version in front. Raises DecodeError."""
    _check_size(data, name)
    version = min(int.from_bytes(data[:VERSION_BYTES], "big", signed=True), _NEWEST)
    if version < 0:
        raise DecodeError(f"the consumer protocol has no version {version}", message=name)
    return codec(name, version)


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """The subscription of a member. Raises DecodeError."""
    found: ConsumerProtocolSubscription = _read(data, SUBSCRIPTION)
    return found


def read_subscribed_topics(data: bytes) -> list[str]:
    """The topics of a member's subscription, of whatever version. Raises DecodeError.

    Every version begins as version 0, which is all that Kafka's ``ClassicGroup`` reads of it: some
    clients say a newer version than they write.
    """
    _check_size(data, SUBSCRIPTION)
    found: ConsumerProtocolSubscription = _decoded(data, codec(SUBSCRIPTION, 0))
    return found.topics


def read_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """The assignment of a member. Raises DecodeError."""
    found: ConsumerProtocolAssignment = _read(data, ASSIGNMENT)
    return found


def write_assignment(value: ConsumerProtocolAssignment, version: int) -> bytes:
    """The bytes of an assignment."""
    return version.to_bytes(VERSION_BYTES, "big") + codec(ASSIGNMENT, version).encode(value)


def _check_size(data: bytes, name: str) -> None:
    if len(data) < VERSION_BYTES:
        fault = f"its version takes {VERSION_BYTES} bytes, and it has {len(data)}"
        raise DecodeError(fault, message=name)


def _read(data: bytes, name: str) -> Any:
    return _decoded(data, codec_of(data, name))


def _decoded(data: bytes, layout: Codec[Any]) -> Any:
    try:
        return layout.decode_at(data, VERSION_BYTES)
    except TrailingBytesError as error:
        return error.value
