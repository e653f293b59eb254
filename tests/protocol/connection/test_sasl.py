"""SASL on both sides: mechanisms, both forms of tokens, refusals, re-authentication."""

from __future__ import annotations

import pytest

from kafka_admin_proto.protocol import Api, api_versions
from kafka_admin_proto.protocol.connection import (
    Authenticated,
    Ready,
    Sasl,
    SaslPlain,
    SaslScram,
    State,
)
from kafka_admin_proto.schema.versions import VersionRange
from tests.protocol.connection.pair import PASSWORDS, SASL_SERVER, Pair

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def login(mechanism: str, user: str = "alice", password: str | None = None) -> Sasl:
    password = PASSWORDS[user] if password is None else password
    if mechanism == "PLAIN":
        return SaslPlain(user, password)
    return SaslScram(mechanism, user, password)


def apis_with(handshake: int, authenticate: int | None) -> list[Api]:
    """All apis, those of SASL up to the given versions; None is an api that is not there."""
    highest = {"SaslHandshake": handshake, "SaslAuthenticate": authenticate}
    found = []
    for each in api_versions():
        top = highest.get(each.name, each.versions.highest)
        if top is not None:
            found.append(Api(each.api_key, each.name, VersionRange(each.versions.lowest, top)))
    return found


@pytest.mark.parametrize("user", PASSWORDS)
@pytest.mark.parametrize("versions", [(0, None), (1, 0), (1, 1), (1, 2)])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_user_with_the_right_password(
    mechanism: str, versions: tuple[int, int | None], user: str
) -> None:
    pair = Pair(
        client={"sasl": login(mechanism, user)},
        server={"sasl": SASL_SERVER, "apis": apis_with(*versions)},
    ).start()
    lifetime_ms = 60_000 if versions[1] else 0
    assert pair.at_server == [Authenticated(f"User:{user}", mechanism, lifetime_ms, again=False)]
    [ready] = pair.at_client
    assert isinstance(ready, Ready)
    assert ready.session_lifetime_ms == lifetime_ms
    assert pair.client.state is pair.server.state is State.READY
    assert pair.server.principal == f"User:{user}"
