"""The command line: ``kafka-admin-proto``, short ``kap``."""

from __future__ import annotations

import gc
import io
import sys
from pathlib import Path


def main() -> None:
    """Run the command line; without its extra installed, say which one it is."""
    try:
        from kafka_admin_proto.cli.app import kap
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
    # Long captures make millions of short-lived values, none of them in cycles.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    name = Path(sys.argv[0]).name
    try:
        kap(prog_name=name if name == "kafka-admin-proto" else "kap")
    except OSError as error:  # a full disk, say; click itself deals with a closed pipe
        sys.exit(f"kap: {error}")
