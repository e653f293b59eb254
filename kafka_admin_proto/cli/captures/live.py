"""Inputs that may pause (standard input, pipes): output is written before waiting for more."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from io import FileIO
from typing import Any

#: Bytes by which a format is detected; a pipe may deliver fewer at once.
_FORMAT_BYTES = 24


class WaitHook:
    """``on_wait`` is called before waiting for input; ``ended``: Ctrl-C has ended the input."""

    def __init__(self) -> None:
        self.on_wait: Callable[[], None] = _nothing
        self.ended: bool = False
        self.is_reading = False

    def watch(self) -> None:
        """Take Ctrl-C as the end of the input, the first time.

        ``tcpdump -w - | kap decode -`` is ended by Ctrl-C, which both programs get: what was
        captured so far is still to be shown.
        """
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._interrupted)

    def _interrupted(self, *_: object) -> None:
        again, self.ended = self.ended, True
        if again or self.is_reading:
            raise KeyboardInterrupt


class LiveInput(FileIO):
    """A file that calls its hook, and flushes standard output, before it waits for more."""

    def __init__(self, file: str | int, hook: WaitHook) -> None:
        super().__init__(file)
        self._hook = hook
        self._fresh = True
        hook.watch()

    def readinto(self, buffer: Any) -> int | None:
        size = self._read(buffer)
        if self._fresh:
            self._fresh = False
            view = memoryview(buffer)
            while size and size < _FORMAT_BYTES and (more := self._read(view[size:])):
                size += more
        return size

    def _read(self, buffer: Any) -> int:
        hook = self._hook
        hook.on_wait()
        sys.stdout.flush()
        if hook.ended:
            return 0
        hook.is_reading = True
        try:
            return super().readinto(buffer) or 0
        except KeyboardInterrupt:
            hook.ended = True
            return 0
        finally:
            hook.is_reading = False


def _nothing() -> None:
    pass
