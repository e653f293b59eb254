"""The faults of a cluster, added and removed in any thread and checked for each request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_admin_proto.server.faults.effects import play
from kafka_admin_proto.server.faults.fault import Cut, Fault, Garbage, Lost
from kafka_admin_proto.server.faults.words import (
    FaultError,
    condition_of,
    effect_of,
    parse,
    text_of,
)
from kafka_admin_proto.server.handlers import Caller

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection import RequestReceived
    from kafka_admin_proto.server.network.connection import NodeConnection


class Faults:
    """The faults of one cluster. If several fit a request, the one that was added first fires.

    Iterating gives the faults that were added and not removed, spent ones included.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: tuple[Fault, ...] = ()
        #: The faults that may still fire. Replaced as a whole, so that other threads may iterate.
        self.active: tuple[Fault, ...] = ()

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._all)

    def add(
        self,
        *,
        api: str | int | None = None,
        versions: str | None = None,
        topic: str | None = None,
        partition: int | None = None,
        client_id: str | None = None,
        node: int | None = None,
        count: int | None = None,
        delay_ms: int = 0,
        throttle_ms: int = 0,
        error: str | int | None = None,
        message: str | None = None,
        cut: Cut | None = None,
        drop: Lost | None = None,
        garbage: Garbage | None = None,
    ) -> Fault:
        """Add a fault for the requests that meet all conditions, from the next one on.

        ``api`` is a name ("Metadata") or key, ``versions`` a range as in Kafka's definitions ("3",
        "2-5", "9+"). ``topic`` and ``client_id`` are shell patterns. The fault fires ``count``
        times, or until it is removed.

        ``delay_ms``: the answer goes out later, and those behind it. ``throttle_ms``: the answer
        says so, and the connection is muted for so long (KIP-219). ``error``: a name or code, with
        a ``message`` or without; the request is not carried out, or the topics and partitions that
        are named are not. ``cut``: the connection is closed. ``drop``: no answer, nor any behind
        it. ``garbage``: bytes that are no answer.

        Raises FaultError, which names the wrong argument and the right ones.
        """
        conditions = {
            "api": api, "version": versions, "topic": topic, "partition": partition,
            "client-id": client_id, "node": node,
        }  # fmt: skip
        effects = {
            "delay-ms": delay_ms or None, "throttle-ms": throttle_ms or None, "error": error,
            "message": message, "cut": cut, "drop": drop, "garbage": garbage,
        }  # fmt: skip
        return self._added(conditions, effects, count)

    def add_text(self, text: str) -> Fault:
        """A fault in the words of ``kap serve --fault``: "api=Metadata version=9+ cut=before"."""
        return self._added(*parse(text))

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._all = self.active = ()

    def happen(self, connection: NodeConnection, event: RequestReceived, caller: Caller) -> bool:
        """Let the first fault that fits a request fire; False if no fault fits."""
        for fault in self.active:
            view = connection.service.answers.view(caller, event.request)
            if fault.condition.holds(caller, event.request, view):
                fault.fired += 1
                if fault.is_spent:
                    with self._lock:
                        self.active = tuple(each for each in self.active if each is not fault)
                play(fault, connection, event, caller)
                return True
        return False

    def _added(
        self, conditions: dict[str, Any], effects: dict[str, Any], count: int | None
    ) -> Fault:
        if count is not None and count < 1:
            raise FaultError(f"count is {count}; it is 1 or more")
        text = text_of({**conditions, **effects, "count": count})
        fault = Fault(text, condition_of(conditions), effect_of(effects), count, self._remove)
        with self._lock:
            self._all = (*self._all, fault)
            self.active = (*self.active, fault)
        return fault

    def _remove(self, fault: Fault) -> None:
        with self._lock:
            self._all = tuple(each for each in self._all if each is not fault)
            self.active = tuple(each for each in self.active if each is not fault)
