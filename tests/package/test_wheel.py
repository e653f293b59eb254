"""Wheel and sdist: each installed in an environment of its own, used outside the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from kafka_admin_proto import __version__
from tests.helpers.requirements import skip_or_fail
from tests.package.typed_program import MISTAKES, TYPED_PROGRAM
from tools.site.pages.code_blocks import code_blocks

ROOT = Path(__file__).parents[2]

#: One worker builds them for all of these.
pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("wheel")]

#: What `import kafka_admin_proto` may take on top of `import construct, msgspec`, in seconds of the
#: processor.
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
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist, and the wheel that is built from it; built, unless given."""
    given = os.environ.get("KAFKA_ADMIN_PROTO_DIST")
    if given:
        return Path(given).absolute()
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


def environment(folder: Path) -> Path:
    """The interpreter of a fresh environment."""
    venv.create(folder / "venv", with_pip=True)
    return folder / "venv" / "bin" / "python"


def by_pip(python: Path, what: object) -> None:
    """Install it, and what it depends on: from the folder that `make` has filled, else an index."""
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    wheels = os.environ.get("KAFKA_ADMIN_PROTO_WHEELS")
    source = ("--no-index", "--find-links", wheels) if wheels else ()
    done = run(*pip, *source, "-c", ROOT / "constraints.txt", what, cwd=python.parent, check=False)
    if done.returncode:
        skip_or_fail(f"pip cannot install {what}: {done.stderr[-300:]}")


def as_make_does(python: Path, what: object) -> None:
    """Install it, and what it depends on, which uv's cache may have."""
    by_pip(python, "uv")
    done = run("sh", "tools/install.sh", python, what, cwd=ROOT, check=False)
    if done.returncode:
        skip_or_fail(f"nothing can install {what}: {done.stderr[-300:]}")


@pytest.fixture(scope="module")
def python(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel."""
    (wheel,) = dist.glob("*.whl")
    assert wheel.name == f"kafka_admin_proto-{__version__}-py3-none-any.whl"
    found = environment(tmp_path_factory.mktemp("wheel"))
    by_pip(found, wheel)
    return found


def test_it_works_outside_the_checkout(python: Path, tmp_path: Path) -> None:
    _check_package(python, tmp_path)
    kap = run(python.parent / "kap", "--version", cwd=tmp_path, check=False)
    assert (kap.returncode, kap.stderr.count("kafka-admin-proto[cli]")) == (2, 1)


@pytest.mark.explore
def test_the_sdist_is_installed_and_its_readme_is_run(dist: Path, tmp_path: Path) -> None:
    """Its commands, in what it is unpacked to; ``make demo`` with this environment."""
    (sdist,) = dist.glob("*.tar.gz")
    assert sdist.name == f"kafka_admin_proto-{__version__}.tar.gz"
    python = environment(tmp_path)
    as_make_does(python, f"{sdist}[cli,capture,compression]")
    _check_package(python, tmp_path)
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    tree = tmp_path / sdist.name.removesuffix(".tar.gz")
    folder = python.parents[1]
    make = ("make", f"VENV={folder}", f"--old-file={folder}/.ready")
    assert "CreateTopics" in run(*make, "demo", cwd=tree).stdout
    blocks = [each for each in code_blocks((tree / "README.md").read_text("utf-8"))]
    tried = [each.language for each in blocks if not each.reason]
    assert tried == ["python", "console"]
    for block in blocks:
        if block.language == "python":
            (tmp_path / "readme.py").write_text(block.text)
            error = run(python, tmp_path / "readme.py", cwd=tree).stdout.strip()
            assert f"# {error}\n" in block.text
        elif block.language == "console":
            command, _, expected = block.text.removeprefix("$ ").partition("\n")
            program, *arguments = command.split()
            shown = run(python.parent / program, *arguments, cwd=tree).stdout
            assert [*map(str.rstrip, shown.strip().splitlines())] == expected.strip().splitlines()


def _check_package(python: Path, folder: Path) -> None:
    (folder / "program.py").write_text(TYPED_PROGRAM)
    done = run(python, "program.py", cwd=folder)
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
    assert int(run(python, "-c", every, cwd=folder).stdout) > 280


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
        script = f"from time import process_time as t; s = t(); import {modules}; print(t() - s)"
        return float(run(python, "-c", script, cwd=tmp_path).stdout)

    pairs = [(seconds("construct, msgspec"), seconds("kafka_admin_proto")) for _ in range(9)]
    base, whole = (min(column) for column in zip(*pairs, strict=True))
    assert whole - base < IMPORT_BUDGET, f"{whole:.3f} s beside {base:.3f} s"

    script = "import kafka_admin_proto, sys; print(*sys.modules)"
    loaded = set(run(python, "-c", script, cwd=tmp_path).stdout.split())
    assert not [name for name in loaded if name.startswith("kafka_admin_proto.messages")]
    assert "kafka_admin_proto.loaded_schemas" not in loaded
    assert not loaded & {"click", "rich", "hypothesis", "dpkt", "cramjam", "pyspark", "pyarrow"}
