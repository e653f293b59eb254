"""The exit code of commands that Ctrl-C ended."""

from __future__ import annotations

#: 128 and the number of the signal, as shells have it.
INTERRUPTED = 130
