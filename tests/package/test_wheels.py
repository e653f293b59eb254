"""What `make` installs has its version in ``constraints.txt``; the engine's wheels have theirs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from base64 import urlsafe_b64encode
from importlib.metadata import distributions
from pathlib import Path
from zipfile import ZipFile

import pytest

from kafka_admin_proto import __version__
from tests.helpers.requirements import skip_or_fail
from tools import debian, wheels

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("file", ["pyproject.toml", "speed/pyproject.toml"])
def test_there_is_a_wheel_of_the_engine_for_each_python_that_is_named(file: str) -> None:
    project = tomllib.loads((ROOT / file).read_text("utf-8"))["project"]
    python = "Programming Language :: Python :: "
    named = [each.removeprefix(python) for each in project["classifiers"]]
    assert tuple(each for each in named if re.fullmatch(r"3\.\d+", each)) == wheels.PYTHONS
    assert project["requires-python"] == f">={wheels.PYTHONS[0]}"
    assert set(debian.PYTHON_OF.values()) <= set(wheels.PYTHONS)


def test_names_and_suffixes_are_those_that_pip_and_python_look_for() -> None:
    names = [wheels.wheel_name("1.2.3", "3.14", each) for each in wheels.TARGETS]
    front = "kafka_admin_proto_speed-1.2.3-cp314-cp314-"
    assert names == [
        f"{front}manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        f"{front}manylinux_2_17_aarch64.manylinux2014_aarch64.whl",
        f"{front}musllinux_1_2_x86_64.whl",
        f"{front}musllinux_1_2_aarch64.whl",
    ]
    assert [each.suffix("3.11") for each in (*wheels.TARGETS, wheels.BIG_ENDIAN)] == [
        ".cpython-311-x86_64-linux-gnu.so",
        ".cpython-311-aarch64-linux-gnu.so",
        ".cpython-311-x86_64-linux-musl.so",
        ".cpython-311-aarch64-linux-musl.so",
        ".cpython-311-s390x-linux-gnu.so",
    ]


def test_a_wheel_gets_another_library_and_other_tags(tmp_path: Path) -> None:
    info = f"kafka_admin_proto_speed-{__version__}.dist-info"
    given = tmp_path / "given.whl"
    with ZipFile(given, "w") as archive:
        archive.writestr(f"{wheels.PACKAGE}/__init__.py", "own")
        archive.writestr(f"{wheels.PACKAGE}/_engine.cpython-311-x86_64-linux-gnu.so", "old")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: cp311-cp311-linux_x86_64\n\n")
        archive.writestr(f"{info}/RECORD", "")
    target = wheels.TARGETS[1]
    library = tmp_path / f"_engine{target.suffix('3.14')}"
    library.write_bytes(b"new")
    made = [tmp_path / each / wheels.wheel_name(__version__, "3.14", target) for each in "ab"]
    for path in made:
        path.parent.mkdir()
        wheels.with_library(given, library, path)
    assert made[0].read_bytes() == made[1].read_bytes()
    with ZipFile(made[0]) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    digest = urlsafe_b64encode(hashlib.sha256(b"new").digest()).decode().rstrip("=")
    name = f"{wheels.PACKAGE}/{library.name}"
    assert f"{name},sha256={digest},3" in files.pop(f"{info}/RECORD").decode().splitlines()
    assert files == {
        f"{wheels.PACKAGE}/__init__.py": b"own",
        name: b"new",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nTag: cp314-cp314-manylinux_2_17_aarch64\n"
        b"Tag: cp314-cp314-manylinux2014_aarch64\n\n",
    }


def test_what_debian_is_asked_for_is_pinned() -> None:
    wanted = {
        (suite, machine): debian.names(suite, machine)
        for suite in debian.PYTHON_OF
        for machine in debian.machines(suite)
    }
    pinned = debian.pins()
    assert {each: [p.partition("=")[0] for p in found] for each, found in pinned.items()} == wanted
    assert [
        p for found in pinned.values() for p in found if not re.search(r"=\d[\w.:+~-]*$", p)
    ] == []


def test_no_python_with_headers_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        SystemExit, match=r"python3.12 with its headers is not .* uv python install"
    ):
        wheels.headers("3.12", "arm64")


def test_the_page_says_how_large_a_wheel_may_be() -> None:
    least, most = wheels.SIZES_KB
    assert f"A wheel has {least} to {most} kB" in (ROOT / "docs/speed.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("size", "tag", "fault"),
    [
        (wheels.SIZES_KB[0] * 1000, "musllinux_1_2_x86_64", None),
        (wheels.SIZES_KB[1] * 1000, "musllinux_1_2_x86_64", None),
        (wheels.SIZES_KB[0] * 1000 - 1, "musllinux_1_2_x86_64", "kB, not"),
        (wheels.SIZES_KB[1] * 1000 + 1, "musllinux_1_2_x86_64", "change SIZES_KB"),
        (wheels.SIZES_KB[0] * 1000, "linux_x86_64", "auditwheel says linux_x86_64"),
    ],
)
def test_a_wheel_that_is_not_as_it_says_is_refused(
    size: int, tag: str, fault: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(wheels, "run", lambda _: json.dumps({"overall_tag": tag}))
    wheel = tmp_path / "one.whl"
    wheel.write_bytes(bytes(size))
    if fault is None:
        wheels.check(wheel, wheels.TARGETS[2])
        return
    with pytest.raises(SystemExit, match=f"one.whl.* {fault}"):
        wheels.check(wheel, wheels.TARGETS[2])


@pytest.mark.exhaustive  # apt tries three times
def test_a_network_that_is_down_is_no_release_without_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if shutil.which("apt-get") is None:
        skip_or_fail("apt-get is not installed")
    monkeypatch.setenv("KAFKA_ADMIN_PROTO_CACHE", str(tmp_path))
    monkeypatch.setattr(debian, "mirror", lambda: "http://127.0.0.1:9/debian/")
    with pytest.raises(SystemExit, match=r"apt cannot fetch its lists:\n[^$]*127\.0\.0\.1"):
        debian.unpacked("sid", "s390x")


def test_a_release_has_the_wheels_and_tries_them() -> None:
    shown = subprocess.run(
        ["make", "--dry-run", "release"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    places = [shown.index(each) for each in ("rm -rf dist", "tools.wheels", "tools.other_machine")]
    assert places == sorted(places)


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
