"""All that `make` installs has its version in ``constraints.txt``, and goes where its Python is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: The project itself, and what Python brings into a new environment.
_OWN = {"kafka-admin-proto", "kafka-admin-proto-speed", "pip", "setuptools"}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> list[tuple[str, str]]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [(plain(line.split("==")[0]), line.split("==")[1]) for line in lines if "==" in line]


@pytest.mark.skipif(
    os.environ.get("KAFKA_ADMIN_PROTO_REQUIRE_ALL") != "1",
    reason="this environment may have packages that its owner put there",
)
def test_what_is_installed_is_pinned() -> None:
    installed = {plain(each.metadata["Name"]): each.version for each in distributions()}
    pinned = dict(pins())
    assert {n: v for n, v in installed.items() if pinned.get(n) != v and n not in _OWN} == {}


def test_each_name_once_and_in_order() -> None:
    names = [name for name, _ in pins()]
    assert names == sorted(set(names))


def test_lines_are_names_and_versions_only() -> None:
    first, *lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert first.startswith("#")
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_an_environment_of_another_python_is_not_overwritten(tmp_path: Path) -> None:
    """A mixture of both Pythons would be left."""
    environment = tmp_path / "environment"
    python = environment / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 1\n", "utf-8")  # as one whose version is another
    python.chmod(0o755)
    variables = [f"VENV={environment}", f"PYTHON={sys.executable}", f"CACHE={tmp_path}"]
    done = subprocess.run(
        ["make", "--always-make", *variables, f"{environment}/.ready"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert f"{environment} has another Python than {sys.executable}: remove it" in done.stdout
    assert [*environment.rglob("*.cfg")] == []
