"""A file of JSON that is damaged, deep or of another type is a mistake in one sentence, at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.server.security.authorizer.files import read_acls
from tests.helpers.kap import run_kap

#: Deeper than the readers go.
_DEEP = 100_000
TEXTS = {
    "no JSON": b"{",
    "deep list": b"[" * _DEEP,
    "deep list inside": b'{"version": 1, "partitions": ' + b"[" * _DEEP,
    "deep value of another key": b'{"version": 1, "x": ' + b'{"x":' * _DEEP,
    "not UTF-8": b'[{"topic": "\xff"}]',
    "too large": b'{"partitions": [{"topic": "t", "partition": 1e999, "offset": 1}]}',
    "no number": b'{"partitions": [{"topic": "t", "partition": NaN, "offset": 1}]}',
    "another type": b'{"version": 1, "partitions": 5, "topics": 5}',
    "rows of another type": b'{"version": 1, "partitions": [5], "topics": [5]}',
    "a number": b"7",
    "nothing": b"",
}
COMMANDS = (
    "partitions reassign --yes --reassignment-json-file",
    "partitions verify --reassignment-json-file",
    "partitions cancel --yes --reassignment-json-file",
    "partitions generate --broker-list 1 --topics-to-move-json-file",
    "leaders elect --yes --path-to-json-file",
    "offsets delete-records --yes --offset-json-file",
    "topics apply --yes",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_for_a_cluster(tmp_path: Path, command: str, text: str) -> None:
    file = tmp_path / "file.json"
    file.write_bytes(TEXTS[text])
    # Nobody listens there: a command that went on would say that.
    arguments = [*command.split(), str(file), "--bootstrap-server", "127.0.0.1:1"]
    result = run_kap(*arguments)
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2, result.output
    assert "127.0.0.1" not in result.output
    assert "Error: " in result.output


@pytest.mark.parametrize("text", TEXTS)
def test_acls(tmp_path: Path, text: str) -> None:
    file = tmp_path / "acls.json"
    file.write_bytes(TEXTS[text])
    with pytest.raises(
        SettingsError, match=r"acls\.json has no ACLs: expected a JSON list"
    ) as found:
        read_acls(file)
    assert "\n" not in str(found.value)
