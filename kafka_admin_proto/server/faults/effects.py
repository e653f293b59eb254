"""What a fault does on a connection: to the answer, its bytes, and when they go out."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING

from kafka_admin_proto.codec import codec
from kafka_admin_proto.server.faults.error_answers import topics_answer, whole_answer
from kafka_admin_proto.server.faults.topics import fields_of
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection import RequestReceived
    from kafka_admin_proto.server.faults.fault import Fault, Garbage
    from kafka_admin_proto.server.network.connection import NodeConnection

_PREFIX_BYTES = 4
#: What a frame with garbage for its size says: more than the 100 MB that clients take.
_WRONG_SIZE = 101 << 20
#: A correlation id differs in this bit, so that it is none of the client's others.
_WRONG_BIT = 1 << 30
_NEGATIVE = 0x80


def play(fault: Fault, connection: NodeConnection, event: RequestReceived, caller: Caller) -> None:
    """Let a fault happen to a request, which is answered later or never."""
    effect = fault.effect
    data = b""
    if effect.cut != "before" and effect.drop != "request":
        answer = _answer(fault, connection, event, caller)
        data = connection.encoded(event, answer)
    if effect.drop is not None:
        data = b""
    elif effect.cut == "within":
        data = data[: max(_PREFIX_BYTES + 1, len(data) // 2)]
    elif effect.garbage is not None:
        data = _garbage(effect.garbage, data, Random(fault.fired))

    def after_the_delay() -> None:
        connection.write(data)
        if effect.cut is not None:
            connection.finish()
        elif effect.drop is not None:
            connection.silence(_Silent(connection))
        elif effect.throttle_ms:
            connection.hold(effect.throttle_ms / 1000)

    connection.hold(effect.delay_ms / 1000, after_the_delay)


def _answer(
    fault: Fault, connection: NodeConnection, event: RequestReceived, caller: Caller
) -> Answer | bytes:
    """The answer as the fault has it, its records appended."""
    service, request, effect = connection.service, event.request, fault.effect
    answer: Answer | bytes
    if effect.failure is None:
        found = service.answers.encoded(caller, request)
        answer = service.answers.answer(caller, request) if found is None else found
    else:
        assert request.body is not None
        target = fault.condition.target
        if target is None:
            answer = Answer(whole_answer(request.body, caller.version, effect.failure))
        else:
            view = service.answers.view(caller, request)
            answer = topics_answer(view, request.body, caller, effect.failure, target)
            service.answers.append(answer.records)
    if effect.throttle_ms:
        if isinstance(answer, bytes):
            version = request.api_version
            answer = Answer(codec(request.api_key, version, "response").decode(answer))
        _throttled(answer.response, caller.version, effect.throttle_ms)
    return answer


def _throttled(response: Message, version: int, throttle_ms: int) -> None:
    """Say so, where the response has a place for it at this version."""
    for field in fields_of(response):
        if field.name == "ThrottleTimeMs" and version in field.versions:
            # This message has the field, which the base class of messages does not.
            response.throttle_time_ms = throttle_ms  # type: ignore[attr-defined]


def _garbage(kind: Garbage, data: bytes, draw: Random) -> bytes:
    """An answer's bytes, as many as they were, that are no answer."""
    if kind == "size":
        return _WRONG_SIZE.to_bytes(_PREFIX_BYTES, "big") + data[_PREFIX_BYTES:]
    if kind == "noise":
        noise = draw.randbytes(len(data))
        return bytes([noise[0] | _NEGATIVE]) + noise[1:]
    end = 2 * _PREFIX_BYTES
    wrong = int.from_bytes(data[_PREFIX_BYTES:end], "big") ^ _WRONG_BIT
    return data[:_PREFIX_BYTES] + wrong.to_bytes(_PREFIX_BYTES, "big") + data[end:]


class _Silent(asyncio.Protocol):
    """What a connection is to its socket once an answer was lost: it reads and says nothing."""

    def __init__(self, connection: NodeConnection) -> None:
        self._connection = connection

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self._connection.connection_lost(exc)
