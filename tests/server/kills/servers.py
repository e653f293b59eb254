"""``kap serve`` on a folder, in a process that a test kills."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.profile import EXHAUSTIVE
from tests.server.log.stored import SMALL

#: How often a test kills its server, and how long it lets the server run at most.
KILLS = int(os.environ.get("KAFKA_ADMIN_PROTO_KILLS", 4 if EXHAUSTIVE else 1))
LONGEST_S = 0.6
#: More files than in other tests are kept: a server that starts reads them all.
_CONFIGS = {**SMALL, "metadata.max.retention.bytes": "30000"}


@contextmanager
def killed_server(
    brokers: int, folder: Path, configs: Mapping[str, str] = _CONFIGS
) -> Iterator[str]:
    """The addresses of a server that is killed at the end of the block."""
    command = [sys.executable, "-m", "kafka_admin_proto", "serve", "--data", str(folder)]
    options = [f"--config={name}={value}" for name, value in configs.items()]
    process = subprocess.Popen(
        [*command, "--brokers", str(brokers), *options], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()
