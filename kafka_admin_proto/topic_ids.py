"""Topic ids (KIP-516): the reserved ones, new ones, and the two ways to write them.

An id is a ``uuid.UUID``. Kafka's tools, logs and files show its 16 bytes as 22 characters of
base64url; the KIP, and most other software, as 32 hex digits with hyphens. Both are read here.
"""

from __future__ import annotations

from uuid import UUID, uuid4

from kafka_admin_proto.errors import TopicIdError
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.wire.secrets import METADATA_TOPIC_ID as METADATA_TOPIC_ID
from kafka_admin_proto.wire.types.fixed import uuid_from_text, uuid_to_text

#: Stands for "no id": of a topic that a message names by its name, or that is older than topic ids.
ZERO_TOPIC_ID = ZERO_UUID


def topic_id_from_text(text: str) -> UUID:
    """The id that either form of text stands for, reserved ones included; raises TopicIdError."""
    try:
        return uuid_from_text(text)
    except ValueError:
        raise TopicIdError(
            f"{text[:60]!r} is not a topic id; expected 22 characters of base64url such as "
            "'AAAAAAAAAAAAAAAAAAAAAQ', or '00000000-0000-0000-0000-000000000001'"
        ) from None


def topic_id_to_text(topic_id: UUID) -> str:
    """Kafka's form of the id: 22 characters of base64url. ``str(topic_id)`` is the other one."""
    return uuid_to_text(topic_id)


def random_topic_id() -> UUID:
    """An id for a new topic.

    As in Kafka, its text does not start with "-": command lines would take it for an option.
    It is never a reserved id: those are no UUIDs of version 4.
    """
    while uuid_to_text(topic_id := uuid4()).startswith("-"):
        pass
    return topic_id
