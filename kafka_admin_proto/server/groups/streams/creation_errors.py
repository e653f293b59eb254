"""Why the internal topics of streams groups could not be created (``ExpiringErrorCache``)."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kafka_admin_proto.server.java import hash_order

_MOST_ERRORS = 1000


class CreationErrors:
    """Why topics could not be created, by broker, for the time of two heartbeats."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._errors: dict[tuple[int, str], tuple[int, str]] = {}

    def of(self, node: int, names: Collection[str]) -> dict[str, str]:
        """The texts of those of some topics that could not be created."""
        now_ms, found = self._now_ms(), {}
        for name in hash_order(names):
            until_ms, text = self._errors.get((node, name), (0, ""))
            if now_ms < until_ms:
                found[name] = text
        return found

    def add(self, node: int, name: str, text: str, ttl_ms: int) -> None:
        """Keep why a topic could not be created, in place of the oldest of very many."""
        self._errors.pop((node, name), None)
        self._errors[node, name] = (self._now_ms() + ttl_ms, text)
        if len(self._errors) > _MOST_ERRORS:
            del self._errors[next(iter(self._errors))]
