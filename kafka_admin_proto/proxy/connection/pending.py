"""The requests of one client that have no answer yet, in the order of their answers."""

from __future__ import annotations

import struct
from collections import deque

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import RemoteProtocolError
from kafka_admin_proto.protocol.connection.limits import Limits
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.proxy.connection.delivery import Delivery

_CORRELATION_ID = struct.Struct(">i").unpack_from
#: So many requests of a client that wait for no answer of the broker are taken in one turn.
_REQUESTS_OF_A_TURN = 100


class PendingCalls:
    """Requests that the broker answers, and answers of the proxy's own that wait for their turn."""

    def __init__(self, delivery: Delivery, limits: Limits) -> None:
        self._delivery = delivery
        self._limits = limits
        self._calls: deque[Call] = deque()
        #: Bytes of the proxy's own answers that wait.
        self._own_bytes = 0
        #: Requests in this turn of the event loop that the proxy answers itself, or nobody.
        self._of_this_turn = 0
        #: Whether later requests are for the next turn, when other clients have had theirs. Those
        #: that wait for no broker cost the proxy time, and the client nothing but a few bytes.
        self.rests: bool = False

    @property
    def are_full(self) -> bool:
        """Whether the client is to send no more before one of them is answered."""
        calls = self._calls
        return self.rests or (
            bool(calls)
            and (
                len(calls) >= self._limits.in_flight
                or self._own_bytes > self._limits.waiting_bytes
                or calls[-1].precedes_tokens
            )
        )

    def begin_turn(self) -> None:
        """Others have had their turn."""
        self._of_this_turn, self.rests = 0, False

    def add(self, call: Call) -> None:
        """A request was passed on, which the broker answers."""
        self._calls.append(call)

    def count(self) -> None:
        """A request or a token was taken that no answer of the broker holds up."""
        self._of_this_turn += 1
        self.rests = self._of_this_turn >= _REQUESTS_OF_A_TURN

    def answer(self, call: Call, answer: bytes) -> None:
        """Give an answer in its turn; none where there are no bytes, but for what a fault does."""
        call.answer = answer
        self._calls.append(call)
        self.count()
        self._own_bytes += len(answer)
        self.give_answers()

    def give_answers(self) -> None:
        """Give the proxy's own answers that no answer of the broker is in front of."""
        calls = self._calls
        while calls and calls[0].answer is not None and self._delivery.passes:
            call = calls.popleft()
            assert call.answer is not None
            self._own_bytes -= len(call.answer)
            self._delivery.deliver(call, call.answer)

    def take(self, response: bytes) -> Call | None:
        """The oldest request without an answer; None where a response has not its id."""
        if not self._calls or len(response) < 4:
            return None
        correlation_id: int = _CORRELATION_ID(response)[0]
        return self._calls.popleft() if correlation_id == self._calls[0].correlation_id else None

    def not_due(self, payload: bytes) -> RemoteProtocolError:
        """The error for a response that belongs to no request, or not to the oldest one."""
        if not self._calls:
            size = counted(len(payload), "bytes")
            return RemoteProtocolError(
                f"the broker sent a response of {size}, and nothing was asked"
            )
        return RemoteProtocolError(
            f"the broker sent a response that is not the one to correlation id "
            f"{self._calls[0].correlation_id}, the oldest request without an answer"
        )
