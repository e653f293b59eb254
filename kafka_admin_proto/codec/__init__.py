"""One message at one version: bytes ↔ value ↔ JSON.

``codec(...)`` finds it, ``Codec`` does the work. The base of the values is in ``values``, which
imports this room: their classes are found by name, or made by what ``use_classes`` was given.
"""

from __future__ import annotations

from kafka_admin_proto.codec.lookup import codec, use_classes
from kafka_admin_proto.codec.message_codec import Codec
from kafka_admin_proto.codec.value_classes import value_class_of

__all__ = ["Codec", "codec", "use_classes", "value_class_of"]
