"""Waiting for a state, on however slow a machine."""

from __future__ import annotations

import time
from collections.abc import Callable

_PATIENCE_S = 60.0
_PAUSE_S = 0.005


def until(happened: Callable[[], object], what: object = "it") -> None:
    """Wait until something is so. AssertionError, with ``what``, if it never is."""
    deadline = time.monotonic() + _PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline, f"{what}: not within {_PATIENCE_S:.0f} s"
        time.sleep(_PAUSE_S)
