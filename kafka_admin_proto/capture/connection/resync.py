"""Resynchronisation: finds the boundary of a frame among bytes whose place in a frame is unknown.

A regular expression finds the places that could be the start of a frame, and only those are
decoded. Each search looks at a few megabytes at most.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from kafka_admin_proto.capture.connection.client_end import are_requests
from kafka_admin_proto.capture.connection.pairing import PendingRequest, RequestTable
from kafka_admin_proto.capture.connection.token_guard import is_plausible_client
from kafka_admin_proto.capture.frames import forgive_padding
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.errors import TrailingBytesError, UnknownMessageError
from kafka_admin_proto.protocol.payloads import read_request, read_response
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.versions import VersionRange

#: Size from 10 bytes to 16 MiB, api key below 256, version below 64, any correlation id that is not
#: negative, and a client id that is null or shorter than 256 bytes.
_REQUEST = re.compile(
    rb"(?=\0(?!\0\0[\0-\x09])...\0.\0[\0-\x3f][\0-\x7f]...(?:\xff\xff|\0.))", re.DOTALL
)
#: Places that look like a request and are decoded in one search, and bytes that are copied for it.
_MAX_TRIES = 2000
_MAX_COPIED_BYTES = 16 * 1024 * 1024
#: The newest pending requests whose responses are searched for; an older one is less likely.
_MAX_IDS = 64
#: Places with the right correlation id that are tried.
_MAX_PLACES = 64
#: More frames than this one after the other, by their sizes alone, are no accident.
_ENOUGH_FRAMES = 3


class Boundary(NamedTuple):
    """A frame boundary at byte ``at`` of the buffer; ``from_client`` if the frame is a request.

    ``from_client`` is None where sizes alone were found, of frames of either end.
    """

    at: int
    from_client: bool | None


def find_boundary(
    buffer: bytearray,
    from_client: bool | None,
    pending: RequestTable,
    options: DecodeOptions,
    *,
    complete: bool,
    full: bool,
) -> Boundary | None:
    """Search the unsynced bytes of one side for a frame boundary; None if there is none.

    ``from_client`` None: it is not known who is the client. ``complete``: the stream has ended, so
    that the last frame ends with the buffer. ``full``: the buffer is about to be discarded. In
    these two cases sizes that fit end to end are enough, for responses without requests, and for
    requests that no definition reads but whose headers look like requests.
    """
    expects_request = from_client is not False
    if expects_request:
        at = find_request(buffer, options)
    else:
        at = find_response(buffer, pending, options)
    if at is None:
        # Perhaps nothing can be paired: the other side, or its part before this, was not captured.
        if (
            (complete or full)
            and end_to_end(buffer, options.limit, complete=complete)
            and (from_client is not True or are_requests(bytes(buffer)))
        ):
            return Boundary(0, from_client)
        return None
    if at and end_to_end(buffer[:at], options.limit, complete=True):
        at = 0  # the bytes before it are frames too, of apis that are not known
    return Boundary(at, from_client=expects_request)


def find_request(buffer: bytearray, options: DecodeOptions) -> int | None:
    """The first place at which a whole request stands, of a size that the stream is cut at."""
    data = bytes(buffer)
    tries, copied = _MAX_TRIES, _MAX_COPIED_BYTES
    known = _versions(options.dialect)
    for match in _REQUEST.finditer(data):
        at = match.start()
        size = int.from_bytes(data[at : at + 4], "big")
        end = at + 4 + size
        if (
            size > options.limit
            or end > len(data)
            or data[at + 7] not in known.get(data[at + 5], ())
        ):
            continue
        tries -= 1
        copied -= end - at
        if tries < 0 or copied < 0:
            return None
        if _is_request(data[at:end], options.dialect):
            return at
    return None


def _is_request(frame: bytes, dialect: str) -> bool:
    """Whether a frame is a request, whose body was read whole; brokers pass over bytes left."""
    request = read_request(frame, dialect=dialect, offset=4)
    forgive_padding(request)
    if isinstance(request.error, TrailingBytesError) and request.header is not None:
        return bool(request.header.client_id) and is_plausible_client(request.header.client_id)
    return request.error is None


@lru_cache(maxsize=16)
def _versions(dialect: str) -> dict[int, VersionRange]:
    """The versions of each request, by api key."""
    versions: dict[int, VersionRange] = {}
    for name in (dialect, "kafka"):
        for message in catalog().names(name):
            entry = catalog().entry(message, name)
            if entry.type == "request" and entry.api_key is not None:
                versions.setdefault(entry.api_key, entry.versions)
    return versions


def find_response(buffer: bytearray, pending: RequestTable, options: DecodeOptions) -> int | None:
    """The first place at which a whole response to one of the pending requests stands."""
    data = bytes(buffer)
    first = None
    for correlation_id in pending.newest_ids(_MAX_IDS):
        request = pending.same_id(correlation_id)[0]
        pattern = correlation_id.to_bytes(4, "big", signed=True)
        at = data.find(pattern, 4)
        for _ in range(_MAX_PLACES):
            if at < 0 or (first is not None and at - 4 >= first):
                break
            size = int.from_bytes(data[at - 4 : at], "big")
            if 4 <= size <= min(options.limit, len(data) - at) and _answers(
                data[at : at + size], request, options
            ):
                first = at - 4
                break
            at = data.find(pattern, at + 1)
    return first


def _answers(payload: bytes, request: PendingRequest, options: DecodeOptions) -> bool:
    response = read_response(payload, request.api_key, request.api_version, dialect=options.dialect)
    return response.error is None or isinstance(response.error, UnknownMessageError)


def end_to_end(data: bytearray, limit: int, *, complete: bool) -> bool:
    """Whether the bytes are frames end to end, by their sizes alone.

    ``complete``: the last frame ends with the bytes; otherwise it may go on, after some whole ones.
    """
    at = frames = 0
    while at + 4 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if not 4 <= size <= limit:
            return False
        at += 4 + size
        frames += 1
    return at == len(data) if complete else frames > _ENOUGH_FRAMES
