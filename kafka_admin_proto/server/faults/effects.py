"""The effects of a fault on a connection: on the answer, its bytes, and when they are sent."""

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
#: The size of a frame with a garbage size: more than the 100 MB that clients accept.
_WRONG_SIZE = 101 << 20
#: A garbage correlation id differs in this bit, so that no request of the client has it.
_WRONG_BIT = 1 << 30
_NEGATIVE = 0x80


def play(fault: Fault, connection: NodeConnection, event: RequestReceived, caller: Caller) -> None:
    """Apply a fault to a request, whose answer is then sent later or never."""
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
            connection.close_when_sent()
        elif effect.drop is not None:
            connection.hand_over(_Silent(connection))
        elif effect.throttle_ms:
            connection.pause_for(effect.throttle_ms / 1000)

    connection.pause_for(effect.delay_ms / 1000, after_the_delay)


def _answer(
    fault: Fault, connection: NodeConnection, event: RequestReceived, caller: Caller
) -> Answer | bytes:
    """The answer that the fault gives, with its records appended."""
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
    """Set throttle_time_ms, if the response has the field at this version."""
    for field in fields_of(response):
        if field.name == "ThrottleTimeMs" and version in field.versions:
            # This message has the field, which the base class of messages does not.
            response.throttle_time_ms = throttle_ms  # type: ignore[attr-defined]


def _garbage(kind: Garbage, data: bytes, draw: Random) -> bytes:
    """The bytes of an answer made invalid; their number stays."""
    if kind == "size":
        return _WRONG_SIZE.to_bytes(_PREFIX_BYTES, "big") + data[_PREFIX_BYTES:]
    if kind == "noise":
        noise = draw.randbytes(len(data))
        return bytes([noise[0] | _NEGATIVE]) + noise[1:]
    end = 2 * _PREFIX_BYTES
    wrong = int.from_bytes(data[_PREFIX_BYTES:end], "big") ^ _WRONG_BIT
    return data[:_PREFIX_BYTES] + wrong.to_bytes(_PREFIX_BYTES, "big") + data[end:]


class _Silent(asyncio.Protocol):
    """The protocol of a connection after a dropped answer: it reads and writes nothing."""

    def __init__(self, connection: NodeConnection) -> None:
        self._connection = connection

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass the end of the socket on."""
        self._connection.connection_lost(exc)
