"""Python in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import Any


def python(
    *arguments: object, timeout: float = 120, **options: Any
) -> subprocess.CompletedProcess[str]:
    """What a command line of Python has ended with, and has written; ``options`` are of ``run``."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)
