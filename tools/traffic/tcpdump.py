"""Captures of the loopback interface by tcpdump."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

#: Seconds until tcpdump has written what the kernel has seen.
_SETTLE_S = 1.0


class CaptureError(Exception):
    """tcpdump does not run, or has lost packets; the message says which."""


@contextlib.contextmanager
def tcpdump(file: Path, ports: Sequence[int]) -> Iterator[None]:
    """Capture what goes to and from the ports on the loopback interface."""
    log = file.with_suffix(".tcpdump")
    only = " or ".join(f"tcp port {port}" for port in ports)
    command = ["tcpdump", "-i", "lo", "-s", "0", "-B", "16384", "-Z", "root", "-w", str(file), only]
    with log.open("w") as stderr:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=stderr)
    try:
        deadline = time.monotonic() + 10
        while "listening on" not in log.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise CaptureError(f"tcpdump does not capture: {log.read_text()}")
            time.sleep(0.05)
        yield
        time.sleep(_SETTLE_S)
        process.send_signal(signal.SIGINT)
        process.wait(10)
    finally:
        process.kill()
        process.wait()
    if "\n0 packets dropped by kernel" not in log.read_text():
        raise CaptureError(f"tcpdump has lost packets, so a capture has holes: {log.read_text()}")
