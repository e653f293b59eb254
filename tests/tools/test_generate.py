"""What is generated is up to date, and the check for that notices each way of not being so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import generate


@pytest.fixture(scope="module")
def files() -> dict[Path, str]:
    return generate.outputs()


def test_everything_generated_is_up_to_date(files: dict[Path, str]) -> None:
    assert generate.differences(files) == []


def test_missing_stale_and_changed_files_are_noticed(
    files: dict[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted = {tmp_path / path.relative_to(generate.ROOT): text for path, text in files.items()}
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "MESSAGES", tmp_path / "kafka_admin_proto" / "messages")
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert generate.differences(wanted) == []
    messages = tmp_path / "kafka_admin_proto" / "messages"
    (messages / "vote_request.py").unlink()
    (messages / "old_request.py").write_text("")
    (messages / "fetch_request.py").write_text("# edited")
    assert generate.differences(wanted) == [
        "differs: kafka_admin_proto/messages/fetch_request.py",
        "missing: kafka_admin_proto/messages/vote_request.py",
        "stale: kafka_admin_proto/messages/old_request.py",
    ]


def test_a_new_message_is_one_file_and_what_is_generated(tmp_path: Path) -> None:
    """As CONTRIBUTING.md says: a definition, `make generate`, and the package has the message."""
    names = ("kafka_admin_proto", "schemas", "tools", "pyproject.toml")
    for name in names:
        source = generate.ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    before = contents(tmp_path)
    new = tmp_path / "schemas" / "kafka" / "PingRequest.json"
    new.write_text(
        '{"apiKey": 900, "type": "request", "name": "PingRequest", "validVersions": "0-1",'
        ' "flexibleVersions": "1+", "fields": [{"name": "Text", "type": "string",'
        ' "versions": "0+"}]}'
    )
    run_in(tmp_path, "-m", "tools.generate")
    after = contents(tmp_path)
    changed = {path for path in after if after[path] != before.get(path)}
    assert before.keys() <= after.keys()
    assert changed == {
        "schemas/kafka/PingRequest.json",
        "schemas/index.json",
        "kafka_admin_proto/messages/__init__.py",
        "kafka_admin_proto/messages/ping_request.py",
    }
    run_in(tmp_path, "-m", "tools.generate", "--check")
    program = (
        "from kafka_admin_proto import PingRequest as P;"
        "print(P.decode(P('x').encode(1), 1), P.api_key)"
    )
    assert run_in(tmp_path, "-c", program) == "PingRequest(text='x') 900\n"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def run_in(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
