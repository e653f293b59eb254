"""Memory in use while a reader works, held against the size of what it reads."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

#: What a value may take, as a multiple of its bytes, and what raising an error takes besides.
FACTOR = 64
ALLOWANCE = 64 * 1024
#: Tracing is slow: it is done for one input of so many, always the same ones.
EVERY = 16


def is_measured(data: bytes) -> bool:
    """Whether memory is traced for this input."""
    return zlib.crc32(data) % EVERY == 0


@contextmanager
def bounded_memory(data: bytes, factor: int = FACTOR, allowance: int = ALLOWANCE) -> Iterator[None]:
    """AssertionError where what runs inside has more in use than the input's size allows."""
    if not is_measured(data):
        yield
        return
    tracemalloc.start()
    try:
        yield
    finally:  # what is refused is measured, too
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < factor * len(data) + allowance, f"{peak} bytes in use for {len(data)} read"
