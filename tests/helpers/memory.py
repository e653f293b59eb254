"""The memory that a block takes."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Iterator


class Memory:
    """Bytes in use at the end of a block, and at most within it."""

    kept = peak = 0


@contextlib.contextmanager
def traced() -> Iterator[Memory]:
    """The memory of a block, known behind it; only within it is memory traced."""
    found = Memory()
    tracemalloc.start()
    try:
        yield found
        found.kept, found.peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
