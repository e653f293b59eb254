"""Internal topics that the coordinator creates with the rights of the member that needs them.

As ``KafkaApis`` and ``DefaultAutoTopicCreationManager`` do.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.messages.streams_group_heartbeat_response import (
    Status,
    StreamsGroupHeartbeatResponse,
)
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.groups.streams.topology import MISSING_INTERNALS, InternalTopic
from kafka_admin_proto.server.security.authorizer.access import creatable_topics
from kafka_admin_proto.server.topics.auto_creation import create_as_broker
from kafka_admin_proto.values import Message

_MOST_NAMED = 3


def create_missing(
    view: View,
    caller: Caller,
    group: str,
    topics: Mapping[str, InternalTopic],
    response: StreamsGroupHeartbeatResponse,
) -> list[Message]:
    """The records of topics that a group lacks; the status that says so has why if there are none.

    A topic that could not be created is tried again two heartbeats later.
    """
    allowed = creatable_topics(view, caller, topics)
    refused = [name for name in topics if name not in allowed]
    if refused:
        _explain(response, f"Unauthorized to CREATE on topics {', '.join(refused)}.")
        return []
    errors, node = view.controller_state.coordinators.creation_errors, caller.node_id
    known = errors.of(node, topics.keys())
    wanted = [_creatable(each) for name, each in topics.items() if name not in known]
    records: list[Message] = []
    if wanted:
        records, rows = create_as_broker(view, wanted, caller)
        ttl_ms = 2 * view.group_value(group, "streams.heartbeat.interval.ms", node)
        for row in rows:
            if row.error_code:
                text = row.error_message or error_name(row.error_code) or ""
                errors.add(node, row.name, text, ttl_ms)
    if known:
        shown = ", ".join(f"{name} ({text})" for name, text in [*known.items()][:_MOST_NAMED])
        more = len(known) - _MOST_NAMED
        _explain(response, f"Creation failed: {shown}{f' and {more} more' if more > 0 else ''}.")
    return records


def _explain(response: StreamsGroupHeartbeatResponse, text: str) -> None:
    for each in response.status or ():
        if each.status_code == MISSING_INTERNALS:
            each.status_detail += f"; {text}"
            return
    response.status = [*(response.status or ()), Status(MISSING_INTERNALS, text)]


def _creatable(topic: InternalTopic) -> CreatableTopic:
    configs = [CreatableTopicConfig(*each) for each in topic.configs.items()]
    return CreatableTopic(topic.name, topic.partitions, topic.factor or -1, configs=configs)
