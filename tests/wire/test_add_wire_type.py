"""A wire type is a row and a class: CONTRIBUTING.md's example is added to a copy of the tree."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.requirements import skip_or_fail

ROOT = Path(__file__).parents[2]
SCALARS = "kafka_admin_proto/schema/scalars.py"
CLASSES = "kafka_admin_proto/wire/types/scalar.py"
#: The type plain, in arrays, tagged, below structs, and beside fields of other kinds.
SAMPLE = {
    "type": "data", "name": "VarintSample", "validVersions": "0-1", "flexibleVersions": "1+",
    "fields": [
        {"name": "Before", "type": "int16", "versions": "0+"},
        {"name": "Plain", "type": "varint", "versions": "0+", "default": "-7"},
        {"name": "After", "type": "string", "versions": "0+", "nullableVersions": "0+"},
        {"name": "Many", "type": "[]varint", "versions": "0+", "nullableVersions": "1+"},
        {"name": "Rows", "type": "[]Row", "versions": "0+", "fields": [
            {"name": "First", "type": "varint", "versions": "0+"},
            {"name": "Second", "type": "varint", "versions": "1+"}]},
        {"name": "Flag", "type": "bool", "versions": "0+"},
        {"name": "Tagged", "type": "varint", "versions": "1+", "taggedVersions": "1+", "tag": 0},
        {"name": "TaggedMany", "type": "[]varint", "versions": "1+", "taggedVersions": "1+",
         "tag": 1},
    ],
}  # fmt: skip


@pytest.mark.exhaustive
def test_the_pages_example_has_all_properties(tmp_path: Path) -> None:
    copy_tree(tmp_path)
    before = contents(tmp_path)
    row, class_ = re.findall(
        r"```python\n(.*?)```", wire_type_page((ROOT / "CONTRIBUTING.md").read_text("utf-8")), re.S
    )
    add_row(tmp_path / SCALARS, row)
    add_class(tmp_path / CLASSES, class_)
    definition = "schemas/kafka/VarintSample.json"
    (tmp_path / definition).write_text(json.dumps(SAMPLE))
    run_in(tmp_path, "-m", "tools.definitions.generate")
    run_in(tmp_path, "-m", "ruff", "check", SCALARS, CLASSES)
    run_in(tmp_path, "-m", "ruff", "format", "--check", SCALARS, CLASSES)
    changed = {path for path, data in contents(tmp_path).items() if data != before.get(path)}
    generated = {
        definition,
        "schemas/index.json",
        "kafka_admin_proto/messages/__init__.py",
        "kafka_admin_proto/messages/varint_sample.py",
        "README.md",
        "CHANGELOG.md",
    }
    assert changed == {SCALARS, CLASSES} | generated
    assert "plain: int = -7" in (
        tmp_path / "kafka_admin_proto/messages/varint_sample.py"
    ).read_text("utf-8")
    # -P: the script's own folder, which has a package "tools" as well, is not searched.
    done = run_in(tmp_path, "-P", ROOT / "tests" / "wire" / "added_wire_type.py")
    shown = ["wire", "json", "damage", "notation", "columns"]
    if find_spec("pyarrow") is None:
        assert done.split() == shown[:-1]
        skip_or_fail("columns need pyarrow")
    assert done.split() == shown


def wire_type_page(text: str) -> str:
    """The part of CONTRIBUTING.md about wire types."""
    return text[text.index("**A wire type.**") : text.index("**A dump format.**")]


def add_row(path: Path, row: str) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n    )\n}") == 1
    path.write_text(text.replace("\n    )\n}", f"\n{row}    )\n}}"), "utf-8")


def add_class(path: Path, block: str) -> None:
    """The imports join those of the module, the rest goes to its end."""
    imports, mark, rest = block.partition("_INT_BITS")
    text = path.read_text("utf-8")
    for line in filter(None, imports.splitlines()):
        module, _, names = line.partition(" import ")
        there = re.search(rf"^{re.escape(module)} import (.*)$", text, re.M)
        if there:
            joined = {*there[1].split(", "), *names.split(", ")}
            text = text.replace(there[0], f"{module} import {', '.join(joined)}")
        else:
            text = text.replace("\nfrom kafka_admin_proto", f"\n{line}\nfrom kafka_admin_proto", 1)
    path.write_text(f"{text}\n\n{mark}{rest}", "utf-8")
    run_in(path.parents[2], "-m", "ruff", "check", "--fix", "--select", "I", path)
    run_in(path.parents[2], "-m", "ruff", "format", path)


def copy_tree(folder: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("kafka_admin_proto", "schemas", "tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"__pycache__", ".ruff_cache"} & set(path.parts)
    }


def run_in(folder: Path, *arguments: object) -> str:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
