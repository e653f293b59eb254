"""DeleteTopic by the admin schema's text: names alone; a topic named twice is refused."""

from __future__ import annotations

from kafka_admin_proto.messages.kip_4b import DeleteTopicRequest
from kafka_admin_proto.messages.kip_4b.delete_topic_response import (
    DeleteTopicResponse,
    DeleteTopicResponseItem,
)
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.handlers.drafts.codes import MULTIPLE_IN_BATCH, repeated
from kafka_admin_proto.server.handlers.drafts.topics import deleted
from kafka_admin_proto.server.state import State


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: DeleteTopicRequest, caller: Caller) -> Answer:
    names = dict.fromkeys(request.topic_name)
    twice = repeated(request.topic_name)
    codes, records = deleted(state, (name for name in names if name not in twice))
    codes |= dict.fromkeys(twice, MULTIPLE_IN_BATCH)
    rows = [DeleteTopicResponseItem(name, codes[name]) for name in names]
    return Answer(DeleteTopicResponse(rows), records)
