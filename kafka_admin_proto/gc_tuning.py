"""Python's cyclic garbage collector: the one place that changes how it runs.

Decoded values have no cycles, yet each list that decoding makes counts towards a collection, and a
collection looks through all objects of its generation.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: When each generation is collected: the first after this many new objects, each of the others
#: after this many collections of the generation before it.
_THRESHOLDS = (100_000, 50, 50)
#: The same for a server, whose clients wait during a collection: one of the first generation takes
#: a millisecond with these, twenty with the others.
_SERVER_THRESHOLDS = (5_000, 1_000, 50)


def tune_gc() -> None:
    """For a process that reads captures: collect rarely, and leave out all objects made so far."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


def tune_gc_for_server() -> None:
    """For a process that answers others and keeps many objects: make collections short."""
    gc.set_threshold(*_SERVER_THRESHOLDS)


def without_gc(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """``call(*args, **kwargs)`` with the collector paused; a collector that is off stays off."""
    if not gc.isenabled():
        return call(*args, **kwargs)
    gc.disable()
    try:
        return call(*args, **kwargs)
    finally:
        gc.enable()
