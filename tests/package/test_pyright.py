"""What users of pyright and of editors with it see; ``make check`` installs it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import construct
import msgspec
import pytest

import kafka_admin_proto
from tests.helpers.requirements import skip_or_fail
from tests.package.typed_program import MISTAKES, TYPED_PROGRAM

#: `make check` runs it, which installs what it needs, and the exhaustive profile.
pytestmark = [pytest.mark.xdist_group("pyright"), pytest.mark.exhaustive]

#: Of the names that users can reach, the share whose types are known without being inferred.
LEAST_COMPLETE = 0.997


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment in which the package and its dependencies are installed.

    In the checkout pyright would find the sources of a project, not the types of a package.
    """
    if importlib.util.find_spec("basedpyright") is None:
        skip_or_fail("basedpyright is not installed; `make check` installs it")
    folder = tmp_path_factory.mktemp("pyright") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for module in (kafka_admin_proto, construct, msgspec):
        source = Path(module.__file__ or "").parent
        ignored = shutil.ignore_patterns("__pycache__", "*.so")
        shutil.copytree(source, packages / source.name, ignore=ignored)
    return folder / "bin" / "python"


def pyright(python: Path, folder: Path, *arguments: object) -> dict[str, Any]:
    """What pyright reports in a folder, to the user of that interpreter."""
    # It looks for packages beside the Python that is found first.
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    command = [sys.executable, "-m", "basedpyright", "--outputjson", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=folder, env=environment | {"PATH": path}, capture_output=True, check=False
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.explore
def test_the_types_of_what_is_public_are_known(python: Path, tmp_path: Path) -> None:
    report = pyright(python, tmp_path, "--verifytypes", "kafka_admin_proto", "--ignoreexternal")
    found = report["typeCompleteness"]
    assert found["exportedSymbolCounts"]["withKnownType"] > 10_000
    # One attribute without a type makes each class unknown that leads to it: these are to blame.
    causes = [
        f"{symbol['name']}: {diagnostic['message']}"
        for symbol in found["symbols"]
        for diagnostic in symbol["diagnostics"]
        if re.search("missing type annotation|Ambiguous", diagnostic["message"])
    ]
    assert found["completenessScore"] >= LEAST_COMPLETE, "\n".join(causes)


def test_a_typed_program_passes_and_mistakes_do_not(python: Path, tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    mistakes = [line for line, _ in MISTAKES]
    (tmp_path / "good.py").write_text(TYPED_PROGRAM)
    (tmp_path / "bad.py").write_text("\n".join([TYPED_PROGRAM, *mistakes]))
    lines: dict[str, set[int]] = {"good.py": set(), "bad.py": set()}
    for found in pyright(python, tmp_path, "good.py", "bad.py")["generalDiagnostics"]:
        if found["severity"] == "error":
            lines[Path(found["file"]).name].add(found["range"]["start"]["line"])
    first = len(TYPED_PROGRAM.splitlines()) + 1
    assert lines == {"good.py": set(), "bad.py": set(range(first, first + len(mistakes)))}


def test_lazy_names_are_exported(python: Path, tmp_path: Path) -> None:
    """Pyright calls names that a star import brings private: to be imported from elsewhere."""
    (tmp_path / "pyrightconfig.json").write_text('{"reportPrivateImportUsage": "error"}')
    (tmp_path / "names.py").write_text(
        "from kafka_admin_proto import CreateTopicsRequest, ErrorCode, error_code\n"
        "from kafka_admin_proto.messages import VoteRequest\n"
        "from kafka_admin_proto.messages.kip_516 import VoteRequest as Draft\n"
        "print(CreateTopicsRequest, ErrorCode, error_code, VoteRequest, Draft)\n"
    )
    assert pyright(python, tmp_path, "names.py")["summary"]["errorCount"] == 0
