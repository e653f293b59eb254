"""Placeholders in properties are looked up as Kafka's providers do, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import ConfigurationError, client_config
from kafka_admin_proto.admin.settings.providers import resolve

_PACKAGE = "org.apache.kafka.common.config.provider."
_CLASSES = {
    "config.providers": "file,env, directory",
    "config.providers.file.class": f"{_PACKAGE}FileConfigProvider",
    "config.providers.env.class": f"{_PACKAGE}EnvVarConfigProvider",
    "config.providers.directory.class": f"{_PACKAGE}DirectoryConfigProvider",
}


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "secrets.properties").write_text("password=grün\\u00e4\nname = bob \n", "utf-8")
    (tmp_path / "token").write_text("hunter2\n")
    (tmp_path / "latin").write_text("password=grün", "latin-1")
    monkeypatch.setenv("STAGE", "test")
    monkeypatch.setenv("HOST", "kafka-1")
    monkeypatch.setenv("AGAIN", "${env:STAGE}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("classes", [_CLASSES, {"config.providers": "file,env,directory"}])
def test_placeholders_anywhere_in_a_value(secrets: Path, classes: dict[str, str]) -> None:
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    login = 'required username="${env:STAGE}" password="${file:secrets.properties:password}";'
    config = client_config(
        command_config={
            **classes,
            "bootstrap.servers": "a:1,${env:HOST}:9092,${env:HOST}:9093",
            "client.id": "app-${env:STAGE}-${directory:" + str(secrets) + ":token}",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "SCRAM-SHA-256",
            "sasl.jaas.config": f"{module} {login}",
        }
    )
    assert list(map(str, config.addresses)) == ["a:1", "kafka-1:9092", "kafka-1:9093"]
    assert config.client_id == "app-test-hunter2"
    assert (config.sasl_username, config.sasl_password) == ("test", "grünä")
    assert config.unused == ()


def test_what_was_looked_up_is_no_placeholder(secrets: Path) -> None:
    found = resolve({**_CLASSES, "client.id": "${env:AGAIN}"})
    assert found == {"client.id": "${env:STAGE}"}
    assert resolve(found) == found


@given(st.dictionaries(st.text("ab.", min_size=1), st.text("${}:aenv/")))
def test_without_providers_each_text_is_itself(properties: dict[str, str]) -> None:
    assert resolve(properties) == properties


@pytest.mark.parametrize(
    ("value", "more", "said"),
    [
        ("a${vault:x:y}b", {"config.providers": "vault"}, "the provider vault is not one that"),
        ("${file:x:y}", {"config.providers.file.class": "com.acme.V"}, r"file \(com.acme.V\)"),
        ("${grün:x:y}", {}, "of a provider that is not in config.providers, which has file, env"),
        ("${file:nothere:y}", {}, "cannot read nothere: No such file"),
        ("${file:secrets.properties:passwort}", {}, "secrets.properties has no property passwort"),
        ("${file:secrets.properties:pass{word}", {}, "has no property pass{word"),
        ("${{env:STAGE}", {}, "of a provider that is not in config.providers"),
        ("${file:password}", {}, "no file has password: a placeholder of a file names its path"),
        ("${file:latin:password}", {}, "latin is not UTF-8"),
        ("${directory:.:latin}", {}, "latin is not UTF-8"),
        ("${env:NOT_SET}", {}, "the environment has no variable NOT_SET"),
        ("${env:x:STAGE}", {}, "has no path, and 'x' is one"),
        ("${directory:/:../token}", {}, "is not the name of a file in the directory"),
        ("${directory:.:nothere}", {}, "cannot read nothere: No such file"),
        ("${file:secrets.properties:name}", {"config.providers.file.param.allowed.paths": "/no"},
         "secrets.properties is not below allowed.paths"),
        ("${file:secrets.properties:name}", {"config.providers.file.param.allowed.paths": ","},
         "secrets.properties is not below allowed.paths"),
        ("${file:secrets.properties:name}", {"config.providers.file.param.allowed.paths": "."},
         "secrets.properties is not below allowed.paths, which are absolute"),
        ("${env:STAGE}", {"config.providers.env.param.allowlist.pattern": "STAG"},
         "the variable STAGE does not match allowlist.pattern 'STAG'"),
        ("${env:STAGE}", {"config.providers.env.param.allowlist.pattern": "^HOST$"},
         r"the variable STAGE does not match allowlist.pattern '\^HOST\$'"),
    ],
)  # fmt: skip
def test_what_cannot_be_looked_up_is_refused(
    secrets: Path, value: str, more: dict[str, str], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"client.id.*{said}") as caught:
        client_config("a:1", command_config={**_CLASSES, "client.id": value, **more})
    assert "grün" not in str(caught.value)


def test_what_is_allowed_is_looked_up(secrets: Path) -> None:
    allowed = {
        "config.providers.file.param.allowed.paths": f"/no,{secrets}/../{secrets.name}/",
        "config.providers.env.param.allowlist.pattern": "^ST.*",
    }
    properties = {**_CLASSES, **allowed, "a": "${file:secrets.properties:name}${env:STAGE}"}
    assert resolve(properties) == {"a": "bob test"}
