"""How the compiled engine is found, and which messages it takes."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import codec, load_schemas
from kafka_admin_proto.codec import Codec
from tests.helpers.processes import python
from tests.speed.compiled import speed
from tools.benchmarks.speed import pure

BACKEND = "from kafka_admin_proto import codec; print(codec('VoteRequest', 0).backend)"


def run(program: str, folder: Path, **environment: str) -> str:
    """What a program prints that finds the engine in ``folder``."""
    kept = {k: v for k, v in os.environ.items() if k != "KAFKA_ADMIN_PROTO_PURE"}
    paths = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = python("-W", "error", "-c", program, env=kept | {"PYTHONPATH": paths} | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_it_is_found_by_name_and_version_and_switched_off(tmp_path: Path) -> None:
    folder = tmp_path / "kafka_admin_proto_speed"
    shutil.copytree(Path(speed().__file__).parent, folder)
    assert run(BACKEND, tmp_path) == "compiled"
    assert run(BACKEND, tmp_path, KAFKA_ADMIN_PROTO_PURE="1") == "pure"
    assert run(BACKEND, tmp_path, KAFKA_ADMIN_PROTO_PURE="0") == "compiled"
    text = (folder / "__init__.py").read_text("utf-8")
    (folder / "__init__.py").write_text(f"{text}\n__version__ = '0.0.0'\n", "utf-8")
    assert run(BACKEND, tmp_path) == "pure"
    for extension in folder.glob("_engine.*"):
        extension.unlink()
    assert run(BACKEND, tmp_path) == "pure"


def test_it_may_be_imported_first() -> None:
    """As a person does who looks whether it is there; the two packages import each other."""
    folder = Path(speed().__file__).parents[1]
    assert run(f"import kafka_admin_proto_speed as s; s.Engine; {BACKEND}", folder) == "compiled"
    program = "import kafka_admin_proto_speed as s; print(s.crc32c(b'').__class__.__name__)"
    assert run(program, folder, KAFKA_ADMIN_PROTO_PURE="1") == "int"


def test_a_second_interpreter_of_the_process_does_without() -> None:
    """The engine loads into one interpreter of a process; others are pure, without a word."""
    program = (
        "import kafka_admin_proto, _xxsubinterpreters as s\n"
        "one = s.create()\n"
        f"s.run_string(one, {BACKEND!r})\n"
        "s.destroy(one)\n"
    )
    if sys.version_info >= (3, 12):
        pytest.skip("the package's own dependencies do not load there")
    folder = Path(speed().__file__).parents[1]
    assert run(program, folder) == "pure"


def test_a_message_that_it_has_no_nodes_for_stays_pure(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka_admin_proto.wire import engine

    module = speed()
    monkeypatch.setattr(engine, "compiled", module)
    found: Codec[Any] = Codec(codec("VoteRequest", 0).spec, 0)
    assert found.backend == "compiled"
    monkeypatch.setattr(type(found.grammar), "node", lambda self: None)
    assert Codec(found.spec, 0).backend == "pure"


def test_a_message_that_is_too_wide_stays_pure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_admin_proto.wire import engine

    monkeypatch.setattr(engine, "compiled", speed())
    for width in (100, 200):
        fields = [{"name": f"F{i}", "type": "int8", "versions": "0+"} for i in range(width)]
        definition = {"type": "data", "name": f"Wide{width}", "validVersions": "0",
                      "flexibleVersions": "none", "fields": fields}  # fmt: skip
        (tmp_path / f"Wide{width}.json").write_text(json.dumps(definition))
    dialect = load_schemas(tmp_path, dialect="wide")
    for width, backend in ((100, "compiled"), (200, "pure")):
        found = codec(f"Wide{width}", 0, dialect=dialect)
        assert found.backend == backend
        assert found.encode(found.decode(bytes(range(100)) * (width // 100)))


def test_its_version_is_the_packages() -> None:
    root = Path(__file__).parents[2]
    one, other = (
        next(line for line in (root / path).read_text("utf-8").splitlines()
             if line.startswith("__version__"))
        for path in ("kafka_admin_proto/version.py", "speed/kafka_admin_proto_speed/__init__.py")
    )  # fmt: skip
    assert one.split()[2] == other.split()[2]
    version = one.split()[2].strip('"')
    text = (root / "pyproject.toml").read_text("utf-8")
    assert f'speed = ["kafka-admin-proto-speed=={version}"]' in text
    text = (root / "speed" / "pyproject.toml").read_text("utf-8")
    assert f'dependencies = ["kafka-admin-proto=={version}"]' in text
    assert importlib.import_module("kafka_admin_proto").__version__ == version


def test_the_benchmarks_measure_the_fused_code_beside_it() -> None:
    """The entries of the engine are a codec's from construction on: none may be left."""
    speed()
    found = pure(codec("VoteRequest", 0))
    assert found.backend == "pure"
    assert found.decode.__func__ is Codec.decode  # type: ignore[attr-defined]
    assert found.encode.__func__ is Codec.encode  # type: ignore[attr-defined]
