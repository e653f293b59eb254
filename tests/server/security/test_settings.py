"""Listeners, users and configs that cannot work, and where passwords do not go."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import UserScramCredentialRecord
from kafka_admin_proto.records.metadata.entities import ScramUser
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.security.users import Users, read_users


def test_a_file_of_users(tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text("# ours\n\nalice:wonder:land= \nªb:x\u2028y\n", "utf-8")
    assert read_users(file) == {"alice": "wonder:land= ", "ªb": "x\u2028y"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"hush", "line 1: expected NAME:PASSWORD"),
        (b"\n:hush", "line 2: expected NAME:PASSWORD"),
        (b"alice:", "line 1: expected NAME:PASSWORD"),
        (b"a:hush\na:hush", "line 2: the user 'a' is there already"),
        (b"a:hush\xff", "is not UTF-8"),
    ],
)
def test_files_of_users_that_are_none(tmp_path: Path, data: bytes, said: str) -> None:
    file = tmp_path / "users"
    file.write_bytes(data)
    with pytest.raises(SettingsError, match=said) as caught:
        read_users(file)
    assert "hush" not in f"{caught.value!r}"
    found = CliRunner().invoke(kap, ["serve", "--users", str(file)])
    assert found.exit_code == 2
    assert "hush" not in found.output


def test_passwords_are_in_no_text() -> None:
    users = Users({"alice": "hush"})
    assert repr(users) == "Users(alice)"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(users)
    with pytest.raises(SettingsError, match="cannot log in") as caught:
        Users({"alice": "hush\0"})
    assert "hush" not in f"{caught.value!r}"
    assert users.is_password("alice", "hush")
    assert not users.is_password("alice", "hus")
    assert not users.is_password("bob", "hush")


@pytest.mark.parametrize(
    ("listeners", "configs", "said"),
    [
        ({}, {}, "one listener or more"),
        ({"A": "TLS"}, {}, "security protocol 'TLS'; expected one of PLAINTEXT, SSL"),
        ({"A": "SSL", "a": "SSL"}, {}, "listener 'a' cannot be had"),
        ({"CONTROLLER": "PLAINTEXT"}, {}, "listener 'CONTROLLER' cannot be had"),
        ({"A": "SSL"}, {}, r"needs a certificate; set ssl.keystore.location"),
        (
            {"A": "SASL_PLAINTEXT"},
            {"sasl.enabled.mechanisms": "PLAIN,GSSAPI"},
            "expected some of PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        ),
        (
            {"A": "SASL_PLAINTEXT"},
            {"listener.name.a.connections.max.reauth.ms": "soon"},
            "connections.max.reauth.ms",
        ),
    ],
)
def test_listeners_that_cannot_work(
    listeners: dict[str, str], configs: dict[str, str], said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        Cluster(listeners=listeners, configs=configs)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--listener", "PLAINTEXT"], "--listener takes NAME:PROTOCOL, not 'PLAINTEXT'"),
        (["--listener", "A:SSL", "--listener", "A:SSL"], "names a listener twice"),
        (["--listener", "A:SSL"], "needs a certificate"),
        (["--users", "/nowhere"], "the users cannot be read: /nowhere: No such file"),
    ],
)
def test_arguments_that_cannot_work(arguments: list[str], said: str) -> None:
    found = CliRunner().invoke(kap, ["serve", *arguments])
    assert found.exit_code == 2
    assert said in " ".join(found.output.split())


def test_credentials_are_computed_beside_the_event_loop() -> None:
    """Other tasks have their turns meanwhile; what the cluster has already is not made again."""

    async def computed() -> tuple[int, list[UserScramCredentialRecord]]:
        users = Users({"alice": "hush", "ª": "hush"})
        task = asyncio.create_task(users.records({}))
        turns = 0
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        known = {
            (each.name, each.mechanism): ScramUser(
                each.iterations, each.salt, each.stored_key, each.server_key
            )
            for each in await task
        }
        assert await users.records(known) == []
        assert len(await Users({"alice": "another"}).records(known)) == 2
        return turns, await task

    turns, records = asyncio.run(computed())
    assert turns > 2
    assert [(each.name, each.mechanism) for each in records] == [("alice", 1), ("alice", 2)]
