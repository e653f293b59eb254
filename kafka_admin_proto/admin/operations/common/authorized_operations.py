"""Authorized operations: bits in answers, names in results."""

from __future__ import annotations

from kafka_admin_proto.render.meanings import name_of

#: The field's value where the operations were not asked for.
_NOT_ASKED = -(1 << 31)


def operation_names(bits: int) -> list[str] | None:
    """Kafka's names of what the client may do; None where the broker says nothing."""
    if bits == _NOT_ASKED:
        return None
    return [name_of("acl_operation", bit) for bit in range(32) if bits >> bit & 1]
