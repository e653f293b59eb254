"""Values of a cluster's state as cells of tables and words of lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka_admin_proto.cli.output import compact_json
from kafka_admin_proto.protocol.addresses import Address


def state_cell(value: Any) -> str:
    """A JSON value as a cell: lists with commas, endpoints as URLs."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return (" " if any(isinstance(each, dict) for each in value) else ",").join(
            state_cell(each) for each in value
        )
    if not isinstance(value, dict):
        return value if isinstance(value, str) else compact_json(value)
    if "port" in value:
        protocol = value.get("securityProtocol")
        protocol = f"({protocol})" if protocol not in (None, value["name"]) else ""
        return f"{value['name']}://{Address(value['host'], value['port'])}{protocol}"
    return pairs_text(value.items())


def pairs_text(fields: Iterable[tuple[str, Any]]) -> str:
    return " ".join(
        f"{name}={state_cell(value)}" for name, value in fields if value not in (None, [])
    )
