"""The topic of the share coordinators: a broker that looks for one of them has it created.

As in Kafka, where each request of ``PersisterStateManager`` begins with FindCoordinator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.server.topics.auto_creation import created_topics
from kafka_admin_proto.server.topics.names import SHARE_GROUP_STATE
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.apis import Caller
    from kafka_admin_proto.server.brokers.view import View


def missing_state_topic(view: View, caller: Caller) -> list[Message]:
    """The records of the topic where it is not there; none where it is."""
    if view.topic(SHARE_GROUP_STATE) is not None:
        return []
    return created_topics(view, [SHARE_GROUP_STATE], caller)
