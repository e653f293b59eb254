"""The lines of a broker's log, as files and collectors have them: compressed, or in pieces.

Docker and CRI cut lines into pieces of 16 KiB, each with a frame of its own around it::

    {"log":"[2026-01-31 12:00:00,123] DEBUG Comp","stream":"stdout","time":"2026-01-31T12:00:00.1Z"}
    {"log":"leted request:{…}\\n","stream":"stdout","time":"2026-01-31T12:00:00.1Z"}

    2026-01-31T12:00:00.123456789Z stdout P [2026-01-31 12:00:00,123] DEBUG Comp
    2026-01-31T12:00:00.123456789Z stdout F leted request:{…}
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from io import BufferedReader, RawIOBase
from typing import IO, Any, NamedTuple

from kafka_admin_proto.capture.dumps.readers import READERS
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES, sample_of

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
#: What Windows PowerShell makes of ``docker logs kafka > kafka.log``.
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: A line of Kafka's own layout, of Strimzi's, which names the logger, or of a layout of JSON that
#: does; perhaps behind what a container or a collector puts in front. A log that has no request at
#: its start is one by this: before its first line there may be what a container's script says.
_KAFKAS = re.compile(
    rb"^(?:\{[^\n(]{0,300}?|[^\n(\"']{0,160}?)(?:"
    rb"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
    rb"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) .{0,2000}?"
    rb" \((?:kafka|org\.apache\.kafka)\.[\w.$]+\))"
    rb'|^\{.{0,300}?"(?:kafka|org\.apache\.kafka)\.[\w.$]+"',
    re.MULTILINE,
)
#: The start of a request, those of brokers before 2.8 included; words after the mark are prose.
_REQUEST = re.compile(MARK + rb" ?(?:\{|RequestHeader\(|Name:)")
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
    text = sample_of(sample)
    if _REQUEST.search(text) is not None:
        return True
    # Dumps in a program's log are dumps.
    return _KAFKAS.search(text) is not None and not any(
        reader.matches(text) for reader in READERS.values()
    )


def logged_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines with requests, and their numbers from 1 on; pieces of one are put together."""
    limit = MAX_LINE_BYTES
    start = stream.peek(2)[:2] if isinstance(stream, BufferedReader) else b""
    if start == _GZIP:
        stream, limit = gzip.GzipFile(fileobj=stream), _MAX_UNPACKED_BYTES  # type: ignore[assignment]
    elif start in _UTF_16:
        stream = BufferedReader(_Utf8(stream))
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
    match = _CRI.match(line)
    if match is None:
        return None
    return _Piece(
        match[1] + b" ", line[match.end() :].rstrip(b"\r\n"), b"\n", match[2],
        is_last=match[3] == b"F",
    )  # fmt: skip


class _Utf8(RawIOBase):
    """A stream of UTF-16 as UTF-8.

    codecs.EncodedFile ends lines at U+2028 and the like, too, and takes squares of time for many.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and (data := self._stream.read(SAMPLE_BYTES)):
            self._ready = self._decoder.decode(data).encode()
        taken = self._ready[: len(buffer)]
        buffer[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)


def _lines(stream: IO[bytes], limit: int) -> Iterator[tuple[int, bytes]]:
    """All lines and their numbers; of one that is too long its start."""
    number = 0
    while line := stream.readline(limit):
        number += 1
        yield number, line
        while len(line) == limit and not line.endswith(b"\n"):
            line = stream.readline(limit)
