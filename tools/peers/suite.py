"""What a suite is, and how one of its tests is run."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tools.oracles.jars import cache_folder

Result = Literal["passed", "failed", "skipped", "timeout"]

#: Configs of brokers that keep ACLs and allow all that no ACL is about.
WITH_ACLS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:ANONYMOUS",
}
_INSTALL_S = 3000.0
_END_S = 3.0


@dataclass(frozen=True)
class Command:
    """A program with its arguments, where it runs and what it has in its environment."""

    arguments: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """The tests of a released source.

    ``prepare`` brings the source into an empty folder and builds it there, ``tests`` lists the
    names of what needs a cluster, ``command`` is one of them for an address of a cluster, and
    ``result`` reads its exit status and its output. Tests that share topics run ``one_by_one``.
    """

    name: str
    version: str
    nodes: int
    prepare: Callable[[Path], None]
    tests: Callable[[Path], list[str]]
    command: Callable[[Path, str, str], Command]
    result: Callable[[int, str], Result]
    configs: Mapping[str, str] = field(default_factory=dict)
    limit_s: float = 120.0
    one_by_one: bool = False

    def installed(self) -> Path:
        """The folder with the built suite; the mark in it says that it is complete."""
        folder = cache_folder() / "peers" / f"{self.name}-{self.version}"
        mark = folder / ".installed"
        if not mark.exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.prepare(folder)
            mark.touch()
        return folder

    def run(self, folder: Path, bootstrap: str, test: str) -> tuple[Result, str]:
        """The result of a test, and its output."""
        code, output = bounded(self.command(folder, bootstrap, test), self.limit_s)
        return ("timeout" if code is None else self.result(code, output)), output


def run(command: Command) -> str:
    """The output of a step of an installation, which must not fail."""
    code, output = bounded(command, _INSTALL_S)
    if code != 0:
        words = " ".join(map(str, command.arguments))
        raise SystemExit(f"{words} ended with {code}:\n{output[-4000:]}")
    return output


def bounded(command: Command, limit_s: float) -> tuple[int | None, str]:
    """The exit status, None past the limit, and the output of a command in its own group."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            list(map(str, command.arguments)),
            cwd=command.folder,
            env={**os.environ, **command.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None = None
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(limit_s)
        finally:
            _end_group(process)
        output.seek(0)
        return code, output.read().decode(errors="replace")


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what a command has started: its group is its own."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
