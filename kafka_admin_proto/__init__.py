"""Kafka's wire protocol: bytes ↔ typed values, for every message and every version.

    from kafka_admin_proto import codec, CreateTopicsRequest

    c = codec(CreateTopicsRequest, 1)
    value = c.decode(data)
    data = c.encode(value)

Message classes and error codes are loaded when they are first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.codec import Codec, Message, StructValue, codec, load_schemas
from kafka_admin_proto.errors import (
    DecodeError,
    DumpError,
    EncodeError,
    FrameError,
    JsonError,
    KafkaAdminProtoError,
    MetadataLogError,
    MetadataReplayError,
    MissingExtraError,
    PartitionMetadataError,
    SchemaError,
    TopicIdError,
    TrailingBytesError,
    UnknownErrorCodeError,
    UnknownMessageError,
    UnknownReleaseError,
    UnsupportedVersionError,
)

__version__ = "0.1.0"

__all__ = [
    "Codec",
    "DecodeError",
    "DumpError",
    "EncodeError",
    "ErrorCode",
    "FrameError",
    "JsonError",
    "KafkaAdminProtoError",
    "Message",
    "MetadataLogError",
    "MetadataReplayError",
    "MissingExtraError",
    "PartitionMetadataError",
    "SchemaError",
    "StructValue",
    "TopicIdError",
    "TrailingBytesError",
    "UnknownErrorCodeError",
    "UnknownMessageError",
    "UnknownReleaseError",
    "UnsupportedVersionError",
    "codec",
    "error_code",
    "load_schemas",
]

if TYPE_CHECKING:
    from kafka_admin_proto.messages import *  # noqa: F403
    from kafka_admin_proto.protocol.error_codes import ErrorCode, error_code
else:
    from importlib import import_module

    # Not `from kafka_admin_proto import messages`: that would ask __getattr__ for "messages".
    _MESSAGES = f"{__name__}.messages"
    _ERROR_CODES = f"{__name__}.protocol.error_codes"

    def __getattr__(name):
        if name in ("ErrorCode", "error_code"):
            return globals().setdefault(name, getattr(import_module(_ERROR_CODES), name))
        messages = import_module(_MESSAGES)
        if name not in messages.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, getattr(messages, name))

    def __dir__():
        return sorted({*globals(), *__all__, *import_module(_MESSAGES).__all__})
