"""OAUTHBEARER at a listener: tokens without a signature, and whose they are."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import AuthenticationError, SyncAdminClient
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.security.tokens import unsecured_owner_of
from tests.server.network.connections import connections_of

NOW_MS = 1_800_000_000_000
NOW_S = NOW_MS // 1000
SETTINGS: dict[str, Any] = {
    "listeners": {"SASL": "SASL_PLAINTEXT"},
    "configs": {"sasl.enabled.mechanisms": "OAUTHBEARER"},
}
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"


def token(claims: Any, header: Any = None, end: str = ".") -> str:
    parts = [{"alg": "none"} if header is None else header, claims]
    texts = [base64.urlsafe_b64encode(json.dumps(each).encode()).decode() for each in parts]
    return ".".join(each.rstrip("=") for each in texts) + end


def tokens(now_s: int, step_s: float) -> list[tuple[str, str | None]]:
    """Tokens, and whose they are ``now_s``, or within a step of it."""
    good = {"sub": "alice", "exp": now_s + step_s}
    return [
        (token(good), "alice"),
        (token({**good, "iat": now_s}), "alice"),
        (token({**good, "iat": now_s + 0.0004}), "alice"),
        (token({**good, "exp": now_s + step_s / 2, "iat": now_s - step_s / 2}), "alice"),
        (token({**good, "exp": now_s}), None),
        (token({**good, "iat": now_s + step_s}), None),
        (token({**good, "iat": now_s + step_s / 2, "exp": now_s + step_s / 4}), None),
        (token({**good, "iat": "now"}), None),
        (token({"sub": "alice"}), None),
        (token({**good, "exp": str(now_s + step_s)}), None),
        (token({**good, "exp": True}), None),
        (token({**good, "exp": float("nan")}), None),
        (token({"exp": now_s + step_s}), None),
        (token({**good, "sub": " "}), None),
        (token({**good, "sub": 1}), None),
        (token([good]), None),
        (token(good, {"alg": "RS256"}), None),
        (token(good, {}), None),
        (token(good, end=""), None),
        (token(good, end=".c2ln"), None),
        ("..", None),
        ("A.A.", None),
        (f"{token(good)[:20]}.{base64.urlsafe_b64encode(b'[' * 100_000).decode()}.", None),
    ]


@pytest.mark.parametrize(("text", "owner"), tokens(NOW_S, step_s=1))
def test_whose_a_token_is(text: str, owner: str | None) -> None:
    found = unsecured_owner_of(text, NOW_MS)
    assert (found and found.name) == owner


def test_how_long_a_token_is_valid() -> None:
    """Kafka rounds the end to milliseconds, and takes one that no clock reaches for the last."""
    for end, lifetime_ms in ((NOW_S + 5, 5000), (NOW_S + 1.5, 1500), (10**400, (1 << 63) - NOW_MS)):
        text = token({"sub": "alice", "exp": end})
        assert unsecured_owner_of(text, NOW_MS) == ("alice", lifetime_ms)


@given(st.text("ABCabc012-_.=", max_size=60), st.text(max_size=20))
def test_any_text_is_of_nobody(text: str, other: str) -> None:
    assert unsecured_owner_of(text, NOW_MS) is None
    assert unsecured_owner_of(other, NOW_MS) is None


def test_a_client_is_the_subject_of_its_token() -> None:
    properties = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f'{MODULE} unsecuredLoginStringClaim_sub="alice";',
    }
    with (
        SyncCluster(**SETTINGS) as cluster,
        SyncAdminClient(cluster.bootstrap_servers, command_config=properties) as admin,
    ):
        assert admin.list_topics() == []
        assert {each._principal for each in connections_of(cluster)} == {"User:alice"}


def test_a_token_that_is_not_valid_is_refused() -> None:
    with (
        SyncCluster(**SETTINGS) as cluster,
        SyncAdminClient(
            cluster.bootstrap_servers,
            sasl_mechanism="OAUTHBEARER",
            sasl_oauth_token_provider=lambda: token({"sub": "alice", "exp": 1}),
        ) as admin,
        pytest.raises(AuthenticationError, match=r'\(58\): {"status":"invalid_token"}$'),
    ):
        admin.list_topics()


def test_tokens_are_taken_where_they_are_enabled_alone() -> None:
    users = {"alice": "alice-secret"}
    with (
        SyncCluster(listeners=SETTINGS["listeners"], users=users) as cluster,
        SyncAdminClient(
            cluster.bootstrap_servers,
            sasl_mechanism="OAUTHBEARER",
            sasl_oauth_token_provider=lambda: "a.b.",
        ) as admin,
        pytest.raises(AuthenticationError, match="UNSUPPORTED_SASL_MECHANISM"),
    ):
        admin.list_topics()
    with pytest.raises(SettingsError, match=r"expected some of .*OAUTHBEARER"):
        SyncCluster(**{**SETTINGS, "configs": {"sasl.enabled.mechanisms": "GSSAPI"}})
