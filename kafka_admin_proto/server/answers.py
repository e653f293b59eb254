"""Answers to requests, and those to questions kept as bytes until the cluster changes.

Clients of a test ask the same over and over: Metadata, ApiVersions. An answer that depends on the
node, the question and the log alone is encoded once, and forgotten when the log goes on.
"""

from __future__ import annotations

from kafka_admin_proto.protocol.payloads import Request
from kafka_admin_proto.server.handlers import Answer, Caller, handler
from kafka_admin_proto.server.state import State

#: Metadata, ApiVersions, DescribeConfigs, ListPartitionReassignments, DescribeCluster,
#: ListConfigResources, DescribeTopicPartitions.
_QUESTIONS = frozenset({3, 18, 32, 46, 60, 74, 75})
#: Bytes of answers that are kept at most.
_KEPT_BYTES = 16 << 20

_Key = tuple[int, str, int, int, bytes]


class Answers:
    """What the nodes of a cluster answer."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._kept: dict[_Key, bytes] = {}
        self._bytes = 0
        self._stamp: tuple[int, int] = (-1, -1)

    def encoded(self, caller: Caller, request: Request) -> bytes | None:
        """The body of a kept answer; None where there is none."""
        state = self._state
        stamp = state.end_offset, state.controller
        if stamp != self._stamp:
            self._kept.clear()
            self._bytes, self._stamp = 0, stamp
            return None
        return self._kept.get(_key(caller, request))

    def answer(self, caller: Caller, request: Request) -> Answer | bytes:
        """The answer of a node, its records appended: as bytes where they will be wanted again."""
        answer = handler(request.api_key)(self._state, request.body, caller)
        self._state.append(answer.records)
        if answer.records or request.api_key not in _QUESTIONS:
            return answer
        body = answer.response.encode(request.api_version)
        if self._bytes + len(body) > _KEPT_BYTES:
            self._kept.clear()
            self._bytes = 0
        self._kept[_key(caller, request)] = body
        self._bytes += len(body) + len(request.data)
        return body


def _key(caller: Caller, request: Request) -> _Key:
    return caller.node_id, caller.listener, request.api_key, request.api_version, request.raw_body
