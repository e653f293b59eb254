"""Random, truncated and flipped bytes over a socket: answered as they decode, or the end."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_admin_proto import codec
from kafka_admin_proto.errors import DecodeError, TrailingBytesError
from kafka_admin_proto.messages import ApiVersionsRequest, RequestHeader
from kafka_admin_proto.protocol import FrameReader, frame, read_response, write_request
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.apis import DIALECTS, handler_modules
from kafka_admin_proto.testing import messages
from tests.helpers.profile import draws

_SECONDS = 30
_ID, _LAST_ID = 7, 8
#: What stands behind each request: it is answered where the connection goes on.
_BEHIND = frame(write_request(ApiVersionsRequest("a", "1"), 3, _LAST_ID))

#: (dialect, request) of every draft's message.
REQUESTS = [
    (dialect, catalog().name_of(api_key, "request", dialect) or "")
    for dialect in DIALECTS
    for api_key in handler_modules(dialect)
]


@pytest.fixture(scope="module")
def clusters() -> Iterator[dict[str, SyncCluster]]:
    with SyncCluster(3, rules="kip-4a") as first, SyncCluster(3, rules="kip-4b") as second:
        yield {"kip-4a": first, "kip-4b": second}


def ask(cluster: SyncCluster, data: bytes) -> list[bytes]:
    """The payloads that come back until the last id is answered, or the server ends it."""
    host, _, port = cluster.bootstrap_servers.split(",")[0].rpartition(":")
    reader, found = FrameReader(), list[bytes]()
    with socket.create_connection((host, int(port)), timeout=_SECONDS) as client:
        client.sendall(data + _BEHIND)
        while not found or found[-1][:4] != _LAST_ID.to_bytes(4, "big"):
            try:
                more = client.recv(1 << 16)
            except ConnectionResetError:  # it ended with bytes of ours unread
                break
            if not more:
                break
            found += reader.feed(more)
    return found


def checked(cluster: SyncCluster, dialect: str, name: str, body: bytes) -> None:
    """A body that decodes is answered, any other ends the connection and nothing else."""
    entry = catalog().entry(name, dialect)
    assert entry.api_key is not None
    version = entry.versions.highest
    header = RequestHeader(entry.api_key, version, _ID, "hostile").encode(1)
    try:
        codec(name, version, dialect=dialect).decode(body)
        decodes = True
    except TrailingBytesError:  # which a broker overlooks
        decodes = True
    except DecodeError:
        decodes = False
    payloads = ask(cluster, frame(header + body))
    if not decodes:
        assert payloads == []
        assert len(ask(cluster, b"")) == 1  # others are served
        return
    assert len(payloads) == 2
    response = read_response(payloads[0], entry.api_key, version, dialect=dialect)
    assert (response.error, response.header and response.header.correlation_id) == (None, _ID)
    assert response.body is not None
    assert response.body.dialect == dialect


def sound(value: Any) -> Any:
    """Without the numbers of partitions that would only take long."""
    for item in getattr(value, "items", ()):
        if getattr(item, "partitions", 0) > 50:
            item.partitions = -1
    return value


def damaged(data: st.DataObject, body: bytes) -> bytes:
    """The body cut, with flipped bits, or other bytes altogether."""
    what = data.draw(st.sampled_from(["whole", "cut", "flipped", "more", "random"]))
    if what == "cut":
        return body[: data.draw(st.integers(0, len(body)))]
    if what == "flipped" and body:
        damaged = bytearray(body)
        for at in data.draw(st.lists(st.integers(0, 8 * len(body) - 1), min_size=1, max_size=4)):
            damaged[at // 8] ^= 1 << at % 8
        return bytes(damaged)
    if what == "more":
        return body + data.draw(st.binary(min_size=1, max_size=20))
    return data.draw(st.binary(max_size=64)) if what == "random" else body


@pytest.mark.parametrize(("dialect", "name"), REQUESTS)
@settings(max_examples=draws(64), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_comes(
    clusters: dict[str, SyncCluster], caplog: pytest.LogCaptureFixture,
    dialect: str, name: str, data: st.DataObject,
) -> None:  # fmt: skip
    """No fault of ours: those are logged."""
    version = catalog().entry(name, dialect).versions.highest
    value = sound(data.draw(messages(name, version, dialect=dialect)))
    checked(clusters[dialect], dialect, name, damaged(data, value.encode(version)))
    assert caplog.text == ""


@pytest.mark.parametrize(("dialect", "name"), REQUESTS)
def test_other_versions_end_the_connection(
    clusters: dict[str, SyncCluster], dialect: str, name: str
) -> None:
    entry = catalog().entry(name, dialect)
    assert entry.api_key is not None
    version = 99 if entry.api_key == 3 else entry.versions.highest + 1
    header = RequestHeader(entry.api_key, version, _ID).encode(1)
    assert ask(clusters[dialect], frame(header + bytes(4))) == []
    assert len(ask(clusters[dialect], b"")) == 1
