"""Listeners, users and configs that cannot work, and where passwords do not go."""

from __future__ import annotations

import asyncio
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.records.metadata.entities import ScramUser
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.configs.given import checked_configs
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.security.listeners import _OF_CLIENTS, _READ_BY
from kafka_admin_proto.server.security.users import Users, read_users
from tests.helpers.kap import ended, run_kap

_RELEASE = ReleaseNumber(4, 4)


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
        (b"# hush\n\n", "has no users; write lines NAME:PASSWORD"),
    ],
)
def test_files_of_users_that_are_none(tmp_path: Path, data: bytes, said: str) -> None:
    file = tmp_path / "users"
    file.write_bytes(data)
    with pytest.raises(SettingsError, match=said) as caught:
        read_users(file)
    assert "hush" not in f"{caught.value!r}"
    assert "hush" not in ended(run_kap("serve --users", str(file)), 2).output


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


_PLAIN = {"PLAINTEXT": "PLAINTEXT"}
_LOGIN = {**_PLAIN, "LOGIN": "SASL_PLAINTEXT"}


@pytest.mark.parametrize("name", _READ_BY)
def test_a_config_that_no_listener_reads(name: str) -> None:
    """One of another listener's protocol is refused too, and one that a listener reads is not."""
    value = definitions(_RELEASE).in_properties[name].default or "1"
    for config, listeners in (
        (name, _PLAIN),
        (f"listener.name.plaintext.{name}", {**_PLAIN, "B": _READ_BY[name][0]}),
    ):
        with pytest.raises(SettingsError, match=f"^the config {config} has no effect: it is read"):
            Cluster(configs={config: value}, listeners=listeners, users={"a": "b"})
        given = {config: value}
        if name in _OF_CLIENTS:
            given["listener.name.plaintext.ssl.client.auth"] = "requested"
        read = checked_configs(given, _RELEASE, {"PLAINTEXT": _READ_BY[name][0]}, has_policy=False)
        assert read == given


@pytest.mark.parametrize("name", _OF_CLIENTS)
@pytest.mark.parametrize("auth", [{}, {"ssl.client.auth": "none"}])
def test_certificates_that_no_listener_asks_for(name: str, auth: dict[str, str]) -> None:
    """A listener of SASL_SSL asks by its own config alone."""
    value = definitions(_RELEASE).in_properties[name].default or "PEM"
    for config in (name, f"listener.name.a.{name}"):
        for protocol in _READ_BY[name]:
            needs = f"^the config {config} has no effect: no listener of A:{protocol} asks clients"
            own = {f"listener.name.a.{key}": each for key, each in auth.items()}
            with pytest.raises(SettingsError, match=needs):
                checked_configs({config: value} | own, _RELEASE, {"A": protocol}, has_policy=False)
    both = {f"listener.name.a.{name}": value, "listener.name.b.ssl.client.auth": "required"}
    with pytest.raises(SettingsError, match="no listener of A:SSL asks clients"):
        checked_configs(both, _RELEASE, {"A": "SSL", "B": "SSL"}, has_policy=False)


def test_security_configs_that_nothing_reads() -> None:
    """Whatever Kafka defines for TLS and SASL is read, or refused; ``ssl.protocol`` is neither."""
    names = [
        each for each in definitions(_RELEASE).in_properties if each.startswith(("ssl.", "sasl."))
    ]
    for name in {*names} - {*_READ_BY, "ssl.protocol"}:
        value = definitions(_RELEASE).in_properties[name].default or "1"
        for config in (name, f"listener.name.a.{name}"):
            with pytest.raises(SettingsError, match=f"^the config {config} has no effect in this"):
                checked_configs({config: value}, _RELEASE, {"A": "SASL_SSL"}, has_policy=False)
    jaas = {"listener.name.a.plain.sasl.jaas.config": "x required user_alice=word;"}
    with pytest.raises(
        SettingsError, match=r"in this cluster; give the users as users, or --users"
    ):
        checked_configs(jaas, _RELEASE, {"A": "SASL_SSL"}, has_policy=False)


def test_the_docs_list_the_configs_that_listeners_read() -> None:
    page = (Path(__file__).parents[3] / "docs" / "server-security.md").read_text("utf-8")
    section = page.partition("\n## Listeners\n")[2].partition("\n## ")[0]
    rows = [row for row in section.splitlines() if row.startswith("| `")]
    names = [name for row in rows for name in re.findall(r"`([a-z]+\.[a-z.]+)", row)]
    assert sorted(names) == sorted(_READ_BY)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"listeners": {"LOGIN": "SASL_PLAINTEXT"}}, "nobody can log in at the listener LOGIN"),
        (
            {"listeners": _LOGIN, "configs": {"sasl.enabled.mechanisms": "PLAIN"}},
            "nobody can log in at the listener LOGIN",
        ),
        ({"users": {"ª": "hush"}}, "the user 'ª' can never log in"),
        (
            {
                "listeners": _LOGIN,
                "users": {"a": "b", "ª": "hush"},
                "configs": {"listener.name.login.sasl.enabled.mechanisms": "SCRAM-SHA-512"},
            },
            "the user 'ª' can never log in",
        ),
    ],
)
def test_a_login_that_nobody_has(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=f"^{said}"):
        Cluster(**arguments)


@pytest.mark.parametrize("arguments", [{"listeners": _LOGIN}, {"users": {"a": "b"}}], ids=str)
def test_users_that_are_made_or_described(arguments: dict[str, Any]) -> None:
    """A client of the open listener makes users; without SASL they are described all the same."""
    with SyncCluster(**arguments) as cluster:
        made = cluster.state.cluster.scram_users
        assert {name for name, _ in made} == set(arguments.get("users", {}))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--listener", "PLAINTEXT"], "--listener takes NAME:PROTOCOL, not 'PLAINTEXT'"),
        (["--listener", "A:SSL", "--listener", "A:SSL"], "--listener names A twice; leave one out"),
        (["--config", "a=1", "--config", "a=2"], "--config names a twice; leave one out"),
        (
            ["--api-versions", "Fetch=0-1", "--api-versions", "Fetch=0"],
            "--api-versions names Fetch twice; leave one out",
        ),
        (["--listener", "A:SSL"], "needs a certificate"),
        (["--users", "/nowhere"], "the users cannot be read: /nowhere: No such file"),
    ],
)
def test_arguments_that_cannot_work(arguments: list[str], said: str) -> None:
    assert said in " ".join(ended(run_kap("serve", *arguments), 2).output.split())


async def test_credentials_are_computed_beside_the_event_loop() -> None:
    """Other tasks have their turns meanwhile; what the cluster has already is not made again."""

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
    records = await task
    assert turns > 2
    assert [(each.name, each.mechanism) for each in records] == [("alice", 1), ("alice", 2)]
