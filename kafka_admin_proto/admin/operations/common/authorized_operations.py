"""Authorized operations: bits in answers, names in results."""

from __future__ import annotations

from functools import lru_cache

from kafka_admin_proto.render.meanings import all_meanings

#: The field's value where the operations were not asked for.
_NOT_ASKED = -(1 << 31)


def operation_names(bits: int) -> list[str] | None:
    """Kafka's names of what the client may do; None where the broker says nothing."""
    return None if bits == _NOT_ASKED else list(_names(bits))


@lru_cache(maxsize=256)
def _names(bits: int) -> tuple[str, ...]:
    names = all_meanings()["acl_operation"]
    return tuple(names.name(bit) or str(bit) for bit in range(32) if bits >> bit & 1)
