"""The command line: ``kafka-admin-proto``, short ``kap``."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

from kafka_admin_proto.cli.interrupted import INTERRUPTED, UnwritableOutput, WholeWriter
from kafka_admin_proto.errors import MissingExtraError
from kafka_admin_proto.gc_tuning import tune_gc


def main() -> None:
    """Run the command line; where an extra is not installed, say which one it is."""
    # Interpreters that a command starts take no modules from the current folder, which may have
    # captures, and what a stranger has put beside them.
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    tune_gc()  # what is imported from here on is kept
    try:
        from kafka_admin_proto.cli.app import kap
        from kafka_admin_proto.cli.closed_pipe import ClosedPipe, end_by_signal
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.stderr.write(
            f"kap needs the package {error.name}: pip install 'kafka-admin-proto[cli]'\n"
        )
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a locale without UTF-8 still gets its output
            stream.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        sys.exit("kap: there is no standard output")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _whole(sys.stdout)
    tune_gc()
    name = Path(sys.argv[0]).name
    try:
        try:
            kap(prog_name=name if name == "kafka-admin-proto" else "kap")
        finally:
            sys.stdout.flush()
    except (ClosedPipe, BrokenPipeError):
        end_by_signal()
    except KeyboardInterrupt:  # amid the last write, to a reader that has stalled
        sys.exit(INTERRUPTED)
    except ImportError as error:
        if not isinstance(error, MissingExtraError):
            raise
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except UnwritableOutput as error:
        sys.exit(f"kap: standard output: {error}")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(f"kap: {where}{error.strerror or error}")


def _whole(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Standard output whose writes are whole, with a buffer also where PYTHONUNBUFFERED is set.

    Without one Python drops what a pipe does not take at once, as when Ctrl-Z comes amid a write.
    """
    raw: Any = getattr(stream.buffer, "raw", stream.buffer)
    lines = stream.line_buffering or raw is stream.buffer
    return io.TextIOWrapper(WholeWriter(raw), stream.encoding, stream.errors, line_buffering=lines)
