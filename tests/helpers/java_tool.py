"""The programs in ``tests/java`` that answer line by line, each started once for many tests."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from tests.helpers.requirements import require_oracle
from tools.oracles.java import compiled, java, java_options

_END_S = 5.0


class JavaTool:
    """A running program, from its source; ``close`` ends it.

    It has a folder for temporary files of its own, libraries that it unpacks among them. The
    calling test is skipped where there is no Java.
    """

    def __init__(self, source: Path, jars: Sequence[Path]) -> None:
        require_oracle()
        options = java_options(jars, compiled(source, jars))
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [java(), f"-Djava.io.tmpdir={self._folder.name}", *options, source.stem],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr,
        )  # fmt: skip

    def ask(self, lines: Sequence[str]) -> list[str]:
        """The answers, one for each line."""
        if len(lines) == 1:  # it is read to its end before it is answered
            self._write(lines)
            return [self._read()]
        # From a thread, so that neither side waits for ever on a full pipe.
        writer = threading.Thread(target=self._write, args=(lines,), daemon=True)
        writer.start()
        answers = [self._read() for _ in lines]
        writer.join()
        return answers

    def close(self) -> None:
        """Let it end by itself where it can."""
        try:
            self._process.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        self._stderr.close()
        self._folder.cleanup()

    def _write(self, lines: Sequence[str]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the program has ended, and the reader reports that

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            self._process.wait()
            self._stderr.seek(0)
            raise AssertionError(self._stderr.read()[-4000:].decode(errors="replace"))
        return line[:-1].decode()
