"""The rows of captures as `kap decode` writes them, by plain Python or with the engine's reader."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any, NamedTuple

from kafka_admin_proto.capture.captures import CaptureDecoder
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.cli.captures import decode
from kafka_admin_proto.cli.captures.filters import Filter, FilteredFrames
from kafka_admin_proto.cli.captures.summary import Summary, summarise
from kafka_admin_proto.cli.output import write_json_lines

EVERYTHING = Filter()
#: One standard output for all: click never lets go of one that it has written to.
_STDOUT = TextIOWrapper(BytesIO(), "utf-8", newline="\n")
_STDERR = StringIO()
#: A file of a capture: its name and its bytes.
File = tuple[str, bytes]


class Rows(NamedTuple):
    """What was written, what `FilteredFrames` knows then, and how many rows the engine wrote."""

    text: bytes
    frames: int
    known: tuple[object, ...]
    plain: int


def rows(
    files: Sequence[File], engine: Any, *, output: str = "jsonl", mask: bool = True,
    body: bool = True, limit: int = 1 << 20, wanted: Filter = EVERYTHING,
    bodies: Collection[int] | None = None,
) -> Rows:  # fmt: skip
    """The rows of one capture in these files; ``engine`` None: by plain Python.

    ``output`` may be "summary", and ``bodies`` are those that are read, where rows have bodies.
    """
    for stream in (_STDOUT, _STDERR):
        stream.seek(0)
        stream.truncate()
    plain: list[int] = []
    with contextlib.redirect_stdout(_STDOUT), contextlib.redirect_stderr(_STDERR):
        counts = Summary()
        flags = {"mask": mask, "raw": False, "body": body, "records": False}
        sink, write_others = decode.counts_sink(counts), None
        if output != "summary":
            sink, write_others = decode.output_of(output, flags)
        write = sink.write

        def counted(lines: bytes) -> None:
            plain.append(lines.count(b"\n"))
            write(lines)

        sink.write = counted
        options = DecodeOptions(limit=limit, bodies=bodies if body else ())
        decoder = CaptureDecoder(options, None if engine is None else sink, engine)

        def frames() -> Iterator[DecodedFrame]:
            for name, data in files:
                yield from decoder.read(BytesIO(data), name)
            yield from decoder.finish()

        shown = FilteredFrames(frames(), wanted, None, mask=mask)
        sink.frames = shown
        if write_others is None:
            write_json_lines(summarise(shown, counts))
        else:
            write_others(shown)
        _STDOUT.flush()
        others = None if shown._others is None else shown._others.describe()
        known = (shown.problems, shown._unplaced, shown._missing, others, _STDERR.getvalue())
        return Rows(_STDOUT.buffer.getvalue(), shown.count, known, sum(plain))
