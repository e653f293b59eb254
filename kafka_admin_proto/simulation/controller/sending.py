"""The controller's queue of requests to one broker, of which one is under way at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kafka_admin_proto.simulation.controller.messages import Built
from kafka_admin_proto.simulation.node import NodeContext, OnResponse
from kafka_admin_proto.values import Message


class BrokerQueue:
    """Requests to a broker in one of its lives, in order, as Kafka's RequestSendThread sends them.

    A request that has to reach the broker is sent again until it is answered. StopReplica is not:
    its deletion gets the response, or None, and retries by its own rule.
    """

    def __init__(
        self, context: NodeContext, broker: int, broker_epoch: int, resend_ms: int
    ) -> None:
        self.broker: int = broker
        self.broker_epoch: int = broker_epoch
        self._context = context
        self._resend_ms = resend_ms
        self._waiting: deque[tuple[Built, OnResponse | None]] = deque()
        self._under_way = False
        self._closed = False

    def add(self, built: Built, once: OnResponse | None = None) -> None:
        """Append a request. With ``once`` it is sent once, and ``once`` gets the response."""
        self._waiting.append((built, once))
        self._send_next()

    def close(self) -> None:
        """Send nothing more: the broker is down, or its controller has resigned."""
        self._closed = True
        waiting, self._waiting = self._waiting, deque()
        for _, once in waiting:
            if once is not None:
                once(None)

    @property
    def idle(self) -> bool:
        """Whether every request was answered."""
        return not self._waiting

    def _send_next(self) -> None:
        if self._closed or self._under_way or not self._waiting:
            return
        self._under_way = True
        (body, version), _ = self._waiting[0]
        self._context.send(self.broker, body, version, self._answered)

    def _answered(self, body: Message | None) -> None:
        if self._closed:
            return
        _, once = self._waiting[0]
        if body is None and once is None:
            self._context.call_later(self._resend_ms, self._resend)
            return
        self._under_way = False
        self._waiting.popleft()
        self._send_next()
        if once is not None:
            once(body)

    def _resend(self) -> None:
        self._under_way = False
        self._send_next()


#: Finds the queue of a broker that is live; None for one that is not.
FindQueue = Callable[[int], BrokerQueue | None]
