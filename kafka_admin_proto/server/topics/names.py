"""Names of topics: valid ones and collisions, as in Kafka's ``Topic``."""

from __future__ import annotations

import re

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure

LONGEST_NAME = 249
CLUSTER_METADATA = "__cluster_metadata"
CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
INTERNAL = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def check_topic_name(name: str) -> None:
    """Raises ApiFailure (INVALID_TOPIC_EXCEPTION) for a name that no topic may have."""
    fault = _fault(name)
    if fault is not None:
        raise ApiFailure(codes.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {fault}")


def shortened(name: str) -> str:
    """A name for an error text; its first characters if no topic can have a name that long.

    Kafka's texts have all of it, in the row of each partition: an answer would be as long as the
    name and the list of partitions multiplied.
    """
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."


def is_valid(name: str) -> bool:
    return _fault(name) is None


def collision_key(name: str) -> str | None:
    """A key that two names share if they collide in metrics; None if the name cannot collide."""
    return name.replace(".", "_") if "_" in name or "." in name else None


def _fault(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    # Java counts UTF-16 units.
    if len(name.encode("utf-16-be", "surrogatepass")) // 2 > LONGEST_NAME:
        return f"the length of '{name}' is longer than the max allowed length {LONGEST_NAME}"
    if not _LEGAL.fullmatch(name):
        return (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'"
        )
    return None
