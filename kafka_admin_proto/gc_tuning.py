"""Python's cyclic collector: the one place that changes how it runs.

Values have no cycles, yet each list that a reading makes counts towards a collection, which looks
through all that is there, again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: Collections by generation: the first after so many new objects, then each so many of those.
_THRESHOLDS = (100_000, 50, 50)
#: The same for a server, whose clients wait meanwhile: the first takes a millisecond, not twenty.
_SERVER_THRESHOLDS = (5_000, 1_000, 50)


def tune_gc() -> None:
    """For a process that reads captures: collect rarely, and never what is there already."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


def tune_gc_for_server() -> None:
    """For a process that answers others and keeps much: collections are short."""
    gc.set_threshold(*_SERVER_THRESHOLDS)


def without_gc(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """``call(*args, **kwargs)`` with the collector paused, where it runs at all."""
    if not gc.isenabled():
        return call(*args, **kwargs)
    gc.disable()
    try:
        return call(*args, **kwargs)
    finally:
        gc.enable()
