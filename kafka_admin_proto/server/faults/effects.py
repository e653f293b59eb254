"""The effects of a fault on a connection: on the answer, its bytes, and when they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from kafka_admin_proto.codec import codec
from kafka_admin_proto.faults.answers import damage_records, sent_bytes
from kafka_admin_proto.protocol.error_answers import set_throttle_time, whole_answer
from kafka_admin_proto.server.apis import Answer, Caller
from kafka_admin_proto.server.faults.topic_answers import topics_answer

if TYPE_CHECKING:
    from kafka_admin_proto.faults.fault import Fault
    from kafka_admin_proto.protocol.connection import RequestReceived
    from kafka_admin_proto.server.answers import Answers
    from kafka_admin_proto.server.network.client import Client


def play(
    fault: Fault,
    connection: Client,
    answers: Answers,
    event: RequestReceived,
    caller: Caller,
    fires: Callable[[], bool],
) -> None:
    """Apply a fault to a request, whose answer is then sent later or never.

    Records of an answer are wrong where it has some; only then ``fires`` is called, which counts.
    """
    effect = fault.effect
    if effect.cut == "before" or effect.drop == "request":
        _send(fault, connection, b"")
        return
    answer = _answer(fault, answers, event, caller)

    def send(answer: Answer | bytes) -> None:
        if effect.garbage == "records":
            assert isinstance(answer, Answer)
            view = answers.view(caller, event.request)
            damage_records(answer.response, view, fault.condition.target, fires)
        _send(fault, connection, connection.encoded(event, answer))

    if not connection.wait_until_complete(answer, send):
        send(answer)


def _send(fault: Fault, connection: Client, data: bytes) -> None:
    """Send the frame of an answer, or what the fault makes of it, after the fault's delay."""
    effect = fault.effect
    data = sent_bytes(fault, data)

    def after_the_delay() -> None:
        connection.write(data)
        if effect.cut is not None:
            connection.close_when_sent()
        elif effect.drop is not None:
            connection.hand_over(_Silent(connection))
        elif effect.throttle_ms:
            connection.pause_for(effect.throttle_ms / 1000)

    connection.pause_for(effect.delay_ms / 1000, after_the_delay)


def _answer(
    fault: Fault, answers: Answers, event: RequestReceived, caller: Caller
) -> Answer | bytes:
    """The answer that the fault gives, with its records appended."""
    request, effect = event.request, fault.effect
    answer: Answer | bytes
    if effect.failure is None:
        answer = answers.answer(caller, request)
    else:
        assert request.body is not None
        target = fault.condition.target
        if target is None:
            answer = Answer(whole_answer(request.body, caller.version, effect.failure))
        else:
            view = answers.view(caller, request)
            answer = topics_answer(view, request.body, caller, effect.failure, target)
            answers.append(answer.records)
    if effect.throttle_ms:
        if isinstance(answer, bytes):
            version = request.api_version
            answer = Answer(codec(request.api_key, version, "response").decode(answer))
        set_throttle_time(answer.response, caller.version, effect.throttle_ms)
    return answer


class _Silent(asyncio.Protocol):
    """The protocol of a connection after a dropped answer: it reads and writes nothing."""

    def __init__(self, connection: Client) -> None:
        self._connection = connection

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass the end of the socket on."""
        self._connection.connection_lost(exc)
