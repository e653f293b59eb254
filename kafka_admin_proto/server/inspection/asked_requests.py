"""What clients have asked a cluster, for tests to look at."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

import msgspec

from kafka_admin_proto.protocol.payload_values import Request
from kafka_admin_proto.protocol.payloads import read_request
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.base import shown

#: The newest requests are kept: how many at most, and how many bytes of them as they were sent.
MOST_REQUESTS, MOST_BYTES = 10_000, 4 << 20
#: Up to here the objects of a body take several times the bytes of the request.
_SMALL_BYTES = 4096


class AskedRequest(msgspec.Struct, frozen=True):
    """A request as a client sent it; ``time_ms`` is that of the cluster's clock, since 1970.

    ``principal`` is who the client is, as Kafka writes it ("User:alice").
    """

    node: int
    api: str
    version: int
    client_id: str | None
    principal: str
    time_ms: int
    body: Message


class _Kept(msgspec.Struct):
    """A request, of ``size`` bytes; a small one as it came, since its body is many objects.

    It is decoded when a test looks at it.
    """

    node: int
    api: str
    version: int
    client_id: str | None
    principal: str
    time_ms: int
    size: int
    dialect: str
    data: bytes = b""
    body: Message | None = None

    def decoded(self) -> AskedRequest:
        if self.body is None:
            self.body = read_request(self.data, dialect=self.dialect).body
        assert self.body is not None
        return AskedRequest(
            self.node, self.api, self.version, self.client_id, self.principal, self.time_ms,
            self.body,
        )  # fmt: skip


class AskedRequests:
    """The newest requests of all clients, the oldest first: at most 10,000 in 4 MiB.

    Iterating, ``len`` and ``of`` give those that are kept; ``dropped`` counts the older ones that
    are not. Any thread may use it.
    """

    def __init__(self, apis: tuple[Api, ...]) -> None:
        self._apis = apis
        self._lock = threading.Lock()
        self._kept: deque[_Kept] = deque()
        self._bytes = 0
        #: Requests that made room for newer ones.
        self.dropped: int = 0

    def __iter__(self) -> Iterator[AskedRequest]:
        return (each.decoded() for each in self._newest())

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, api: str) -> list[AskedRequest]:
        """The requests of an api, as "Produce"; ValueError for one that the cluster lacks."""
        names = [each.name for each in self._apis]
        if api not in names:
            raise ValueError(f"there is no api {shown(api)} here; there are {', '.join(names)}")
        return [each.decoded() for each in self._newest() if each.api == api]

    def add(self, caller: Caller, request: Request, time_ms: int) -> None:
        """Keep a request that was decoded, in the place of older ones if need be."""
        kept = _Kept(
            caller.node_id, request.api or str(request.api_key), request.api_version,
            caller.client_id, caller.principal, time_ms, len(request.data), request.dialect,
        )  # fmt: skip
        if kept.size <= _SMALL_BYTES:
            kept.data = request.data
        else:
            kept.body = request.body
        with self._lock:
            self._kept.append(kept)
            self._bytes += kept.size
            while len(self._kept) > MOST_REQUESTS or self._bytes > MOST_BYTES:
                self._bytes -= self._kept.popleft().size
                self.dropped += 1

    def _newest(self) -> list[_Kept]:
        with self._lock:
            return list(self._kept)

    def clear(self) -> None:
        """Forget all requests."""
        with self._lock:
            self._kept.clear()
            self._bytes = self.dropped = 0
