"""How long one call takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def time_of(call: Callable[[Any], Any], argument: Any, seconds: float) -> float:
    """Seconds of one call: the median of batches that are long enough for the clock."""
    start = time.perf_counter()
    call(argument)
    once = max(time.perf_counter() - start, 1e-7)
    batch = range(max(1, int(2e-3 / once)))
    figures: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(figures) < 3:
        start = time.perf_counter()
        for _ in batch:
            call(argument)
        figures.append((time.perf_counter() - start) / len(batch))
    return statistics.median(figures)
