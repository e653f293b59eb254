"""A Java application in a process of its own, which a test kills and starts again."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.helpers.requirements import require_oracle
from tools.clusters.processes import log_options, start_java
from tools.kafka_releases import NEWEST
from tools.oracles.java import java_options

_PATIENCE_S = 120.0
_TAIL_BYTES = 4000


class Application:
    """``command`` is what Java takes behind its options; ``folder`` gets ``output`` and logs."""

    def __init__(self, folder: Path, jars: Sequence[Path], command: Sequence[str]) -> None:
        require_oracle()
        self.folder = folder
        logs = log_options(NEWEST, folder, requests=False)
        self._command = [*java_options(jars), *logs, *command]
        self._process = self._started()

    def kill(self) -> None:
        """SIGKILL: nothing is said to the cluster any more."""
        self._process.kill()
        self._process.wait()

    def start_again(self) -> None:
        self._process = self._started()

    def end(self) -> None:
        """SIGTERM, and the end of what its hooks then do."""
        self._process.terminate()
        self._process.wait(_PATIENCE_S)

    def status(self) -> int:
        """The status that it ends with by itself."""
        return self._process.wait(_PATIENCE_S)

    def wait_for(self, happened: Callable[[], bool]) -> None:
        """Wait until something is so. AssertionError, with its log, if it never is."""
        deadline = time.monotonic() + _PATIENCE_S
        while not happened():
            runs = self._process.poll() is None and time.monotonic() < deadline
            assert runs, self.said()
            time.sleep(0.1)

    def said(self) -> str:
        """The ends of its output and of its log."""
        found = (self.folder / each for each in ("output", "server.log"))
        return "\n".join(each.read_text()[-_TAIL_BYTES:] for each in found if each.exists())

    def _started(self) -> subprocess.Popen[bytes]:
        return start_java(self._command, self.folder)


#: (folder, jars, command): the application, which ends with the test.
Start = Callable[[Path, Sequence[Path], Sequence[str]], Application]
