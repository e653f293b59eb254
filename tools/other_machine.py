"""Tests with the Python of another Debian release or machine, as an ordinary user.

    python -m tools.other_machine bookworm amd64             # the engine's wheel from dist/
    python -m tools.other_machine sid s390x tests/vectors    # big-endian; the engine built for it

The release's C library, its Python and what that loads are unpacked into the cache
(``tools/debian.py``): nothing else of this system is loaded, but for its kernel. A program of this
kind of machine is started by that C library's own loader, those of others by qemu. pip installs
the packages that the tests need as that system would, by the tags of wheels. Tests come from this
checkout, each with the engine and without.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kafka_admin_proto.version import __version__
from tools import wheels
from tools.debian import PYTHON_OF, TRIPLETS, pins, unpacked

#: What is tried without asking: bytes, records, and all that compares the engine with Python.
TESTS = (
    "tests/wire", "tests/vectors", "tests/test_codec.py", "tests/test_threads.py",
    "tests/protocol/test_payloads.py", "tests/protocol/test_frames.py",
    "tests/records/batches/test_batches.py",
    *(f"tests/speed/test_{each}.py" for each in ("engine", "parity", "records", "packets")),
)  # fmt: skip
NEEDED = ("construct", "pytest", "pytest-xdist", "hypothesis", "click", "rich", "dpkt")
#: What has wheels for all machines but s390x.
COMPILED = ("msgspec", "cramjam", "crc32c", "zstandard")
#: Machine → what pip and qemu call it.
_NAMES = {"amd64": "x86_64", "arm64": "aarch64", "s390x": "s390x"}
#: What system it is, and at the end which code the package reads with.
_SAID = """
import platform, sys
from kafka_admin_proto import codec
python, libc = platform.python_version(), " ".join(platform.libc_ver())
print(f"CPython {python}, {libc}, {platform.machine()}, {sys.byteorder}-endian:", end=" ")
print(codec("VoteRequest", 0).backend)
"""
#: With Python 3.14 Hypothesis warns of the generator of random numbers that it keeps itself.
_OF_HYPOTHESIS = "ignore:It looks like `register_random`:hypothesis.errors.HypothesisWarning"
_LOADER = "lib64/ld-linux-x86-64.so.2"


def interpreter(suite: str, machine: str) -> Path:
    """The path of a program that is that system's Python, also for what tests start."""
    system = unpacked(suite, machine)
    python = system / "usr" / "bin" / f"python{PYTHON_OF[suite]}"
    if machine == "amd64":
        folders = ":".join(f"{system}/{each}/{TRIPLETS[machine]}" for each in ("lib", "usr/lib"))
        start = f"{system}/{_LOADER} --inhibit-cache --library-path {folders} --argv0"
    else:
        qemu = unpacked("bookworm", "amd64") / "usr" / "bin" / f"qemu-{_NAMES[machine]}-static"
        start = f"{qemu} -L {system} -0"
    program = system / "python"
    program.write_text(
        f'#!/bin/sh\nPYTHONHOME={system}/usr exec {start} "$0" {python} "$@"\n', "utf-8"
    )
    program.chmod(0o755)
    return program


def installed(suite: str, machine: str) -> Path:
    """A folder with what the tests need there, and the engine."""
    folder = wheels.WORK / "systems" / f"{suite}-{machine}"
    shutil.rmtree(folder, ignore_errors=True)
    name, python = _NAMES[machine], PYTHON_OF[suite]
    platforms = [f"--platform=manylinux_2_{glibc}_{name}" for glibc in (28, 17)]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    pip += ["--target", str(folder), "--only-binary=:all:", *platforms]
    pip += [f"--platform=manylinux2014_{name}", f"--python-version={python}", "--implementation=cp"]
    constraints = ["--constraint", str(wheels.ROOT / "constraints.txt")]
    has_wheels = machine != wheels.BIG_ENDIAN.machine
    wheels.run([*pip, *constraints, *NEEDED, *(COMPILED if has_wheels else ())])
    own = wheels.ROOT / "dist"
    if not has_wheels:
        own = wheels.WORK / "big-endian"
        pattern, source = wheels.built_here(own)
        made = own / wheels.wheel_name(__version__, python, wheels.BIG_ENDIAN)
        library = wheels.library_of(source, python, wheels.BIG_ENDIAN)
        wheels.with_library(pattern, library, made)
    engine = f"kafka-admin-proto-speed=={__version__}"
    wheels.run([*pip, "--no-deps", "--no-index", f"--find-links={own}", engine])
    return folder


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 2 or (arguments[0], arguments[1]) not in pins():
        print(f"{__doc__}\nRelease and machine are one of {[*pins()]}")
        return 2
    suite, machine, *tests = arguments
    python, folder = interpreter(suite, machine), installed(suite, machine)
    pytest = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", _OF_HYPOTHESIS]
    pytest += ["-n", "2", "--dist", "loadgroup", *(tests or TESTS)]
    # What may be skipped here is what the system does not have, and some of that is meant.
    kept = {"KAFKA_ADMIN_PROTO_PROFILE": "ci"} | os.environ
    # Bytecode is kept beside, not in the system: without any, qemu compiles all at each start.
    kept |= {"PYTHONPATH": str(folder), "PYTHONPYCACHEPREFIX": str(wheels.WORK / "bytecode")}
    kept.pop("KAFKA_ADMIN_PROTO_REQUIRE_ALL", None)
    code = 0
    for pure, backend in (("0", "compiled"), ("1", "pure")):
        kept["KAFKA_ADMIN_PROTO_PURE"] = pure
        shown = subprocess.run(
            [str(python), "-c", _SAID], cwd=wheels.ROOT, env=kept,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        print(shown.stdout, end="", flush=True)
        if shown.returncode or not shown.stdout.endswith(f" {backend}\n"):
            print(f"{suite} {machine}: not {backend}\n{shown.stderr}", file=sys.stderr)
            return 1
        code |= subprocess.run(pytest, cwd=wheels.ROOT, env=kept, check=False).returncode
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
