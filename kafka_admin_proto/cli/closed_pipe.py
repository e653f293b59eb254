"""The reader of the output has gone, as in ``kap decode … | head``: end as shell tools do.

The signal SIGPIPE ends those at once. Here it would leave a terminal without its cursor, or break
the sockets to Spark, so that the error of the write ends the program first, and the signal then.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

#: What a shell says of a program that the signal ended, where there is no such signal.
_STATUS = 128 + 13


class ClosedPipe(Exception):  # not an error: the reader has enough
    """The reader has closed the output. It is no OSError, which click would end with status 1."""


@contextmanager
def noticed() -> Iterator[None]:
    """Turn the error of a write to a closed pipe into `ClosedPipe`."""
    try:
        yield
    except BrokenPipeError:
        raise ClosedPipe from None


def end_by_signal() -> NoReturn:
    """End without a word, by SIGPIPE, for which shells have the status 141."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    os._exit(_STATUS)
