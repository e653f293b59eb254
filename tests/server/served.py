"""A cluster in this process, asked one request at a time through its codecs, without a socket."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from kafka_admin_proto import codec
from kafka_admin_proto.server.bootstrap import Node, first_records, register
from kafka_admin_proto.server.handlers import Caller, handler, served_apis
from kafka_admin_proto.server.state import Log, State
from kafka_admin_proto.values import Message


class Served:
    """``ask`` answers as a node of a cluster of three would."""

    def __init__(self, release: str = "4.3", nodes: int = 3, log: Log | None = None) -> None:
        static = {each: {"node.id": str(each)} for each in range(1, nodes + 1)}
        self.state = State(release, "b25lIG9mIGEga2luZA", static, log=log)
        self.state.append(first_records(release))
        register(
            self.state,
            [Node(each, "h", 9000 + each, None, uuid4(), "h", 9100 + each) for each in static],
        )
        self.versions = {each.api_key: each.versions for each in served_apis(release)}

    def ask(self, request: Message, version: int | None = None, node: int = 1) -> Any:
        """The response as its bytes say, after its records are appended."""
        assert request.api_key is not None
        if version is None:
            version = self.versions[request.api_key].highest
        seen = codec(type(request), version)
        answer = handler(request.api_key)(
            self.state, seen.decode(seen.encode(request)), Caller(node, version)
        )
        self.state.append(answer.records)
        sent = codec(type(answer.response), version)
        return sent.decode(sent.encode(answer.response))
