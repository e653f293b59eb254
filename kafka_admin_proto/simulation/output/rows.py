"""A trace as rows: of a table, and of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.codec import codec
from kafka_admin_proto.protocol.error_codes import error_label
from kafka_admin_proto.render.text import compact_json
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.simulation.world.frames import read_request_frame, read_response_frame
from kafka_admin_proto.simulation.world.trace import NO_NODE, Trace, TraceEvent
from kafka_admin_proto.values import Message

_KEYS = ("errorCode", "error_code")


def body_json(event: TraceEvent, dialect: str) -> dict[str, Any]:
    """The body of an event's frame in the JSON of its message."""
    body = _body(event, dialect)
    as_json: dict[str, Any] = codec(type(body), event.version).to_json(body, mask=True)
    return as_json


def _body(event: TraceEvent, dialect: str) -> Message:
    assert event.frame is not None, "only events of frames have a body"
    if event.type == "request":
        return read_request_frame(event.frame, dialect)[1]
    api_key = catalog().entry(f"{event.api}Request").api_key
    assert api_key is not None, "a frame is of an api"
    return read_response_frame(event.frame, api_key, event.version, dialect)[1]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each field of JSON by its path ("topics[0].topicId"); a list of plain values is one field."""
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        for index, each in enumerate(value):
            yield from leaves(each, f"{path}[{index}]")
    else:
        yield path, value


def errors_in(body: dict[str, Any], dialect: str) -> list[str]:
    codes = (
        value
        for path, value in leaves(body)
        if path.rpartition(".")[2] in _KEYS and isinstance(value, int) and value
    )
    return [error_label(code, dialect=dialect) for code in dict.fromkeys(codes)]


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
