"""What the connections of a cluster share, and what a listener asks of its clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kafka_admin_proto.protocol.connection import Limits, RequestReceived
from kafka_admin_proto.server.network.trickle import TrickleReads
from kafka_admin_proto.server.network.turns import Turns

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection.sasl_server import SaslServer
    from kafka_admin_proto.protocol.versions import Api
    from kafka_admin_proto.server.answers import Answers
    from kafka_admin_proto.server.faults.faults import Faults
    from kafka_admin_proto.server.network.limits import Guard
    from kafka_admin_proto.values import Message

#: Called with (node, request, response) for each answer.
Trace = Callable[[int, RequestReceived, "Message"], None]


@dataclass
class Service:
    """What all connections of a cluster share. ``faults`` is None until there is one.

    ``buffer`` is where the kernel writes what a client sent: it is read at once, so that one does
    for all connections of an event loop. (The bytes object that a plain protocol gets is made with
    256 KiB and cut short, for each request.)
    """

    answers: Answers
    apis: tuple[Api, ...]
    limits: Limits
    buffer: memoryview
    trace: Trace | None
    guard: Guard
    dialect: str = "kafka"
    faults: Faults | None = None
    turns: Turns = field(default_factory=Turns)
    trickle: TrickleReads = field(default_factory=TrickleReads)

    def end(self) -> None:
        """Nothing goes on any more: the cluster has ended."""
        self.guard.close()
        self.turns.end()
        self.trickle.end()


@dataclass(frozen=True)
class Access:
    """What a secured listener asks of its clients; ``sasl`` is None where TLS is all.

    A client has ``login_s`` seconds until it is authenticated. One that fails is answered, and its
    connection closed, after ``failure_delay_s``.
    """

    sasl: SaslServer | None
    limits: Limits
    login_s: float
    failure_delay_s: float
