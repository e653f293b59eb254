"""A trace as rows: of a table, and of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.render.text import compact_json
from kafka_admin_proto.simulation.output.bodies import body_json
from kafka_admin_proto.simulation.world.trace import NO_NODE, Trace, TraceEvent

#: The events of a table: ``receive`` would repeat ``send``, and states are for the page.
COLUMNS = ("number", "ms", "event", "node", "peer", "message")
_NOT_IN_TABLE = ("receive", "state")


def json_rows(trace: Trace) -> Iterator[dict[str, Any]]:
    """Every event, all with the same keys; ``body`` is that of its frame."""
    for event in trace.events:
        has_frame = event.frame is not None
        yield {
            "number": event.number,
            "at_ms": event.at_ms,
            "kind": event.kind,
            "node": node_name(trace, event.node),
            "peer": node_name(trace, event.peer),
            "api": event.api or None,
            "type": event.type or None,
            "version": event.version if has_frame else None,
            "correlation_id": event.correlation_id if has_frame else None,
            "size": len(event.frame) if event.frame is not None else None,
            "text": event.text or None,
            "fields": dict(event.fields),
            "body": body_json(event, trace.dialect) if has_frame else None,
        }


def table_rows(trace: Trace) -> Iterator[list[str]]:
    """The cells of ``COLUMNS`` for each event that a table shows."""
    for event in trace.events:
        if event.kind not in _NOT_IN_TABLE:
            yield [
                str(event.number),
                str(event.at_ms),
                event.kind,
                node_name(trace, event.node) or "",
                node_name(trace, event.peer) or "",
                _event_text(event, trace.dialect),
            ]


def node_name(trace: Trace, node: int) -> str | None:
    return None if node == NO_NODE else trace.names.get(node, f"node {node}")


def _event_text(event: TraceEvent, dialect: str) -> str:
    if event.frame is None:
        return event.text
    body = compact_json(body_json(event, dialect))
    return f"{event.api} v{event.version} {event.type} {body}"
