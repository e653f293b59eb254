"""Values of the KRaft metadata log: a record behind three unsigned varints.

    frame version (1), api key of the record, version of the record, then its body

as ``org.apache.kafka.server.common.serialization.AbstractApiMessageSerde`` writes them.
Tiered storage keeps its own records (KIP-405) in ``__remote_log_metadata`` in the same form; their
types are numbered anew, so that the topic has to be known.
"""

from __future__ import annotations

from functools import cache

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import DecodeError, EncodeError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.secrets import METADATA_TOPIC as METADATA_TOPIC
from kafka_admin_proto.wire.varint import VARINT_BYTES, encode_uvarint, varint_at

#: The one frame version in use; 0 was that of the preview in Kafka 2.8.
FRAME_VERSION = 1

REMOTE_LOG_METADATA_TOPIC = "__remote_log_metadata"

_TITLE = "metadata record"
_LARGEST_SHORT = (1 << 15) - 1


def read_metadata_value(
    value: bytes, *, topic: str = METADATA_TOPIC, strict: bool = False
) -> tuple[Message, int]:
    """The record in a value, and its version; ``topic`` is one of the two above.

    Raises DecodeError, with the offset within the value; TrailingBytesError, which carries the
    record, when bytes are left after it. ``strict`` is that of ``Codec.decode``.
    """
    name, version, position = _read_header(value, topic)
    return _codec(name, version).decode_at(value, position, strict=strict), version


def metadata_record_name(value: bytes) -> str:
    """The name of the metadata log's record in a value, by its header alone; raises DecodeError."""
    return _read_header(value, METADATA_TOPIC)[0]


def _read_header(value: bytes, topic: str) -> tuple[str, int, int]:
    """The name of the record, its version, and the offset of its body."""
    frame_version, position = _read_short(value, 0, "frame version")
    if frame_version != FRAME_VERSION:
        raise _error(
            f"frame version is {frame_version}"
            + (", that of the preview in Kafka 2.8" if frame_version == 0 else ""),
            0,
            f"frame version {FRAME_VERSION}",
        )
    start = position
    api_key, position = _read_short(value, position, "type")
    name = _names(topic).get(api_key)
    if name is None:
        raise _error(f"no record has type {api_key}", start, "the type of a metadata record")
    start = position
    version, position = _read_short(value, position, "version")
    if version not in catalog().entry(name).versions:
        known = catalog().entry(name).valid_versions
        raise _error(f"{name} has versions {known}, not {version}", start, f"one of {known}")
    return name, version, position


def write_metadata_value(message: Message, version: int) -> bytes:
    """The value that carries a record at a version, as Kafka's controller writes it.

    Raises EncodeError for a message that is not a metadata record or does not fit the version, and
    UnsupportedVersionError for an unknown version.
    """
    api_key = message.api_key
    topics = (METADATA_TOPIC, REMOTE_LOG_METADATA_TOPIC)
    if api_key is None or message.message_name not in (_names(t).get(api_key) for t in topics):
        raise EncodeError(
            "it is no metadata record", message=message.message_name, value=message.message_name
        )
    body = _codec(message.message_name, version).encode(message)
    header = (encode_uvarint(number) for number in (FRAME_VERSION, api_key, version))
    return b"".join((*header, body))


@cache
def _names(topic: str) -> dict[int, str]:
    remote = topic == REMOTE_LOG_METADATA_TOPIC
    entries = ((name, catalog().entry(name)) for name in catalog().names())
    return {
        entry.api_key: name
        for name, entry in entries
        if entry.type == "metadata" and entry.api_key is not None
        # Kafka's definitions give both families the same type of message.
        if name.startswith("Remote") == remote
    }


@cache
def _codec(name: str, version: int) -> Codec[Message]:
    return codec(name, version)


def _read_short(value: bytes, start: int, what: str) -> tuple[int, int]:
    """An unsigned varint that fits an int16, and the offset after it."""
    if start < len(value) and value[start] < 0x80:  # nearly every one
        return value[start], start + 1
    try:
        number, end = varint_at(value, start)
    except IndexError:
        too_long = len(value) - start >= VARINT_BYTES
        fault = f"is a varint of more than {VARINT_BYTES} bytes" if too_long else "ends too early"
        raise _error(f"{what} {fault}", start, f"an unsigned varint ({what})") from None
    if number > _LARGEST_SHORT:
        raise _error(f"{what} is {number}", start, f"at most {_LARGEST_SHORT}")
    return number, end


def _error(fault: str, offset: int, expected: str) -> DecodeError:
    return DecodeError(fault, message=_TITLE, offset=offset, expected=expected)
