"""Suites of pytest: their environments, and a process of pytest for each test."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tools.peers.suite import Command, Result, bounded, run

_LIST_S = 120.0


def install(folder: Path, *packages: str) -> None:
    """Make the folder's ``venv``, with the packages in it."""
    run(Command([sys.executable, "-m", "venv", "venv"], folder))
    _pip(folder, "install", *packages)


def download(folder: Path, package: str) -> None:
    """Bring the sdist of ``name==version`` and unpack it into the folder."""
    name = package.partition("==")[0]
    _pip(folder, "download", "--no-deps", "--no-binary", name, package)
    for each in folder.glob("*.tar.gz"):
        run(Command(["tar", "xzf", each], folder))


def clone(folder: Path, repository: str, tag: str) -> None:
    """Bring the tag of a repository into the folder's ``source``."""
    words = ["--quiet", "--depth", "1", "--branch", tag, repository, "source"]
    run(Command(["git", "clone", *words], folder))


def pytest(folder: Path, tree: Path, environment: Mapping[str, str], *words: str) -> Command:
    """A run of the folder's pytest in the tree, whose configuration does not count."""
    arguments: list[str | Path] = [
        _python(folder), "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider",
        "-c", "/dev/null", "--rootdir", tree, *words,
    ]  # fmt: skip
    return Command(arguments, tree, {"PYTHONPATH": str(tree), **environment})


def collected(command: Command) -> list[str]:
    """The names of the tests that a run with ``--collect-only`` finds."""
    _, said = bounded(command, _LIST_S)
    return [each for each in said.splitlines() if "::" in each]


def result(code: int, output: str) -> Result:
    """What pytest says of one test."""
    if code:
        return "failed"
    last = output.splitlines()[-1]
    return "skipped" if " skipped" in last and " passed" not in last else "passed"


def _pip(folder: Path, *words: str) -> None:
    run(
        Command(
            [_python(folder), "-m", "pip", "--quiet", "--disable-pip-version-check", *words], folder
        )
    )


def _python(folder: Path) -> Path:
    return folder / "venv" / "bin" / "python"
