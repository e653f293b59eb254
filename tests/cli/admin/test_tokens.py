"""``kap tokens``: an HMAC, which is a password, is shown once, and where it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.conftest import Run
from tests.helpers.kap import ended
from tests.server.security.secured import PASSWORDS
from tests.server.security.token_story import KEY


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    listeners = {"SASL": "SASL_PLAINTEXT"}
    with SyncCluster(listeners=listeners, users=PASSWORDS, configs=KEY) as cluster:
        yield cluster


@pytest.fixture
def login(run: Run, tmp_path: Path) -> Run:
    """Runs ``kap`` as bob, from a file as Java's tools have it."""
    file = tmp_path / "bob.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
        "sasl.username=bob\nsasl.password=bob-secret\n"
    )

    def run_kap(arguments: str, data: str | None = None, env: Any = None) -> Any:
        return run(f"{arguments} --command-config {file}", data, env)

    return run_kap


def test_a_token_from_its_beginning_to_its_end(login: Run) -> None:
    assert login("tokens list").stderr == "no tokens\n"
    created = ended(login("tokens create --renewer-principal User:anna -o json"))
    (token,) = json.loads(created.stdout)["tokens"]
    assert (token["owner"], token["requester"]) == ("User:bob", "User:bob")
    assert token["renewers"] == ["User:anna"]
    assert token["hmac"] not in login("tokens list").stdout
    assert token["hmac"] in login("tokens list --show-secrets").stdout
    of_another = login("tokens list --owner-principal User:admin")
    assert of_another.stderr == "no tokens\n"

    renewed = login(f"tokens renew {token['token_id']} other --renew-time-period 3600000 -o json")
    assert renewed.exit_code == 1
    document = json.loads(renewed.stdout)
    first, second = document["tokens"]
    assert first["expires_ms"] < token["expires_ms"]  # an hour is less than a day
    assert second["error"] == "DELEGATION_TOKEN_NOT_FOUND"
    assert [each["token_id"] for each in document["errors"]] == ["other"]

    expired = login(f"tokens expire {token['token_id']} --yes")
    assert (expired.exit_code, expired.stderr) == (0, f"expired: {token['token_id']}\n")
    assert login("tokens list").stderr == "no tokens\n"


def test_a_principal_without_its_type(login: Run) -> None:
    result = ended(login("tokens create --owner-principal anna"), 2)
    assert "'anna' is no principal; write its type in front" in result.stderr


def test_an_end_later_than_now_is_asked_for_by_a_period(login: Run) -> None:
    created = login("tokens create --max-life-time-period 7200000 -o json")
    (token,) = json.loads(created.stdout)["tokens"]
    assert token["max_ms"] - token["issued_ms"] == 7_200_000
    later = login(f"tokens expire {token['token_id']} --expiry-time-period 60000 --yes")
    assert later.stderr == f"will expire: {token['token_id']}\n"
    assert login("tokens list -o jsonl").stdout.count("\n") == 1
