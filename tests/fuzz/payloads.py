"""Any payload is read without an exception, nothing of it lost; what reads writes the same bytes.

The first byte says whether the rest is a request, a response (to the api and version in the next
four bytes) or a stream of frames, cut where the second byte says.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import FrameError
from kafka_admin_proto.messages import RequestHeader, ResponseHeader
from kafka_admin_proto.protocol import FrameReader, Request, Response, read_request, read_response
from kafka_admin_proto.schema.catalog import catalog
from tests.fuzz import seeds as made
from tests.fuzz.limits import bounded_memory

#: Requests that were read; each may find its definition, which then stays in memory.
_SEEN: set[tuple[int, int]] = set()


def one_input(data: bytes) -> None:
    kind, rest = data[:1], data[1:]
    if kind == b"f":
        stream(rest)
    elif kind == b"r":
        read_whole(rest[4:], *(int.from_bytes(rest[i : i + 2], "big") for i in (0, 2)))
    else:
        read_whole(rest)


def read_whole(payload: bytes, *asked: int) -> None:
    def read() -> Request | Response:
        return read_response(payload, *asked) if asked else read_request(payload)

    found = read()
    if (found.api_key, found.api_version) in _SEEN:  # its definition is not read again
        with bounded_memory(payload, factor=80):  # a copy of the payload, and a header besides
            read()
    _SEEN.add((found.api_key, found.api_version))
    assert found.data == payload
    assert found.raw_body == payload[found.body_offset :]
    assert found.body is not None or found.problem
    assert found.encode() == payload
    repr(found)
    if found.header is not None:
        header_class = RequestHeader if isinstance(found, Request) else ResponseHeader
        header = codec(header_class, found.header_version)
        head = payload[: found.body_offset]
        assert header.encode(found.header) == head or header.non_canonical(head)
    if found.body is not None and found.error is None:
        body = found.raw_body
        assert found.codec.encode(found.body) == body or found.codec.non_canonical(body)


def stream(data: bytes) -> None:
    """Any split of a stream gives the same payloads, and the same error at the same place."""
    cut, bytes_ = data[0] if data else 0, data[1:]
    assert split(bytes_, len(bytes_)) == split(bytes_, 1 + cut)


def split(data: bytes, size: int) -> tuple[list[bytes], str]:
    reader = FrameReader()
    payloads: list[bytes] = []
    try:
        for start in range(0, len(data), max(size, 1)):
            payloads += reader.feed(data[start : start + max(size, 1)])
    except FrameError as error:
        return payloads, str(error)
    return payloads, ""


def seeds() -> Iterator[bytes]:
    yield b"f\x05" + made.stream()
    for name, version, payload in made.payloads():
        api_key = catalog().entry(name).api_key or 0
        if name.endswith("Request"):
            yield b"q" + payload
        else:
            yield b"r" + api_key.to_bytes(2, "big") + version.to_bytes(2, "big") + payload
