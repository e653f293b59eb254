"""Inputs that may pause (standard input, pipes): output is written before waiting for more."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from io import FileIO
from types import FrameType
from typing import Any

from kafka_admin_proto.cli.interrupted import FirstInterrupt

#: Bytes by which a format is detected; a pipe may deliver fewer at once.
_FORMAT_BYTES = 24


class WaitHook(FirstInterrupt):
    """``on_wait`` is called before waiting for input; the first Ctrl-C ends the input."""

    def __init__(self) -> None:
        super().__init__()
        self.on_wait: Callable[[], None] = _nothing
        self.is_reading = False
        self.has_data = False

    def watch(self) -> None:
        """Take Ctrl-C as the end of the input, the first time after data has come.

        ``tcpdump -w - | kap decode -`` is ended by Ctrl-C, which both programs get: what was
        captured so far is still to be shown.
        """
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a Ctrl-C, which a read that waits cannot keep for later."""
        if self.is_reading or not self.has_data:
            raise KeyboardInterrupt
        super().__call__(number, frame)


class LiveInput(FileIO):
    """A file that calls its hook, and flushes standard output, before it waits for more."""

    def __init__(self, file: str | int, hook: WaitHook) -> None:
        super().__init__(file)
        self._hook = hook
        self._fresh = True
        if not self.isatty():  # nobody captures at a terminal
            hook.watch()

    def readall(self) -> bytes:
        """The rest of a dump: it is read whole, so that Ctrl-C leaves nothing to be shown."""
        if self._hook.came:
            raise KeyboardInterrupt
        self._hook.is_reading = True
        try:
            return super().readall() or b""
        finally:
            self._hook.is_reading = False

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
        if hook.came:
            return 0
        hook.is_reading = True
        try:
            size = super().readinto(buffer) or 0
            hook.has_data |= size > 0
            return size
        except KeyboardInterrupt:
            if not hook.has_data or self.isatty():
                raise
            hook.came = True
            return 0
        finally:
            hook.is_reading = False


def _nothing() -> None:
    pass
