"""What is generated is up to date, and the check for that notices each way of not being so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.overlay import MessageOverlay, read_overlay, unknown_paths
from tools.definitions import generate


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
    names = ("kafka_admin_proto", "schemas", "tools", "pyproject.toml", *generate.COUNTED)
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
    run_in(tmp_path, "-m", "tools.definitions.generate")
    after = contents(tmp_path)
    changed = {path for path in after if after[path] != before.get(path)}
    assert before.keys() <= after.keys()
    assert changed == {
        "schemas/kafka/PingRequest.json",
        "schemas/index.json",
        "kafka_admin_proto/messages/__init__.py",
        "kafka_admin_proto/messages/ping_request.py",
        *generate.COUNTED,
    }
    assert new.read_text().count("\n") > 5  # in the form of the others
    run_in(tmp_path, "-m", "tools.definitions.generate", "--check")
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


def spec_of(*fields: str) -> MessageSpec:
    listed = ", ".join(f"{{{field}}}" for field in fields)
    return read_message(
        '{"apiKey": 900, "type": "request", "name": "PingRequest", "validVersions": "0",'
        f' "flexibleVersions": "none", "fields": [{listed}]}}',
        file="PingRequest.json",
    )


TEXT = '"name": "%s", "type": "string", "versions": "0+"'
NESTED = '"name": "%s", "type": "[]Inner", "versions": "0+", "fields": [{%s}]'
NUMBER = '"name": "%s", "type": "int32", "versions": "0+"'


@pytest.mark.parametrize(
    "name",
    ["Secret", "ClientSecret", "Password", "UserPwd", "Passphrase", "Token", "AccessToken", "Hmac",
     "Salt", "Credentials", "PrivateKey", "ApiKey", "AccessKey", "AuthData", "License", "Signature",
     "StoredKey", "JaasConfig"],
)  # fmt: skip
def test_somebody_has_to_say_whether_a_field_is_a_credential(name: str) -> None:
    for spec, path in [
        (spec_of(TEXT % name), name),
        (spec_of(TEXT.replace("string", "[]bytes") % name), name),
        (spec_of(NESTED % ("Items", TEXT % name)), f"Items.{name}"),
        (spec_of(NESTED % (f"{name}s", TEXT % "Text")), f"{name}s"),
    ]:
        with pytest.raises(SystemExit, match=rf"PingRequest\.json.*: {path}; list each") as caught:
            generate._check_credentials(spec, MessageOverlay())
        assert '"notSensitive"' in str(caught.value)
        generate._check_credentials(spec, MessageOverlay(sensitive=[path]))
        generate._check_credentials(spec, MessageOverlay(not_sensitive=[path]))


def test_numbers_and_other_names_are_not_asked_for() -> None:
    names = ("AuthorizedOperations", "Author", "Key", "Name", "TopicId", "Principal")
    fields = [TEXT % name for name in names]
    numbers = [NUMBER % "Password", NUMBER % "TokenCount"]
    spec = spec_of(*fields, *numbers, NESTED % ("Tokens", NUMBER % "Id"))
    generate._check_credentials(spec, MessageOverlay())


def test_what_is_no_credential_is_not_said_in_vain() -> None:
    spec = spec_of(TEXT % "Token", TEXT % "Text")
    for overlay in (
        MessageOverlay(sensitive=["Token"], not_sensitive=["Token"]),
        MessageOverlay(not_sensitive=["Token", "Text"]),
    ):
        with pytest.raises(SystemExit, match="remove it there"):
            generate._check_credentials(spec, overlay)
    with pytest.raises(msgspec.ValidationError, match="notSensitiv"):
        read_overlay(b'{"PingRequest": {"notSensitiv": []}}')
    assert unknown_paths(spec, MessageOverlay(not_sensitive=["Gone"])) == ["Gone"]
