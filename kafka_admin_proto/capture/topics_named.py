"""The topics that a frame names: in its body, in subscriptions and assignments of consumers within
it, and by topic ids whose names came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.protocol.consumer_protocol import SUBSCRIPTION
from kafka_admin_proto.render.embedded import embedded_messages
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name

#: The type of a config's or an ACL's resource that is a topic (ConfigResource.Type.TOPIC).
_TOPIC_RESOURCE = 2
#: Fields with a topic's name in drafts, whose grammar has no ``entityType``.
_DRAFTS_NAMES = ("Topic", "TopicName")
#: The field of a subscription with the names of topics, which has no ``entityType`` either.
_SUBSCRIBED = "Topics"


def topics_named(frame: DecodedFrame) -> set[str]:
    """The names of the topics in a body that was read, those of configs, ACLs and what members of
    groups subscribe to and are assigned included.
    """
    if frame.body is None or frame.codec is None:
        return set()
    return topics_in(frame.codec, frame.body) | {*frame.known_topics().values()}


def names_topic(frame: DecodedFrame, topic: str) -> bool:
    """Whether `topics_named` has that topic; most bodies do not even have the bytes of its name."""
    if frame.body is None or frame.codec is None:
        return False
    if topic in frame.known_topics().values():
        return True
    if frame.logged is None and topic.encode("utf-8", "surrogateescape") not in frame.data:
        return False
    return topic in topics_in(frame.codec, frame.body)


def topics_in(codec: Codec[Any], body: Any) -> set[str]:
    """The same of a body without the topics that it has ids of alone."""
    names = {*_names(codec.spec, codec.spec.fields, body)}
    for inner, value in embedded_messages(codec, body):
        names.update(_names(inner.spec, inner.spec.fields, value))
    return names - {""}  # the name is empty where an id stands for it


def _names(spec: MessageSpec, fields: tuple[FieldSpec, ...], value: Any) -> Iterator[str]:
    structs = spec.structs()
    for field in fields:
        found = getattr(value, python_name(field.name), None)
        for item in found if isinstance(found, list) else [found]:
            if item is None:
                continue
            if field.type.is_struct:
                yield from _names(spec, structs[field.type.element].fields, item)
            elif (
                field.entity_type == "topicName"
                or field.name in _DRAFTS_NAMES
                or (spec.name == SUBSCRIPTION and field.name == _SUBSCRIBED)
            ):
                yield item
    if getattr(value, "resource_type", None) == _TOPIC_RESOURCE:
        name = getattr(value, "resource_name", None)
        if name is not None:
            yield name
