"""Kafka's wire protocol: bytes ↔ typed values, for every message and every version.

    from kafka_admin_proto import codec, CreateTopicsRequest

    c = codec(CreateTopicsRequest, 1)
    value = c.decode(data)
    data = c.encode(value)

Message classes are loaded when they are first named.
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
    MissingExtraError,
    SchemaError,
    TrailingBytesError,
    UnknownMessageError,
    UnsupportedVersionError,
)

__version__ = "0.1.0"

__all__ = [
    "Codec",
    "DecodeError",
    "DumpError",
    "EncodeError",
    "FrameError",
    "JsonError",
    "KafkaAdminProtoError",
    "Message",
    "MissingExtraError",
    "SchemaError",
    "StructValue",
    "TrailingBytesError",
    "UnknownMessageError",
    "UnsupportedVersionError",
    "codec",
    "load_schemas",
]

if TYPE_CHECKING:
    from kafka_admin_proto.messages import *  # noqa: F403
else:
    from importlib import import_module

    # Not `from kafka_admin_proto import messages`: that would ask __getattr__ for "messages".
    _MESSAGES = f"{__name__}.messages"

    def __getattr__(name):
        messages = import_module(_MESSAGES)
        if name not in messages.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, getattr(messages, name))

    def __dir__():
        return sorted({*globals(), *import_module(_MESSAGES).__all__})
