"""DeleteTopic by the topic commands' text: names alone; one that comes twice counts once."""

from __future__ import annotations

from kafka_admin_proto.messages.kip_4a import DeleteTopicRequest
from kafka_admin_proto.messages.kip_4a.delete_topic_response import (
    DeleteTopicResponse,
    DeleteTopicResponseItem,
)
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.handlers.drafts.topics import deleted
from kafka_admin_proto.server.state import State


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: DeleteTopicRequest, caller: Caller) -> Answer:
    codes, records = deleted(state, dict.fromkeys(request.topic_name))
    rows = [DeleteTopicResponseItem(name, code) for name, code in codes.items()]
    return Answer(DeleteTopicResponse(rows), records)
