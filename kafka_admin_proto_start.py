"""The start of ``kap``: a module beside the package, whose import takes most of a start.

Ctrl-C ends it with 130, amid that import too. It shows a traceback where Python itself still
starts, and in ``python -m kafka_admin_proto``, which imports the package first.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from kafka_admin_proto.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.stderr.write("stopped by Ctrl-C\n")
        sys.exit(130)  # not by its name, whose import may be what was interrupted
