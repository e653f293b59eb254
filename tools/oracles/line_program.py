"""A Java program that answers line by line, started once for many questions."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from tools.oracles.java import ProgramError, compiled, java, java_options

_END_S = 5.0


class LineProgram:
    """A running program, from its source; ``close`` ends it.

    It has a folder for temporary files of its own, libraries that it unpacks among them.
    """

    def __init__(self, source: Path, jars: Sequence[Path]) -> None:
        options = java_options(jars, compiled(source, jars))
        self._name = source.stem
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [java(), f"-Djava.io.tmpdir={self._folder.name}", *options, self._name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr,
        )  # fmt: skip

    def ask(self, lines: Sequence[str]) -> list[str]:
        """The answers, one for each line. Raises ProgramError where the program has ended."""
        # From a thread, so that neither side waits for ever on a full pipe; a single line is read
        # to its end before it is answered.
        writer = threading.Thread(target=self._write, args=(lines,), daemon=True)
        if len(lines) == 1:
            self._write(lines)
        else:
            writer.start()
        try:
            return [self._read() for _ in lines]
        except BaseException:
            # The answers that are still to come would be taken for those to later questions.
            self._process.kill()
            raise
        finally:
            if len(lines) > 1:
                writer.join()

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
        if line.endswith(b"\n"):
            return line[:-1].decode()
        status = self._process.wait()
        self._stderr.seek(0)
        said = self._stderr.read()[-4000:].decode(errors="replace")
        raise ProgramError(f"{self._name} ended with {status}:\n{said}")
