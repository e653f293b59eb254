"""Kafka's wire protocol: bytes ↔ typed values, for every message and every version.

    from kafka_admin_proto import codec, CreateTopicsRequest

    c = codec(CreateTopicsRequest, 1)
    value = c.decode(data)
    data = c.encode(value)

Message classes, error codes and ``load_schemas`` are loaded when they are first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import (
    DecodeError,
    DumpError,
    EncodeError,
    FrameError,
    JsonError,
    KafkaAdminProtoError,
    LocalProtocolError,
    MetadataLogError,
    MetadataReplayError,
    MissingExtraError,
    PartitionMetadataError,
    PlacementError,
    RemoteProtocolError,
    SaslError,
    SchemaError,
    SettingsError,
    TopicIdError,
    TrailingBytesError,
    UnknownErrorCodeError,
    UnknownMessageError,
    UnknownReleaseError,
    UnsupportedVersionError,
)
from kafka_admin_proto.values import Message, StructValue
from kafka_admin_proto.version import __version__ as __version__

__all__ = [
    "Codec",
    "DecodeError",
    "DumpError",
    "EncodeError",
    "ErrorCode",
    "FrameError",
    "JsonError",
    "KafkaAdminProtoError",
    "LocalProtocolError",
    "Message",
    "MetadataLogError",
    "MetadataReplayError",
    "MissingExtraError",
    "PartitionMetadataError",
    "PlacementError",
    "RemoteProtocolError",
    "SaslError",
    "SchemaError",
    "SettingsError",
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
    from kafka_admin_proto import messages
    from kafka_admin_proto.loaded_schemas import load_schemas
    from kafka_admin_proto.messages import *  # noqa: F403  # for type checkers; at run time names are loaded when asked for
    from kafka_admin_proto.protocol.error_codes import ErrorCode, error_code

    __all__ += messages.__all__
else:
    from importlib import import_module

    # Not `from kafka_admin_proto import messages`: that would ask __getattr__ for "messages".
    _MESSAGES = f"{__name__}.messages"
    _MODULES = {
        "ErrorCode": f"{__name__}.protocol.error_codes",
        "error_code": f"{__name__}.protocol.error_codes",
        "load_schemas": f"{__name__}.loaded_schemas",
    }

    def __getattr__(name):
        if name in _MODULES:
            return globals().setdefault(name, getattr(import_module(_MODULES[name]), name))
        messages = import_module(_MESSAGES)
        if name not in messages.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals().setdefault(name, getattr(messages, name))

    def __dir__():
        return sorted({*globals(), *__all__, *import_module(_MESSAGES).__all__})
