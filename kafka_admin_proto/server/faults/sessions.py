"""The partitions of a fetch session, for faults of requests that do not name them again."""

from __future__ import annotations

from uuid import UUID

import msgspec

from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.values import Message


def with_session(request: Message, view: View, node_id: int) -> Message:
    """A Fetch with all partitions of its session, which further requests do not name again."""
    if not isinstance(request, FetchRequest):
        return request
    asked = view.controller_state.partitions.sessions(node_id).partitions(request)
    named: dict[str | UUID, list[FetchPartition]] = {}
    for (topic, _), part in asked.items():
        named.setdefault(topic, []).append(part)
    topics = [
        FetchTopic(topic_id=topic, partitions=parts)
        if isinstance(topic, UUID)
        else FetchTopic(topic=topic, partitions=parts)
        for topic, parts in named.items()
    ]
    return msgspec.structs.replace(request, topics=[*topics, *request.topics])
