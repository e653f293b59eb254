"""Files that commands for a cluster read."""

from __future__ import annotations

import sys
from pathlib import Path

import click


def read_text(file: str) -> str:
    """The text of a file, of standard input for "-". Raises click.UsageError."""
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise click.UsageError(f"cannot read {file}: {reason}") from None
