"""Commands that Ctrl-C ends: their exit code, and an output that is whole up to where it ends."""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

#: 128 and the number of the signal, as shells have it.
INTERRUPTED = 130
_BUFFER_BYTES = 8 << 10


class FirstInterrupt:
    """A handler of SIGINT that keeps the first one; the second one is a KeyboardInterrupt."""

    def __init__(self) -> None:
        self.came: bool = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a Ctrl-C."""
        if self.came:
            raise KeyboardInterrupt
        self.came = True


class _Late(FirstInterrupt):
    """The handler while a write goes on, which the first one waits for."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait for the end of a write, for which the reader may take its time.

    The second one does not wait, so that a reader that has stalled holds nobody up: neither within
    one write, nor in what is written because of the first one.
    """
    handler = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    has_come = isinstance(handler, _Late) or (isinstance(handler, FirstInterrupt) and handler.came)
    if not is_main or not callable(handler) or has_come or _ends_by_ctrl_c():
        yield
        return
    late = _Late()
    signal.signal(signal.SIGINT, late)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if late.came:
        handler(signal.SIGINT, None)


def _ends_by_ctrl_c() -> bool:
    """Whether Ctrl-C has come before, and what is written now is the end of its command."""
    error = sys.exception()
    while error is not None:
        # click makes the exit code of the interrupt, and forgets the interrupt.
        if isinstance(error, KeyboardInterrupt) or getattr(error, "code", None) == INTERRUPTED:
            return True
        error = error.__context__
    return False


class UnwritableOutput(Exception):
    """Standard output cannot be written, as on a full disk.

    It is no OSError, which commands take for one of their own file or port.
    """


class WholeWriter(io.BufferedWriter):
    """Writes that Ctrl-C does not cut off: one that has begun is passed on to its end.

    Python's own drops the rest of what a pipe has not taken when a signal comes amid a write. A
    write that fails is the command's last one, and so is one that the second Ctrl-C ends, as the
    reader has stalled: Python would try again at its end, and show a traceback of that. Raises
    UnwritableOutput for a failure that is no closed pipe.
    """

    def __init__(self, raw: io.RawIOBase) -> None:
        super().__init__(raw, _BUFFER_BYTES)
        self._held_bytes = 0
        self._is_given_up = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Keep the bytes, or pass on all that is kept with them."""
        size = memoryview(data).nbytes
        self._held_bytes += size
        if self._held_bytes <= _BUFFER_BYTES:
            super().write(data)
        else:
            self._pass_on(data)
        return size

    def resume(self) -> None:
        """Take writes again: those of another command, in a shell."""
        self._is_given_up = False

    def flush(self) -> None:
        """Pass on what is kept."""
        self._pass_on(b"")

    def _pass_on(self, data: ReadableBuffer) -> None:
        if self._is_given_up:
            return
        with uninterrupted():
            try:
                super().write(data)
                super().flush()
            except (KeyboardInterrupt, BrokenPipeError):
                self._is_given_up = True
                raise
            except OSError as error:
                self._is_given_up = True
                raise UnwritableOutput(error.strerror or str(error)) from error
            self._held_bytes = 0
