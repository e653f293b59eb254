"""The wheel by itself: installed in an environment of its own, used outside the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.helpers.requirements import skip_or_fail
from tests.package.typed_program import MISTAKES, TYPED_PROGRAM

ROOT = Path(__file__).parents[2]

#: One worker builds the wheel for all of these.
pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("wheel")]

#: What `import kafka_admin_proto` may take on top of `import construct, msgspec`, in seconds.
IMPORT_BUDGET = 0.060


def run(*command: object, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    # Nothing of the checkout may help: no PYTHONPATH, another folder.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    run(*build, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    venv.create(folder / "venv", with_pip=True)
    found = folder / "venv" / "bin" / "python"
    pip = (found, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    # What it depends on is in the folder that `make` has filled; without make, pip asks its index.
    wheels = os.environ.get("KAFKA_ADMIN_PROTO_WHEELS")
    source = ("--no-index", "--find-links", wheels) if wheels else ()
    constraints = ROOT / "constraints.txt"
    installed = run(*pip, *source, "-c", constraints, wheel, cwd=folder, check=False)
    if installed.returncode:
        skip_or_fail(f"pip cannot install what the wheel depends on: {installed.stderr[-300:]}")
    return found


def test_it_works_outside_the_checkout(python: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(TYPED_PROGRAM)
    done = run(python, "program.py", cwd=tmp_path)
    assert done.stdout == "t None True [] 3\n"
    every = (
        "from kafka_admin_proto import codec\n"
        "from kafka_admin_proto.schema.catalog import catalog\n"
        "names = catalog().names()\n"
        "for n in names:\n"
        "  for v in catalog().entry(n).versions:\n"
        "    c = codec(n, v); assert c.decode(c.encode(c.value_class())) is not None\n"
        "print(len(names))"
    )
    assert int(run(python, "-c", every, cwd=tmp_path).stdout) > 280
    kap = run(python.parent / "kap", "--version", cwd=tmp_path, check=False)
    assert (kap.returncode, kap.stderr.count("kafka-admin-proto[cli]")) == (2, 1)


def test_a_typed_program_passes_mypy_and_mistakes_do_not(python: Path, tmp_path: Path) -> None:
    mistakes = [line for line, _ in MISTAKES]
    (tmp_path / "good.py").write_text(TYPED_PROGRAM)
    (tmp_path / "bad.py").write_text("\n".join([TYPED_PROGRAM, *mistakes]))
    options = ("--strict", "--python-executable", python, "--cache-dir", tmp_path / "cache")
    done = run(
        sys.executable, "-m", "mypy", *options, "good.py", "bad.py", cwd=tmp_path, check=False
    )
    found = re.findall(r"^(\w+\.py):(\d+): error: .*\[(.*)\]$", done.stdout, re.MULTILINE)
    first = len(TYPED_PROGRAM.splitlines()) + 2
    codes = [code for _, code in MISTAKES]
    expected = [("bad.py", str(line), code) for line, code in enumerate(codes, first)]
    assert found == expected, done.stdout


def test_a_cold_import_is_quick_and_loads_nothing_it_need_not(python: Path, tmp_path: Path) -> None:
    def seconds(modules: str) -> float:
        script = f"from time import perf_counter as t; s = t(); import {modules}; print(t() - s)"
        return float(run(python, "-c", script, cwd=tmp_path).stdout)

    pairs = [(seconds("construct, msgspec"), seconds("kafka_admin_proto")) for _ in range(9)]
    base, whole = (min(column) for column in zip(*pairs, strict=True))
    assert whole - base < IMPORT_BUDGET, f"{whole:.3f} s beside {base:.3f} s"

    script = "import kafka_admin_proto, sys; print(*sys.modules)"
    loaded = set(run(python, "-c", script, cwd=tmp_path).stdout.split())
    assert not [name for name in loaded if name.startswith("kafka_admin_proto.messages")]
    assert "kafka_admin_proto.loaded_schemas" not in loaded
    assert not loaded & {"click", "rich", "hypothesis", "dpkt", "cramjam", "pyspark", "pyarrow"}
