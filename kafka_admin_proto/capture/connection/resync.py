"""Where a frame starts among bytes that are out of step: the first that reads whole.

A pattern finds what could be the start of a frame at the speed of ``re``; only those places are
decoded. Both functions look at no more than a few megabytes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from kafka_admin_proto.errors import UnknownMessageError
from kafka_admin_proto.protocol.payloads import read_request, read_response
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.versions import VersionRange

if TYPE_CHECKING:
    from kafka_admin_proto.capture.connection.connection import DecodeOptions, PendingRequest

#: Size from 10 bytes to 16 MiB, api key below 256, version below 64, any correlation id that is not
#: negative, and a client id that is null or shorter than 256 bytes.
_REQUEST = re.compile(
    rb"(?=\0(?!\0\0[\0-\x09])...\0.\0[\0-\x3f][\0-\x7f]...(?:\xff\xff|\0.))", re.DOTALL
)
#: Places that look like a request and are decoded in one search, and bytes that are copied for it.
_MOST_TRIES = 2000
_MOST_COPIED = 16 * 1024 * 1024
#: The newest of the requests that wait are looked for; a response to an older one is less likely.
_MOST_IDS = 64
#: Places with the right correlation id that are tried.
_MOST_PLACES = 64
#: Sizes that fit, one after the other, are no accident from so many on.
_ENOUGH_FRAMES = 3


def find_request(buffer: bytearray, settings: DecodeOptions) -> int | None:
    """The first place at which a whole request stands."""
    data = bytes(buffer)
    tries, copied = _MOST_TRIES, _MOST_COPIED
    known = _versions(settings.dialect)
    for match in _REQUEST.finditer(data):
        at = match.start()
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data) or data[at + 7] not in known.get(data[at + 5], ()):
            continue
        tries -= 1
        copied -= end - at
        if tries < 0 or copied < 0:
            return None
        if read_request(data[at:end], dialect=settings.dialect, offset=4).error is None:
            return at
    return None


@lru_cache(maxsize=16)
def _versions(dialect: str) -> dict[int, VersionRange]:
    """The versions of each request, by api key."""
    found: dict[int, VersionRange] = {}
    for name in (dialect, "kafka"):
        for message in catalog().names(name):
            entry = catalog().entry(message, name)
            if entry.type == "request" and entry.api_key is not None:
                found.setdefault(entry.api_key, entry.versions)
    return found


def find_response(
    buffer: bytearray, waiting: dict[int, list[PendingRequest]], settings: DecodeOptions
) -> int | None:
    """The first place at which a whole response to one of the waiting requests stands."""
    data = bytes(buffer)
    first = None
    for correlation_id in islice(reversed(waiting), _MOST_IDS):
        asked = waiting[correlation_id][0]
        pattern = correlation_id.to_bytes(4, "big", signed=True)
        at = data.find(pattern, 4)
        for _ in range(_MOST_PLACES):
            if at < 0 or (first is not None and at - 4 >= first):
                break
            size = int.from_bytes(data[at - 4 : at], "big")
            if 4 <= size <= len(data) - at and _is_response(data[at : at + size], asked, settings):
                first = at - 4
                break
            at = data.find(pattern, at + 1)
    return first


def _is_response(payload: bytes, asked: PendingRequest, settings: DecodeOptions) -> bool:
    response = read_response(payload, asked.api_key, asked.api_version, dialect=settings.dialect)
    return response.error is None or isinstance(response.error, UnknownMessageError)


def end_to_end(data: bytearray, limit: int, *, whole: bool) -> bool:
    """Whether the bytes are frames end to end, by their sizes alone.

    ``whole``: the last one ends with the bytes; otherwise it may go on, after some whole ones.
    """
    at = frames = 0
    while at + 4 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if not 4 <= size <= limit:
            return False
        at += 4 + size
        frames += 1
    return at == len(data) if whole else frames > _ENOUGH_FRAMES
