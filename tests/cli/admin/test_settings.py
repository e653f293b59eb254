"""``kap`` says which settings have no effect, and that a password goes over in the clear."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_admin_proto.cli.admin.common import client
from kafka_admin_proto.cli.admin.common.live import ShellState
from kafka_admin_proto.cli.admin.common.settings import Settings
from tests.cli.admin.conftest import Run
from tests.helpers.kap import ended

LOGIN = (
    "sasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain."
    'PlainLoginModule required username="alice" password="hush";\n'
)


@pytest.mark.parametrize(
    ("properties", "env", "said"),
    [
        ("retries=5\ncompression.type=zstd\n", {}, "no effect here: compression.type, retries"),
        (
            "client.id=me\n",
            {"KAP_SASL_USERNAME": "a", "KAP_SASL_PASSWORD": "hush"},
            "no effect: KAP_SASL_USERNAME, KAP_SASL_PASSWORD; the command's configuration has no "
            "security.protocol with SASL",
        ),
        ("client.id=me\n", {}, ""),
    ],
)
def test_a_setting_without_effect_is_said(
    run: Run, tmp_path: Path, properties: str, env: dict[str, str], said: str
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(properties)
    assert ended(run(f"topics list --command-config {file} -o tsv", env=env)).stderr.strip() == said


def test_placeholders_of_a_file_are_looked_up(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAGE", "test")
    file = tmp_path / "client.properties"
    file.write_text("config.providers=env\nclient.id=app-${env:STAGE}\n")
    settings = Settings(bootstrap_server="a:1", command_config=str(file))
    assert client.client_arguments(settings, may_ask=False)["client_id"] == "app-test"
    file.write_text("config.providers=vault\nclient.id=app-${vault:x:y}\n")
    result = ended(run(f"topics list --command-config {file}"), 2)
    assert "client.id: the provider vault is not one that this client" in result.stderr


def test_a_password_in_the_clear_is_said_once(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(LOGIN)
    options = f"-b kafka.invalid:9092 --timeout 0.3 --command-config {file}"
    stderr = run(f"topics list {options}", env={"KAP_SASL_USERNAME": "bob"}).stderr
    said = "warning: the password goes to kafka.invalid:9092 in the clear: PLAIN without TLS"
    assert stderr.count(said) == 1
    assert "no effect: KAP_SASL_USERNAME; the command's configuration has the login" in stderr
    assert "hush" not in stderr


@pytest.mark.parametrize(
    ("properties", "login"),
    [
        ("sasl.username=alice\n", ("alice", "of-env")),
        ("sasl.password=of-file\n", ("bob", "of-file")),
        ("", ("bob", "of-env")),
    ],
)
def test_what_the_file_has_goes_before_the_environment(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    properties: str,
    login: tuple[str, str],
) -> None:
    """The other half of a login is the environment's, and what is not used is said."""
    env = {"KAP_SASL_USERNAME": "bob", "KAP_SASL_PASSWORD": "of-env"}
    for name, text in env.items():
        monkeypatch.setenv(name, text)
    file = tmp_path / "client.properties"
    file.write_text(f"sasl.mechanism=PLAIN\n{properties}")
    settings = Settings(bootstrap_server="a:1", command_config=str(file))
    found = client.client_arguments(settings, may_ask=True)
    assert (found["sasl_username"], found["sasl_password"]) == login
    idle = [name for name, text in env.items() if text not in login]
    said = f"no effect: {idle[0]}; the command's configuration has it\n" if idle else ""
    assert capsys.readouterr().err == said


def test_completion_says_nothing_of_it_and_the_next_command_does(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in the system's shell, where a line is being typed, nor at the prompt of ours."""
    file = tmp_path / "client.properties"
    file.write_text(LOGIN + "retries=5\n")
    words = f"kap topics describe --command-config {file} "
    env = {"_KAP_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "5"}
    far = {"KAP_BOOTSTRAP_SERVER": "kafka.invalid:9092"}
    assert run("", env={**env, **far}).stderr == ""

    async def names(client: object) -> list[str]:
        return ["orders"]

    state = ShellState(Settings(bootstrap_server="kafka.invalid:9092", command_config=str(file)))
    thread = threading.Thread(target=lambda: found.extend(state.names("topics", names)))
    found: list[str] = []
    thread.start()
    thread.join()
    assert (found, capsys.readouterr().err) == (["orders"], "")
    for said in (["warning: the password goes to kafka", "no effect here: retries"], []):
        state.connection.ask(names)
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == len(said)
        assert all(map(str.startswith, lines, said))
    state.connection.close()


def test_other_warnings_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def old(*_: Any) -> Any:
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return SimpleNamespace(config=SimpleNamespace(unused=()))

    monkeypatch.setattr(client, "_new_client", old)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        client.new_client({}, [])
    assert [(str(each.message), each.category) for each in caught] == [("old", DeprecationWarning)]


def test_settings_of_tls_without_a_protocol_are_tls(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(LOGIN + "ssl.truststore.location=/nowhere/ca.pem\n")
    result = run(f"topics list --command-config {file}")
    assert result.exit_code != 0
    assert "ssl.truststore.location: cannot read /nowhere/ca.pem" in result.stderr
