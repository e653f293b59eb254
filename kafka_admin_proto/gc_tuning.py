"""How Python manages memory: the one place that changes how its cyclic collector runs.

Decoded values have no cycles, yet each list that decoding makes counts towards a collection, and a
collection looks through all objects of its generation.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    import asyncio

P = ParamSpec("P")
R = TypeVar("R")

#: When each generation is collected: the first after this many new objects, each of the others
#: after this many collections of the generation before it.
_THRESHOLDS = (100_000, 50, 50)
#: The same for a server, whose clients wait during a collection: one of the first generation takes
#: a millisecond with these, twenty with the others.
_SERVER_THRESHOLDS = (5_000, 1_000, 50)
#: Some times the largest answer that clients usually ask for, 1 MiB of records, and a chunk.
_REUSED_BYTES = 8 << 20


def tune_gc() -> None:
    """For a process that reads captures: collect rarely, and leave out all objects made so far."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    _reuse_memory()


def tune_for_server() -> None:
    """For a process that answers others: make collections short."""
    gc.set_threshold(*_SERVER_THRESHOLDS)
    _reuse_memory()


@cache
def _reuse_memory() -> None:
    """Have freed memory reused.

    glibc gives large blocks back to the kernel. Its new pages for the next answer of a server cost
    more than all else about a large Fetch, and those for chunks of captures a tenth of the time in
    which the compiled engine makes tables of them. Once a block was freed, glibc keeps those of up
    to that size, and twice as many bytes at the end of its memory (M_MMAP_THRESHOLD in mallopt(3)).
    The pages of this block are never touched. With another allocator it has no effect.
    """
    bytes(_REUSED_BYTES)


def without_gc(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """``call(*args, **kwargs)`` with the collector paused; a collector that is off stays off."""
    if not gc.isenabled():
        return call(*args, **kwargs)
    gc.disable()
    try:
        return call(*args, **kwargs)
    finally:
        gc.enable()


def release_transport(transport: asyncio.BaseTransport | None) -> None:
    """Break the reference cycle of a transport whose connection is lost, so that it is freed.

    asyncio's transports keep a bound method of themselves in this attribute. Without this, the
    transport and its socket stay until the cyclic collector runs, which is rare in a server
    The attribute is not used after the protocol's ``connection_lost``.
    """
    getattr(transport, "__dict__", {}).pop("_read_ready_cb", None)
