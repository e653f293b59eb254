"""Wheels of the compiled engine for Linux, all built on this machine.

    python -m tools.wheels                      # into dist/, and checked
    python -m tools.wheels --only cp314 aarch64 # those that have both words in their names

The C that Cython writes is the same for each Python and machine. ``ziglang`` compiles it: clang
with the symbols of any release of glibc, and with musl. setuptools builds one wheel for the Python
that runs this, and each wheel is that one with another library and other tags. auditwheel says
whether the library keeps to the tag.

Headers are those of Debian's packages (``tools/debian_packages.txt``), for each machine its own.
CPython 3.12 is in no release of Debian: its headers are those of the ``python3.12`` on the PATH,
for all machines, which is right because a ``pyconfig.h`` says to Python's headers only how large
``long``, ``size_t``, ``wchar_t`` and pointers are, and in which order their bytes. That is the
same for all `TARGETS`; so the glibc headers do for musl as well.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile, ZipInfo

from wheel.wheelfile import WheelFile

from tools.debian import PYTHON_OF, TRIPLETS, unpacked

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "wheels"
PACKAGE = "kafka_admin_proto_speed"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
#: As Debian builds its own Pythons, but for the debugger's symbols.
FLAGS = ("-c", "-fPIC", "-O3", "-g0", "-DNDEBUG", "-fwrapv", "-Wno-unused-function")
#: Between these is the size of each wheel in kB, which docs/speed.md says too.
SIZES_KB = (500, 600)


class Target(NamedTuple):
    """A machine and its C library."""

    #: What the compiler calls it.
    zig: str
    #: What Debian calls the machine.
    machine: str
    #: What pip calls it; more than one with dots between.
    platform: str

    def suffix(self, python: str) -> str:
        """The end of an extension's name, by which that Python finds it (PEP 3149)."""
        triplet = TRIPLETS[self.machine]
        if "musl" in self.zig:
            triplet = triplet.replace("gnu", "musl")
        return f".cpython-{plain(python)}-{triplet}.so"


TARGETS = (
    Target("x86_64-linux-gnu.2.17", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64"),
    Target("aarch64-linux-gnu.2.17", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    Target("x86_64-linux-musl", "amd64", "musllinux_1_2_x86_64"),
    Target("aarch64-linux-musl", "arm64", "musllinux_1_2_aarch64"),
)
#: Big-endian, and without a wheel: what it takes to try the engine there.
BIG_ENDIAN = Target("s390x-linux-gnu.2.17", "s390x", "manylinux_2_17_s390x.manylinux2014_s390x")


def plain(python: str) -> str:
    return python.replace(".", "")


def wheel_name(version: str, python: str, target: Target) -> str:
    tag = f"cp{plain(python)}"
    return f"{PACKAGE}-{version}-{tag}-{tag}-{target.platform}.whl"


def headers(python: str, machine: str) -> list[Path]:
    """The folders in which the compiler looks for Python's headers."""
    for suite, its_python in PYTHON_OF.items():
        if its_python == python:
            include = unpacked(suite, machine) / "usr" / "include"
            return [include, include / f"python{python}"]
    program = f"python{python}"
    script = "import sysconfig; print(sysconfig.get_path('include'))"
    found = shutil.which(program)
    done = found and subprocess.run([found, "-c", script], capture_output=True, text=True)
    folder = Path(done.stdout.strip()) if done and not done.returncode else None
    if folder is None or not (folder / "Python.h").exists():
        raise SystemExit(
            f"{program} with its headers is not on the PATH, and Debian has none: "
            f"uv python install {python}, or pyenv install {python}, and put it there"
        )
    return [folder]


def library_of(source: Path, python: str, target: Target) -> Path:
    """The library of the engine's C for a Python and a machine."""
    library = WORK / target.zig / f"_engine{target.suffix(python)}"
    library.parent.mkdir(parents=True, exist_ok=True)
    folders = [f"-I{folder}" for folder in headers(python, target.machine)]
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    compiled = str(library.with_suffix(".o"))
    run([*zig, *FLAGS, *folders, str(source), "-o", compiled])
    # Systems with musl give its library names of their own; Python has loaded it by then.
    libc = ["-nostdlib"] if "musl" in target.zig else []
    run([*zig, "-shared", *libc, compiled, "-o", str(library)])
    return library


def built_here(folder: Path) -> tuple[Path, Path]:
    """The wheel for the Python that runs this, as setuptools builds it, and the engine's C.

    ``folder`` is removed, and has both then.
    """
    shutil.rmtree(folder, ignore_errors=True)
    left_out = shutil.ignore_patterns("build", "*.egg-info", "*.so", "__pycache__")
    shutil.copytree(ROOT / "speed", folder, ignore=left_out)
    # Its library is replaced, so it need not be a good one.
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", str(folder)]
    run(build, CFLAGS="-O0")
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel, folder / PACKAGE / "_engine.c"


def with_library(given: Path, library: Path, made: Path) -> None:
    """The wheel with another library, and with the tags that the new name says."""
    _, _, python, abi, platforms = made.stem.split("-")
    tags = "".join(f"Tag: {python}-{abi}-{each}\n" for each in platforms.split("."))
    with ZipFile(given) as old, WheelFile(str(made), "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("/RECORD"):  # WheelFile writes it
                continue
            if name.endswith(".so"):
                name, data = f"{PACKAGE}/{library.name}", library.read_bytes()
            elif name.endswith("/WHEEL"):
                data = re.sub(r"^Tag: .*\n", "", data.decode(), flags=re.M).strip().encode()
                data += f"\n{tags}\n".encode()
            entry = ZipInfo(name)  # of 1980, so that the same inputs give the same bytes
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            new.writestr(entry, data)


def check(wheel: Path, target: Target) -> None:
    """SystemExit if the library takes more than the wheel's tag promises, or for another size."""
    show = [sys.executable, "-m", "auditwheel", "show", "--json", str(wheel)]
    found = json.loads(run(show))["overall_tag"]
    if found not in target.platform.split("."):
        raise SystemExit(f"{wheel.name}: auditwheel says {found}")
    least, most = SIZES_KB
    size = wheel.stat().st_size / 1000
    if not least <= size <= most:
        raise SystemExit(
            f"{wheel.name} has {size:.0f} kB, not {least} to {most}: if that is meant, change "
            "SIZES_KB in tools/wheels.py and docs/speed.md"
        )


def run(command: list[str], **environment: str) -> str:
    cache = str(WORK / "zig")
    kept = os.environ | {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    done = subprocess.run(
        command, env=kept | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="words of the names of some wheels")
    given = parser.parse_args()
    dist = ROOT / "dist"
    dist.mkdir(exist_ok=True)
    for python in PYTHONS:  # what is missing is said before minutes of compiling
        for target in TARGETS:
            headers(python, target.machine)
    pattern, source = built_here(WORK / "speed")
    version = pattern.name.split("-")[1]
    for python in PYTHONS:
        for target in TARGETS:
            made = dist / wheel_name(version, python, target)
            if all(word in made.name for word in given.only):
                with_library(pattern, library_of(source, python, target), made)
                check(made, target)
                print(f"{made.name}: {made.stat().st_size / 1e3:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
