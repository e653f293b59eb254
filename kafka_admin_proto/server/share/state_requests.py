"""What requests of brokers to a share coordinator have in common: each partition has an answer."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any
from uuid import uuid4

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Wait, WaitKey
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.share.shard import ShareStateShard
from kafka_admin_proto.server.share.state import ShareKey
from kafka_admin_proto.values import Message

#: Does what is asked of a partition: its shard and key, the row that asks and the one that answers,
#: and what gets 0 when it is kept, or an error code. Raises ApiFailure.
Act = Callable[["ShareStateShard", ShareKey, Any, Any, "Then"], None]


def answer_states(
    view: View, caller: Caller, request: Any, response: Any, rows: tuple[type, type], act: Act
) -> Answer:
    """Do what is asked of each partition; ``rows`` are the classes of topics and partitions.

    The answer waits until all changes are kept.
    """
    states = view.controller_state.share_states
    topic_class, partition_class = rows
    waiting: set[int] = set()
    key: WaitKey = (uuid4(), -1)

    def done(row: Any, code: int) -> None:
        row.error_code = code
        waiting.discard(id(row))
        if not waiting:
            for each in states.sent:
                each(key)

    for topic in request.topics:
        results: list[Any] = []
        response.results.append(topic_class(topic.topic_id, results))
        for part in topic.partitions:
            row = partition_class(part.partition)
            results.append(row)
            waiting.add(id(row))
            try:
                _check(view, request.group_id, topic.topic_id, part)
                place = ShareKey(request.group_id, topic.topic_id, part.partition)
                shard = states.shard(view, caller, place.text)
                act(shard, place, part, row, partial(done, row))
            except ApiFailure as failure:
                row.error_message = failure.message
                done(row, failure.code)

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        return not waiting

    answer = Answer(response)
    if waiting:
        answer.wait = Wait(None, [key], complete)
    return answer


def _check(view: View, group: str, topic_id: Any, part: Message) -> None:
    """Raises ApiFailure for a partition that is not there."""
    if not group:
        raise ApiFailure(codes.INVALID_REQUEST)
    for name in ("partition", "leader_epoch", "state_epoch"):
        if getattr(part, name, 0) < 0:
            thing = "partition id" if name == "partition" else name.replace("_", " ")
            raise ApiFailure(codes.INVALID_REQUEST, f"The {thing} cannot be a negative number.")
    topic = view.topic_by_id(topic_id)
    if topic is None or part.partition not in topic.partitions:  # type: ignore[attr-defined]
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
