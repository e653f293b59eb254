"""Faults that are added and removed in any thread, and those that fit a request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kafka_admin_proto.faults.fault import Condition, Cut, Effect, Fault, Garbage, Lost
from kafka_admin_proto.faults.words import (
    FaultError,
    Spelling,
    argument,
    check_types,
    condition_of,
    effect_of,
    parse,
    text_of,
)

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.versions import Api


class Faults:
    """The faults of one cluster or proxy, where ``apis`` are served.

    If several fit a request, the one that was added first fires. Iterating gives the faults that
    were added and not removed, spent ones included. ``check`` raises FaultError for a fault that
    cannot happen there.
    """

    def __init__(self, apis: Sequence[Api], check: Callable[[Condition, Effect], None]) -> None:
        self._apis = apis
        self._check = check
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
        group: str | None = None,
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
        "2-5", "9+"). ``topic``, ``group`` and ``client_id`` are shell patterns. The fault fires
        ``count`` times, or until it is removed.

        ``delay_ms``: the answer goes out later, and those behind it. ``throttle_ms``: the answer
        says so, and the connection is muted for so long (KIP-219). ``error``: a name or code, with
        a ``message`` or without; the request is not carried out, or the topics and partitions that
        are named are not. ``cut``: the connection is closed. ``drop``: no answer, nor any behind
        it. ``garbage``: bytes that are no answer.

        Raises FaultError, which names the wrong argument and the right ones, also for a fault that
        no request to the cluster can meet.
        """
        conditions = {
            "api": api, "version": versions, "topic": topic, "partition": partition,
            "group": group, "client-id": client_id, "node": node,
        }  # fmt: skip
        effects = {
            "delay-ms": _given(delay_ms), "throttle-ms": _given(throttle_ms), "error": error,
            "message": message, "cut": cut, "drop": drop, "garbage": garbage,
        }  # fmt: skip
        return self._added(conditions, effects, count, argument)

    def add_text(self, text: str) -> Fault:
        """A fault in the words of ``kap serve --fault``: "api=Metadata version=9+ cut=before"."""
        return self._added(*parse(text), str)

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._all = self.active = ()

    def fires(self, fault: Fault) -> bool:
        """Count a fault that fires now; False for one that has fired as often as it may."""
        with self._lock:
            if fault not in self.active:
                return False
            fault.fired += 1
            if fault.is_spent:
                self.active = tuple(each for each in self.active if each is not fault)
        return True

    def _added(
        self,
        conditions: dict[str, Any],
        effects: dict[str, Any],
        count: int | None,
        spelt: Spelling,
    ) -> Fault:
        check_types({**conditions, **effects, "count": count}, spelt)
        if count is not None and count < 1:
            raise FaultError(f"count is {count}; it is 1 or more")
        text = text_of({**conditions, **effects, "count": count})
        condition = condition_of({**conditions, **effects}, self._apis, spelt)
        effect = effect_of(effects, spelt)
        self._check(condition, effect)
        fault = Fault(text, condition, effect, count, self._remove)
        with self._lock:
            self._all = (*self._all, fault)
            self.active = (*self.active, fault)
        return fault

    def _remove(self, fault: Fault) -> None:
        with self._lock:
            self._all = tuple(each for each in self._all if each is not fault)
            self.active = tuple(each for each in self.active if each is not fault)


def _given(milliseconds: int) -> int | None:
    return None if type(milliseconds) is int and milliseconds == 0 else milliseconds
