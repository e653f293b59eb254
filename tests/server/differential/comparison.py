"""Answers of two clusters in a form in which they are equal where they should be.

Only what cannot be equal is normalised: ids, addresses, throttle times, Metadata's controller,
the order of what Kafka keeps in hash maps, and the replicas that a placer chose.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto.values import Message

_DROPPED = {
    "throttle_time_ms", "host", "port", "cluster_id", "controller_id", "unknown_tagged_fields",
    "finalized_features_epoch", "api_keys",
}  # fmt: skip
#: Configs whose values are those of a machine or a node's own file.
_OWN = {
    "log.dirs", "log.dir", "listeners", "advertised.listeners", "controller.quorum.voters",
    "metadata.log.dir",
}  # fmt: skip
_REPLICAS = {
    "leader_id", "leader_epoch", "replica_nodes", "isr_nodes", "offline_replicas",
    "eligible_leader_replicas", "last_known_elr",
}  # fmt: skip


#: Characters of each side in a difference.
_SHOWN = 400


def comparable(response: Message | None, names: Mapping[UUID, str], placed: Collection[str]) -> Any:
    """A response as builtins; ``names`` are those of a cluster's topic ids."""
    if response is None:
        return "no answer"
    return {type(response).__name__: _shown(response, names, placed, "")}


def _shown(value: Any, names: Mapping[UUID, str], placed: Collection[str], topic: str) -> Any:
    if isinstance(value, msgspec.Struct):
        topic = getattr(value, "name", topic) or topic
        shown = {}
        for field in value.__struct_fields__:
            if field in _DROPPED:
                continue
            item = getattr(value, field)
            if topic in placed and field in _REPLICAS:
                item = len(item) if isinstance(item, list) else item is None or item >= 0
            if topic in _OWN and field in ("value", "synonyms"):
                item = None
            shown[field] = _shown(item, names, placed, topic)
        return shown
    if isinstance(value, list):
        rows = [_shown(each, names, placed, topic) for each in value]
        if rows and isinstance(rows[0], dict) and not _is_ordered(rows[0]):
            rows.sort(key=repr)
        return rows
    if isinstance(value, UUID):
        return names.get(value, "zero" if value.int == 0 else f"unknown {value}")
    return value


def _is_ordered(row: Mapping[str, Any]) -> bool:
    """Whether the order is an answer too: synonyms of a config stand as they count."""
    return "source" in row


def differences(left: Any, right: Any, path: str = "") -> list[str]:
    """Where two comparable answers differ: path, left and right."""
    if isinstance(left, dict) and isinstance(right, dict):
        return [
            line
            for key in {**left, **right}
            for line in differences(left.get(key), right.get(key), f"{path}.{key}")
        ]
    if _named(left) and _named(right):
        one, other = ({row["name"]: row for row in rows} for rows in (left, right))
        if len(one) == len(left) and len(other) == len(right):
            return differences(one, other, path)
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        return [
            line
            for index, (one, other) in enumerate(zip(left, right, strict=True))
            for line in differences(one, other, f"{path}[{_label(one, index)}]")
        ]
    return [] if left == right else [f"{path}: {repr(left)[:_SHOWN]} and {repr(right)[:_SHOWN]}"]


def _named(rows: Any) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) and "name" in row for row in rows)


def _label(item: Any, index: int) -> str:
    for key in ("name", "resource_name", "partition_index"):
        if isinstance(item, dict) and key in item:
            return str(item[key])
    return str(index)
