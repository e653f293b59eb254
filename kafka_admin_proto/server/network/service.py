"""The objects that all connections of a cluster share, and the login that a listener asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_admin_proto.codec import codec
from kafka_admin_proto.protocol.connection import Limits, RequestReceived
from kafka_admin_proto.protocol.error_answers import set_throttle_time
from kafka_admin_proto.protocol.headers import message_of
from kafka_admin_proto.server.apis import Answer

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection.sasl_server import SaslServer
    from kafka_admin_proto.protocol.payload_values import Request
    from kafka_admin_proto.protocol.versions import Api
    from kafka_admin_proto.server.answers import Answers
    from kafka_admin_proto.server.clock import Clock
    from kafka_admin_proto.server.faults.faults import ClusterFaults
    from kafka_admin_proto.server.inspection.asked_requests import AskedRequests
    from kafka_admin_proto.server.network.limits import ConnectionLimiter
    from kafka_admin_proto.server.network.turns import Turns
    from kafka_admin_proto.server.network.waits import Waits
    from kafka_admin_proto.values import Message

#: How long a broker waits for a controller to which it can forward a request.
_CONTROLLER_S = 60.0

#: A user's function that is called with (node id, request, response) for each answer, also for that
#: to Produce with acks 0, which is not sent.
Trace = Callable[[int, RequestReceived, "Message"], None]


@dataclass
class Service:
    """The objects that all connections of a cluster share; ``faults`` is None without faults.

    ``lost`` is called with a connection that is closed.

    The kernel writes the bytes of every client to ``buffer``. They are decoded before the event
    loop reads another socket, so one buffer is enough. (asyncio makes a bytes object of 256 KiB for
    each request of a plain Protocol, and cuts it short.)
    """

    answers: Answers
    apis: tuple[Api, ...]
    limits: Limits
    buffer: memoryview
    trace: Trace | None
    limiter: ConnectionLimiter
    waits: Waits
    clock: Clock
    turns: Turns
    requests: AskedRequests
    lost: Callable[[object], None]
    dialect: str = "kafka"
    faults: ClusterFaults | None = None

    def wait_for_controller(
        self, found: Callable[[], object], given_up: Callable[[], object]
    ) -> None:
        """Call ``found`` when there is a controller, or ``given_up`` after `_CONTROLLER_S`."""
        waiting = self.answers.quorum.waiting

        def ask_again() -> None:
            timer.cancel()
            found()

        def give_up() -> None:
            waiting.remove(ask_again)
            given_up()

        timer = self.clock.later(_CONTROLLER_S, give_up)
        waiting.append(ask_again)

    def end(self) -> None:
        """Stop all timers: the cluster has ended."""
        self.limiter.close()
        self.waits.end()
        self.turns.end()


@dataclass(frozen=True)
class LoginRules:
    """The login that a secured listener asks for; ``sasl`` is None on a listener with TLS alone.

    A client has ``login_s`` seconds to authenticate. A login that fails is answered, and its
    connection closed, after ``failure_delay_s``.
    """

    sasl: SaslServer | None
    limits: Limits
    login_s: float
    failure_delay_s: float


def decoded(answer: Answer | bytes, request: Request) -> Message:
    """The response of an answer, which is decoded again if it was kept as bytes."""
    if not isinstance(answer, bytes):
        return answer.response
    api_key, version = request.api_key, request.api_version
    found = message_of(api_key, version, "response", request.dialect)
    assert found is not None
    name, dialect = found
    response: Message = codec(name, version, dialect=dialect).decode(answer)
    return response


def throttled(
    answer: Answer | bytes, request: Request, throttle_ms: int
) -> tuple[Answer | bytes, int]:
    """The answer with the time for which its client is to wait, and that time in milliseconds.

    The handler may have set a longer one than ``throttle_ms``.
    """
    own_ms = 0 if isinstance(answer, bytes) else getattr(answer.response, "throttle_time_ms", 0)
    if throttle_ms <= own_ms:
        return answer, own_ms
    response = decoded(answer, request)
    set_throttle_time(response, request.api_version, throttle_ms)
    return Answer(response), throttle_ms
