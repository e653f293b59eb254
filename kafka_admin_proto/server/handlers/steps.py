"""Large requests in steps: generators, between whose steps a node answers other requests.

A step takes some tens of microseconds. The cluster changes in the last step only.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from copy import copy
from typing import TypeVar

from kafka_admin_proto.protocol.headers import response_header_version
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.rules import apply_record
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.varint import encode_uvarint

T = TypeVar("T")

#: The name of the field with a response's rows, which is its last field.
_ROWS = {
    "CreateTopicsResponse": "topics",
    "DeleteTopicsResponse": "responses",
    "CreatePartitionsResponse": "results",
}
#: Rows that are encoded in one step.
_ROWS_AT_ONCE = 8
#: Records that are applied in one step.
_RECORDS_AT_ONCE = 16


def finish(steps: Generator[None, None, T]) -> T:
    """Run all steps at once; returns their result."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        result: T = end.value
        return result


def stage(records: Sequence[Message]) -> Generator[None, None, ClusterState]:
    """The state that records of new topics make of an empty one; each step applies some."""
    staged = ClusterState()
    for index, record in enumerate(records, 1):
        apply_record(staged, record)
        if not index % _RECORDS_AT_ONCE:
            yield
    return staged


def encode_in_steps(response: Message, version: int) -> Generator[None, None, bytes]:
    """The bytes of ``response.encode(version)``; each step encodes some rows.

    The rows are the last field. In a flexible version a varint of their number plus one precedes
    them, and empty tagged fields follow; in older versions an int32 of their number precedes them.
    """
    name = _ROWS[response.message_name]
    rows = getattr(response, name)
    if len(rows) <= _ROWS_AT_ONCE:
        return response.encode(version)
    assert response.api_key is not None
    flexible = response_header_version(response.api_key, version) > 0
    count_bytes, end = (1, -1) if flexible else (4, None)
    some = copy(response)
    setattr(some, name, [])
    front = len(some.encode(version)[:end]) - count_bytes
    parts = [some.encode(version)[:front]]
    parts.append(encode_uvarint(len(rows) + 1) if flexible else len(rows).to_bytes(4, "big"))
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        setattr(some, name, rows[first : first + _ROWS_AT_ONCE])
        parts.append(some.encode(version)[front + count_bytes : end])
        yield
    if flexible:
        parts.append(b"\0")
    return b"".join(parts)
