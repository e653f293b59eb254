"""What a client is sent, and when: a fault may make an answer late, another one, or the last."""

from __future__ import annotations

from kafka_admin_proto.faults.answers import sent_bytes
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.proxy.connection.frames import put_frame


class Delivery:
    """The answers to one client, in the order in which they are delivered.

    What is to be written is in ``to_client``, which the caller empties. Nothing is to be delivered
    before a pause is over, and nothing any more once ``is_over``.
    """

    def __init__(self) -> None:
        self.to_client: list[bytes] = []
        #: How long the pause is that a fault makes, until ``resume``; None without one.
        self.pause_s: float | None = None
        #: Whether a fault ends the connection.
        self.ended: bool = False
        #: Whether the client gets nothing more: the connection ends, or a fault drops all of it.
        self.is_over: bool = False
        self._held: tuple[Call, bytes] | None = None

    @property
    def passes(self) -> bool:
        """Whether an answer may be delivered now."""
        return self.pause_s is None and not self.is_over

    def deliver(self, call: Call, payload: bytes) -> None:
        """Send an answer to the client, or what its fault makes of it, after the fault's delay."""
        if call.fault is None:
            put_frame(self.to_client, payload)
            return
        frame = len(payload).to_bytes(4, "big") + payload if payload else b""
        self._held = call, sent_bytes(call.fault, frame)
        if call.fault.effect.delay_ms:
            self.pause_s = call.fault.effect.delay_ms / 1000
        else:
            self._send_held()

    def resume(self) -> None:
        """Go on when a pause is over."""
        self.pause_s = None
        if self._held is not None:
            self._send_held()

    def _send_held(self) -> None:
        """Send what a fault has made of an answer, and what it does to the connection then."""
        assert self._held is not None
        call, data = self._held
        assert call.fault is not None
        self._held = None
        if data:
            self.to_client.append(data)
        effect = call.fault.effect
        if effect.cut is not None or (effect.failure is not None and not call.expects_response):
            self.ended = self.is_over = True
        elif effect.drop is not None:
            self.is_over = True
        elif effect.throttle_ms:
            self.pause_s = effect.throttle_ms / 1000
