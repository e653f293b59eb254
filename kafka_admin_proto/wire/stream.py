"""Reading from the stream that construct hands to a wire type."""

from __future__ import annotations

from typing import IO

from construct import Container

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.wire.options import OBSERVER


def read_exactly(stream: IO[bytes], size: int, path: str, what: str) -> bytes:
    """The next ``size`` bytes; a DecodeError at the position before them where they are short."""
    data = stream.read(size)
    if len(data) != size:
        start = stream.tell() - len(data)
        left = f"{len(data)} left"
        raise DecodeError(
            f"{what} needs {counted(size, 'bytes')}, {left}", path=path, offset=start, expected=what
        )
    return data


def remaining(stream: IO[bytes]) -> int:
    """Bytes from the position to the end of a seekable stream."""
    here = stream.tell()
    end = stream.seek(0, 2)
    stream.seek(here)
    return end - here


def note(context: Container, path: str, offset: int, fault: str) -> None:
    """Report to the observer, if there is one, that these bytes are not canonical."""
    observer = context.get(OBSERVER)
    if observer is not None:
        observer.non_canonical(path, offset, fault)
