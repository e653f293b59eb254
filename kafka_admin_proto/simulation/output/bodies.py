"""The bodies of a trace's frames: as JSON, as fields, and their errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.codec import codec
from kafka_admin_proto.protocol.error_codes import error_label
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.simulation.world.frames import read_request_frame, read_response_frame
from kafka_admin_proto.simulation.world.trace import TraceEvent
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
