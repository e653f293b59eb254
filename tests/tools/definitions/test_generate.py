"""What is generated is up to date, and the check for that notices each way of not being so."""

from __future__ import annotations

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
