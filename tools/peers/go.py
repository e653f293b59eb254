"""Suites of Go: the source of a module, its compiled tests, and their names and results."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from tools.peers.suite import Command, Result, run

#: The copy of a module's source is ours: its list of modules may be completed.
_OWN = {"GOFLAGS": "-mod=mod"}


def download(folder: Path, module: str, version: str) -> Path:
    """Bring a module into the folder's ``source``, where it can be written to."""
    (folder / "go.mod").write_text("module peers\n")
    command = ["go", "mod", "download", "-json", f"{module}@{version}"]
    found = msgspec.json.decode(run(Command(command, folder, _OWN)).encode())
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(found["Dir"], source, copy_function=shutil.copyfile)
    for each in (source, *source.rglob("*")):
        each.chmod(0o755)
    return source


def build(source: Path, package: str, program: Path, *words: str) -> None:
    """Compile the tests of a package into a program; ``words`` are options of ``go test``."""
    run(Command(["go", "test", *words, "-c", "-o", program, package], source, _OWN))


def tests_in(files: Iterable[Path]) -> list[str]:
    """The names of the tests in the files, in their order."""
    names: list[str] = []
    for file in files:
        names += re.findall(r"^func (Test\w+)\(t ", file.read_text(), re.MULTILINE)
    return names


def one(program: Path, test: str) -> list[str | Path]:
    """The arguments that run one test of a program."""
    return [program, "-test.v", f"-test.run=^{test}$"]


def result(code: int, output: str) -> Result:
    """What a program says of one test."""
    if code:
        return "failed"
    return "passed" if re.search(r"^--- PASS", output, re.MULTILINE) else "skipped"
