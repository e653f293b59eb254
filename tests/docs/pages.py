"""Runs the code blocks of a page in order, as its reader would.

    run_page(file, folder)      # in a folder of its own, with samples/ and docs/examples/ in it

- A block with a title is written to the file of that name, which others may import.
- Python runs, all blocks of a page in one namespace and one event loop, ``await`` at the top
  included. What stands behind ``print(...)`` as a comment is what it prints.
- In a console, lines behind ``$`` are commands: ``kap`` in this process, but for commands that
  start Spark, ``python`` and ``pytest`` in another. What follows is their output; ``…`` stands
  for anything. ``localhost:9092`` is a cluster of its own for the page, which ``kap`` asks
  without ``-b`` too.
- Each line of a block in ``sh`` is a command that succeeds.
- ``<!-- not run: reason -->`` in front of a block leaves it out.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import importlib.util
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from click.testing import CliRunner

from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.server import SyncCluster
from tools.site.pages.code_blocks import code_blocks

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: What pages write for a cluster that listens.
ADDRESS = "localhost:9092"
_PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
#: New topics have other ids each time.
_TOPIC_ID = re.compile(r"(?<![\w-])[A-Za-z0-9_-]{22}(?![\w-])")
_SAME_ID = "A" * 22
_SECONDS = 300
#: Commands of ``kap`` that end the Spark session of their process, maybe that of the tests.
_WITH_SPARK = {"pipeline"}
#: Of pytest, what pages need: the other plugins that are installed here take seconds to start.
_PLUGINS = ("-p", "no:cacheprovider", "-p", "kafka_admin_proto.testing.pytest_plugin")


def run_page(
    file: Path, folder: Path, replaced: Mapping[str, str] | None = None, **cluster: Any
) -> None:
    """Run all blocks of a page; raises AssertionError for what is otherwise than it says.

    ``replaced`` are texts of the page and what the test has in their place, ``cluster`` what its
    cluster has other than by default.
    """
    text = file.read_text("utf-8")
    for name in ("samples", "schemas", "tests/records/data"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(ROOT / name)
    for each in (DOCS / "examples").glob("*.py"):
        (folder / each.name).symlink_to(each)
    names: dict[str, Any] = {"__name__": file.stem}
    with contextlib.chdir(folder), imports_from(folder), contextlib.ExitStack() as stack:
        texts = dict(replaced or {})
        loop = stack.enter_context(asyncio.Runner())
        if cluster or ADDRESS in text:
            address = stack.enter_context(SyncCluster(**cluster)).bootstrap_servers
            texts[ADDRESS] = address
            stack.enter_context(_environment(KAP_BOOTSTRAP_SERVER=address))
        for block in code_blocks(text):
            if block.reason:
                continue
            code = block.text
            for shown, meant in texts.items():
                code = code.replace(shown, meant)
            if block.title:
                written = folder / block.title
                written.parent.mkdir(parents=True, exist_ok=True)
                written.write_text(block.text, "utf-8")
            elif block.language == "python":
                run_python("\n" * block.line + code, str(file), names, loop)
            elif block.language == "console":
                run_console(code)
            elif block.language == "sh":
                run_lines(code)


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """The variables are set, and as they were afterwards."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def imports_from(folder: Path) -> Iterator[None]:
    """Modules of the folder can be imported, and are forgotten afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


def example(name: str) -> ModuleType:
    """A module of ``docs/examples``."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_python(text: str, file: str, names: dict[str, Any], loop: asyncio.Runner) -> None:
    """Run a block; what it prints is what its comments say."""
    code = compile(text, file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if code.co_flags & inspect.CO_COROUTINE:
            loop.run(eval(code, names))
        else:
            exec(code, names)
    expected = _PRINTED.findall(text)
    assert out.getvalue().splitlines() == expected, (text.strip(), out.getvalue())


def run_console(text: str) -> None:
    """Run the commands of a block and compare what they write."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = f"{command[:-1]} {more}"
        words = shlex.split(command)
        if words[0] == "kap" and words[1] not in _WITH_SPARK:
            written = run_kap(words[1:])
        else:
            written = run_program(words)
        pattern = re.escape(_TOPIC_ID.sub(_SAME_ID, expected.strip())).replace("…", ".*")
        lines = [line.rstrip() for line in _TOPIC_ID.sub(_SAME_ID, written.strip()).splitlines()]
        assert re.fullmatch(pattern, "\n".join(lines), re.DOTALL), (command, written)


def run_lines(text: str) -> None:
    """Run the commands of a block, each of which succeeds."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            if words[0] == "tshark":
                subprocess.run(words, check=True, capture_output=True, timeout=_SECONDS)
                continue
            assert words[0] == "kap", line
            run_kap(words[1:], codes=(0,))


def run_kap(arguments: list[str], codes: tuple[int, ...] = (0, 1)) -> str:
    """The output of ``kap``; where it may find something, it still does not fail on its usage."""
    result = CliRunner().invoke(kap, arguments)
    assert result.exit_code in codes, result.output
    return result.output


def run_program(words: list[str]) -> str:
    """The output of ``python``, ``pytest``, or of ``kap`` in a process of its own."""
    programs = {
        "kap": ["-m", "kafka_admin_proto"], "pytest": ["-m", "pytest", *_PLUGINS], "python": [],
    }  # fmt: skip
    program = programs[words[0]]
    done = subprocess.run(
        [sys.executable, *program, *words[1:]],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=_SECONDS, check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout
    return done.stdout
