"""The lines of a broker's log, as files and collectors have them: compressed, or in pieces.

Docker and CRI cut lines into pieces of 16 KiB, each with a frame of its own around it::

    {"log":"[2026-01-31 12:00:00,123] DEBUG Comp","stream":"stdout","time":"2026-01-31T12:00:00.1Z"}
    {"log":"leted request:{…}\\n","stream":"stdout","time":"2026-01-31T12:00:00.1Z"}

    2026-01-31T12:00:00.123456789Z stdout P [2026-01-31 12:00:00,123] DEBUG Comp
    2026-01-31T12:00:00.123456789Z stdout F leted request:{…}
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from io import BufferedReader
from typing import IO, NamedTuple

from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES

#: What stands in front of the object of a request.
MARK = b"Completed request:"
#: The problems of logs.
NO_REQUEST = "a log without requests: kafka.request.logger writes them at DEBUG"
DAMAGED = "the log cannot be decompressed: {}"
#: What decompression raises for damage.
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile)
#: A longer line is skipped: no response is as long as this in JSON.
MAX_LINE_BYTES = 256 * 1024 * 1024
#: The same for lines of compressed logs: little of a file may not take much memory.
_MAX_UNPACKED_BYTES = 16 * 1024 * 1024
_GZIP = b"\x1f\x8b"
#: The layout of Kafka's own log4j files, perhaps as Docker, CRI or Compose frame lines: a log that
#: has no request at its start is one by this.
_KAFKAS = re.compile(
    rb'(?:\{"log":"|\d{4}-\d\d-\d\dT[\d:.+Z-]{9,26} std(?:out|err) [PF] |[\w.-]{1,64} +\| )?'
    rb"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
)
_CRI = re.compile(rb"(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (stdout|stderr)) ([PF]) ")
_DOCKER = b'{"log":"'
_DOCKERS_END = b'","stream":'


def matches(sample: bytes) -> bool:
    """Whether an input that starts so is a broker's log, which may have its requests later."""
    if sample.startswith(_GZIP):
        try:
            sample = zlib.decompressobj(wbits=31).decompress(sample, SAMPLE_BYTES)
        except zlib.error:
            return False
    has_request = MARK + b"{" in sample or MARK + b'{\\"' in sample
    return has_request or _KAFKAS.match(sample) is not None


def logged_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines with requests, and their numbers from 1 on; pieces of one are put together."""
    limit = MAX_LINE_BYTES
    if isinstance(stream, BufferedReader) and stream.peek(2)[:2] == _GZIP:
        stream, limit = gzip.GzipFile(fileobj=stream), _MAX_UNPACKED_BYTES  # type: ignore[assignment]
    started: dict[bytes, _Line] = {}
    for number, line in _lines(stream, limit):
        piece = _piece(line)
        if piece is None:
            if MARK in line:
                yield number, line
            continue
        whole = started.pop(piece.stream, None) or _Line(number, piece.head, bytearray())
        if len(whole.text) + len(piece.text) <= limit:
            whole.text.extend(piece.text)
        if not piece.is_last:
            started[piece.stream] = whole
        elif MARK in whole.text:
            yield whole.number, whole.head + whole.text + piece.tail
    for whole in started.values():
        if MARK in whole.text:
            yield whole.number, whole.head + whole.text


class _Line(NamedTuple):
    """A line whose end has not come yet."""

    number: int
    head: bytes
    text: bytearray


class _Piece(NamedTuple):
    """A piece of a line: what is before, in and behind it, and which stream it is of."""

    head: bytes
    text: bytes
    tail: bytes
    stream: bytes
    is_last: bool


def _piece(line: bytes) -> _Piece | None:
    """The piece that a line of Docker's or CRI's is; None for a line that nobody has cut."""
    if line.startswith(_DOCKER):
        end = line.rfind(_DOCKERS_END)
        if end < 0:
            return None
        text, tail = line[len(_DOCKER) : end], line[end:]
        stream = b"stderr" if b'"stderr"' in tail else b"stdout"
        return _Piece(_DOCKER, text, tail, stream, is_last=text.endswith(b"\\n"))
    found = _CRI.match(line)
    if found is None:
        return None
    return _Piece(
        found[1] + b" ", line[found.end() :].rstrip(b"\r\n"), b"\n", found[2],
        is_last=found[3] == b"F",
    )  # fmt: skip


def _lines(stream: IO[bytes], limit: int) -> Iterator[tuple[int, bytes]]:
    """All lines and their numbers; of one that is too long its start."""
    number = 0
    while line := stream.readline(limit):
        number += 1
        yield number, line
        while len(line) == limit and not line.endswith(b"\n"):
            line = stream.readline(limit)
