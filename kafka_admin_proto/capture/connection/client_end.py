"""Which end of a connection is the client where neither a handshake nor a known request says it.

Only the two streams of the connection and its endpoints are asked: frames must not depend on which
other connections were decoded before, or by the same task.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

from kafka_admin_proto.capture.connection.token_guard import (
    is_plausible_client,
    looks_like_a_request,
)
from kafka_admin_proto.messages import RequestHeader
from kafka_admin_proto.protocol.payloads import read_request

#: Frames of each stream that are looked at.
_MOST_FRAMES = 64


def is_client(own: bytes, other: bytes, own_end: str, other_end: str) -> bool:
    """Whether the end that sent ``own`` is the client; frames begin at the start of both buffers.

    Correlation ids that the other end repeats, ids that count up, and headers with the name of a
    client count. Where they say nothing the server is the end with the lower port: systems give
    clients high ones.
    """
    if (difference := _evidence(own, other) - _evidence(other, own)) != 0:
        return difference > 0
    return _port(own_end) > _port(other_end)


def are_requests(data: bytes) -> bool:
    """Whether all frames, of which the first begins at the start of the data, look like requests.

    Their headers are all that is known of requests of an unknown version.
    """
    headers = map(_header, _frames(data))
    return all(header is not None for header in headers)


def _evidence(requests: bytes, responses: bytes) -> int:
    """How much speaks for requests in the one stream and responses in the other."""
    asked = list(_frames(requests))
    ids = [_number(frame, 8) for frame in asked]
    answered = [_number(frame, 4) for frame in _frames(responses)]
    pairs = len(set(ids) & set(answered))
    return pairs + _steps(ids) + _steps(answered) + sum(map(_has_name, asked))


def _steps(ids: list[int]) -> int:
    return sum(later == earlier + 1 for earlier, later in pairwise(ids))


def _header(frame: bytes) -> RequestHeader | None:
    """The header that a frame begins with if it may be a request's."""
    request = read_request(frame, body=False, offset=4)
    return request.header if looks_like_a_request(request) else None


def _has_name(frame: bytes) -> bool:
    header = _header(frame)
    return header is not None and is_plausible_client(header.client_id)


def _frames(data: bytes) -> Iterator[bytes]:
    """The first whole frames, with their sizes in front."""
    return islice(_all_frames(data), _MOST_FRAMES)


def _all_frames(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 4 <= len(data):
        end = at + 4 + _number(data, at)
        if not at + 8 <= end <= len(data):
            return
        yield data[at:end]
        at = end


def _number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big", signed=True)


def _port(end: str) -> int:
    return int(end.rpartition(":")[2])
