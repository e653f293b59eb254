"""What ``kap serve`` loads until its first line: the time to start is that of its imports."""

from __future__ import annotations

import os
import subprocess
import sys

#: The first line is printed by a name of the module, so that another print can look around. What
#: Python has loaded before, as where `make coverage` counts, is not of the start.
_PROGRAM = """
import sys
before = {*sys.modules}
from kafka_admin_proto.cli import main

class Seen(Exception):
    pass

def seen(*line, **options):
    print(*sys.modules.keys() - before)
    raise Seen

sys.argv[1:] = ["serve", "--brokers", "3"]
import kafka_admin_proto.cli.server.serve as serve
serve.print = seen
try:
    main()
except Seen:
    pass
"""
#: What a start does without, and why it was there once or might be.
_NOT_NEEDED = (
    "importlib.resources",  # finds the schemas in a zip file, and loads 30 modules
    "kafka_admin_proto.admin",
    "kafka_admin_proto.capture",
    "kafka_admin_proto.protocol.connection.client",
    "kafka_admin_proto.protocol.connection.scram",  # with SASL
    "kafka_admin_proto.schema.kip.reader",  # drafts
    "kafka_admin_proto.server.configs.values",
    "kafka_admin_proto.server.faults",  # with --fault
    "kafka_admin_proto.server.log",  # with --data
    "kafka_admin_proto.server.security",  # with --listener or --users
    "kafka_admin_proto.spark",
    "click.shell_completion",
    "email",
    "hypothesis",
    "multiprocessing",
    "pytest",
    "rich",
    "tempfile",
    "urllib.request",
    "zipfile",
)
#: Handlers and their messages are loaded by the first request that wants them.
_HANDLERS = "kafka_admin_proto.server.handlers."


def test_a_start_loads_no_more_than_it_needs() -> None:
    program = [sys.executable, "-c", _PROGRAM]
    # A measurement of coverage would load what it needs itself.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        program, env=plain, capture_output=True, text=True, check=True, timeout=60
    )
    loaded = done.stdout.split()
    assert "kafka_admin_proto.server.cluster" in loaded
    assert [name for name in loaded if name in _NOT_NEEDED] == []
    assert [name for name in loaded if name.startswith(_HANDLERS)] == []
