"""Brokers on loopback whose answers are functions, in the event loop of the test.

cluster = ScriptedCluster([1, 2])
cluster.on(ListGroupsRequest, lambda request, broker: ListGroupsResponse())
async with cluster:
    ... cluster.bootstrap ...
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol import (
    FrameReader,
    Request,
    api_versions,
    frame,
    read_request,
    write_response,
)
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

HOST = "127.0.0.1"
ALL_VERSIONS = {api.api_key: api.versions for api in api_versions()}

#: What a handler may return beside a message or bytes.
SILENCE, CLOSE = object(), object()
#: Given the request and the broker: a message, the bytes of a whole frame, SILENCE or CLOSE.
Handler = Callable[[Any, "ScriptedBroker"], Any]


class ScriptedBroker:
    """One of the brokers: ``seen`` are the requests that it got, ``accepted`` its connections."""

    def __init__(self, id_: int, cluster: ScriptedCluster) -> None:
        self.id = id_
        self.cluster = cluster
        self.host = HOST
        self.port = 0
        self.seen: list[Message] = []
        self.accepted = 0
        self.versions: dict[int, VersionRange] = dict(ALL_VERSIONS)
        self.ssl: ssl.SSLContext | None = None
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def count(self, kind: type[Message]) -> int:
        """How many requests of a kind it has got."""
        return sum(isinstance(each, kind) for each in self.seen)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, HOST, self.port, ssl=self.ssl)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Listen no more and end all connections; ``start`` listens on the same port again."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None
        for writer in self._writers:
            writer.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def write_raw(self, data: bytes) -> None:
        """Write to all connections behind TLS's back, so that it breaks."""
        for writer in self._writers:
            transport: Any = writer.transport
            transport._ssl_protocol._transport.write(data)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        frames = FrameReader()
        try:
            while data := await reader.read(65536):
                for payload in frames.feed(data):
                    answer = await self._answer(read_request(payload))
                    if answer is CLOSE:
                        return
                    if answer is not SILENCE:
                        writer.write(answer)
        except (ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()
            with suppress(ConnectionError, ssl.SSLError, asyncio.CancelledError):
                await writer.wait_closed()
            self._tasks.discard(task)

    async def _answer(self, request: Request) -> Any:
        assert request.body is not None
        self.seen.append(request.body)
        answer = self.cluster.handlers[type(request.body)](request.body, self)
        if asyncio.iscoroutine(answer):
            answer = await answer
        if not isinstance(answer, Message):
            return answer
        assert request.header is not None
        correlation_id = request.header.correlation_id
        return frame(write_response(answer, request.api_version, correlation_id))


class ScriptedCluster:
    """Brokers that answer ApiVersions and Metadata by themselves, and the rest by ``handlers``."""

    def __init__(self, ids: list[int], controller: int | None = None) -> None:
        self.nodes = {id_: ScriptedBroker(id_, self) for id_ in ids}
        self.controller = ids[0] if controller is None else controller
        self.handlers: dict[type[Message], Handler] = {
            ApiVersionsRequest: self._api_versions,
            MetadataRequest: self._metadata,
        }

    @property
    def bootstrap(self) -> str:
        return ",".join(node.address for node in self.nodes.values())

    def on(self, kind: type[Message], *answers: Handler) -> None:
        """Answer requests of a kind by the functions in turn, the last one for ever."""
        left = list(answers)

        def next_answer(request: Any, broker: ScriptedBroker) -> Any:
            handler = left.pop(0) if len(left) > 1 else left[0]
            return handler(request, broker)

        self.handlers[kind] = next_answer

    async def __aenter__(self) -> ScriptedCluster:
        for node in self.nodes.values():
            await node.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for node in self.nodes.values():
            await node.stop()

    def _api_versions(self, request: Any, broker: ScriptedBroker) -> Message:
        rows = [
            ApiVersionsResponse.ApiVersion(key, spoken.lowest, spoken.highest)
            for key, spoken in broker.versions.items()
        ]
        return ApiVersionsResponse(api_keys=rows)

    def _metadata(self, request: Any, broker: ScriptedBroker) -> Message:
        rows = [
            MetadataResponse.MetadataResponseBroker(each.id, each.host, each.port)
            for each in self.nodes.values()
        ]
        return MetadataResponse(brokers=rows, controller_id=self.controller)
