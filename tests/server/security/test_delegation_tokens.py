"""Delegation tokens (KIP-48): who has them, how they end, and how clients log in with them.

``test_beside_real.py`` plays the story at a real broker too.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.admin import AuthenticationError, BrokerError, SyncAdminClient
from kafka_admin_proto.messages import CreateDelegationTokenRequest, CreateDelegationTokenResponse
from kafka_admin_proto.messages.create_acls_request import AclCreation
from kafka_admin_proto.messages.create_delegation_token_request import CreatableRenewers
from kafka_admin_proto.protocol import (
    FrameReader,
    api_keys,
    codes,
    frame,
    read_response,
    write_request,
)
from kafka_admin_proto.protocol.connection import SaslServer, ScramCredential
from kafka_admin_proto.server import SyncCluster, delegation_tokens
from kafka_admin_proto.server.delegation_tokens import hmac_of
from kafka_admin_proto.server.security.authorizer import rules
from kafka_admin_proto.server.state import State
from tests.server.security.authorizer.test_apis import SECURED
from tests.server.security.secured import PASSWORDS, Certificates, peer, secured_cluster
from tests.server.security.test_tls import tls
from tests.server.security.token_story import KEY, TokenStory, with_token
from tests.server.served import Served

_HOUR_MS, _DAY_MS = 3_600_000, 86_400_000
ALL = m.DescribeDelegationTokenRequest(None)


def created(served: Served, principal: str, *renewers: str) -> CreateDelegationTokenResponse:
    named = [CreatableRenewers("User", each) for each in renewers]
    answer = served.ask(CreateDelegationTokenRequest("", "", named), principal=principal)
    assert isinstance(answer, CreateDelegationTokenResponse)
    assert answer.error_code == 0
    return answer


def seen_by(served: Served, principal: str) -> list[str]:
    return [each.token_id for each in served.ask(ALL, principal=principal).tokens]


def test_the_story(certificates: Certificates) -> None:
    with secured_cluster(certificates, configs=KEY) as cluster:
        answers = TokenStory(cluster.addresses).play()
        assert answers[:4] == [(64, "User", "ANONYMOUS", "User", "ANONYMOUS", -1, 0, 0, 0, 0),
                            (64, -1), (64, -1), 64]  # fmt: skip
        assert answers[-2:] == [
            (0, 0),
            None,
        ]  # who has a token that is over gets in, and no further


def test_connections_that_may_not_ask(certificates: Certificates) -> None:
    """Of TLS those of clients that show no certificate."""
    with secured_cluster(certificates, configs=KEY) as cluster:
        for listener, shows, code in (
            ("TLS", None, codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED),
            ("MUTUAL", certificates.client, 0),
        ):
            with tls(cluster.addresses(listener), certificates, shows) as client:
                client.sendall(frame(write_request(ALL, 3, 1)))
                (payload,) = FrameReader().feed(client.recv(1 << 16))
                body: Any = read_response(payload, api_keys.DESCRIBE_DELEGATION_TOKEN, 3).body
                assert body.error_code == code


def test_clients_of_admins(certificates: Certificates) -> None:
    """One makes a token, others log in with it, by arguments or as a file of Java's has it."""
    with secured_cluster(certificates, configs=KEY) as cluster:
        address = cluster.addresses("SASL")
        with SyncAdminClient(
            address, security_protocol="SASL_PLAINTEXT", sasl_mechanism="SCRAM-SHA-256",
            sasl_username="bob", sasl_password=PASSWORDS["bob"],
        ) as bob:  # fmt: skip
            token = bob.create_delegation_token(renewers=["User:anna"])
            assert bob.describe_delegation_tokens() == [token]
        password = base64.b64encode(token.hmac).decode()
        module = "org.apache.kafka.common.security.scram.ScramLoginModule required"
        login = f'{module} username="{token.token_id}" password="{password}" tokenauth="true";'
        in_file = {
            "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": login,
        }  # fmt: skip
        settings: dict[str, Any]
        for settings in (
            {"command_config": in_file},
            {
                "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-256",
                "sasl_username": token.token_id, "sasl_password": password,
                "sasl_delegation_token": True,
            },
        ):  # fmt: skip
            with SyncAdminClient(address, **settings) as client:
                assert client.describe_cluster().nodes
                with pytest.raises(BrokerError, match="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"):
                    client.renew_delegation_token(token.hmac)
        with (
            SyncAdminClient(address, **{**settings, "sasl_password": "d3Jvbmc="}) as client,
            pytest.raises(AuthenticationError, match="refused delegation token"),
        ):
            client.describe_cluster()


def test_without_a_key_there_are_no_tokens() -> None:
    served = Served()
    for request in (
        CreateDelegationTokenRequest(), m.RenewDelegationTokenRequest(),
        m.ExpireDelegationTokenRequest(), ALL,
    ):  # fmt: skip
        assert served.ask(request).error_code == codes.DELEGATION_TOKEN_AUTH_DISABLED
    assert served.state.cluster.delegation_tokens == {}


@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_request_for_a_token_does_not_pay_for_all_tokens(
    is_loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Served(configs=KEY)
    tokens = [created(served, "User:bob") for _ in range(9)]
    if is_loaded:
        state = served.state
        served.state = State(state.release, state.cluster_id, state.static, state.cluster.copied())
        served.state.clock = state.clock

    computed: list[str] = []

    def computes(key: bytes, token_id: str) -> bytes:
        computed.append(token_id)
        return hmac_of(key, token_id)

    monkeypatch.setattr(delegation_tokens, "hmac_of", computes)
    for each in tokens:
        renewed = served.ask(m.RenewDelegationTokenRequest(each.hmac), principal="User:bob")
        assert renewed.error_code == 0
    unknown = served.ask(m.RenewDelegationTokenRequest(b"unknown"), principal="User:bob")
    assert unknown.error_code == codes.DELEGATION_TOKEN_NOT_FOUND
    assert computed == [each.token_id for each in tokens], "as their records come"


def test_the_older_name_of_the_key() -> None:
    configs = {"delegation.token.master.key": "k"}
    assert Served("3.9", configs=configs).ask(ALL).error_code == 0
    with pytest.raises(KeyError):
        _ = Served("4.4").state.definitions.brokers["delegation.token.master.key"]


def test_a_level_of_metadata_version_without_tokens() -> None:
    served = Served(configs=KEY)
    for level, code in ((13, codes.UNSUPPORTED_VERSION), (14, 0)):
        served.state.append([m.FeatureLevelRecord("metadata.version", level)])
        assert served.ask(CreateDelegationTokenRequest()).error_code == code


def test_who_sees_a_token() -> None:
    served = Served(configs={**SECURED, **KEY})
    token = created(served, "User:bob", "ren")
    assert [seen_by(served, f"User:{each}") for each in ("bob", "ren", "admin", "eve")] == [
        [token.token_id], [token.token_id], [token.token_id], []
    ]  # fmt: skip
    for kind, name, operation, principal in (
        (rules.DELEGATION_TOKEN, token.token_id, rules.DESCRIBE, "User:eve"),
        (rules.USER, "User:bob", rules.DESCRIBE_TOKENS, "User:mallory"),
    ):
        assert seen_by(served, principal) == []
        row = AclCreation(kind, name, rules.LITERAL, principal, "*", operation, rules.ALLOW)
        assert served.ask(m.CreateAclsRequest([row])).results[0].error_code == 0
        assert seen_by(served, principal) == [token.token_id]


def test_an_id_is_never_taken_for_an_option() -> None:
    """As in Kafka it does not begin with "-", of which one random id of 64 would."""
    served = Served(configs=KEY)
    ids = [created(served, "User:bob").token_id for _ in range(400)]
    assert [each for each in ids if each.startswith("-")] == []


def test_one_who_asks_for_another_sees_the_token_and_does_not_renew_it() -> None:
    served = Served(configs=KEY)
    asked = CreateDelegationTokenRequest("User", "anna")
    token = served.ask(asked, principal="User:bob")
    assert (token.principal_name, token.token_requester_principal_name) == ("anna", "bob")
    for request in (
        m.RenewDelegationTokenRequest(token.hmac, _DAY_MS),
        m.ExpireDelegationTokenRequest(token.hmac, _DAY_MS),
    ):
        code = codes.DELEGATION_TOKEN_OWNER_MISMATCH
        assert served.ask(request, principal="User:bob").error_code == code
        assert served.ask(request, principal="User:anna").error_code == 0


def test_times_are_bounded_by_configs_and_by_an_int64() -> None:
    lifetimes = {"delegation.token.max.lifetime.ms": str(2 * _DAY_MS)}
    served = Served(configs={**KEY, **lifetimes})
    asked = CreateDelegationTokenRequest(max_lifetime_ms=2**63 - 1)
    token = served.ask(asked)
    issued_ms = token.issue_timestamp_ms
    assert token.max_timestamp_ms - issued_ms == 2 * _DAY_MS
    assert token.expiry_timestamp_ms - issued_ms == _DAY_MS
    expire = m.ExpireDelegationTokenRequest(token.hmac, 2**63 - 1)
    assert served.ask(expire).expiry_timestamp_ms == token.max_timestamp_ms


def test_expired_tokens_are_removed_in_time() -> None:
    configs = {**KEY, "delegation.token.expiry.check.interval.ms": str(_HOUR_MS)}
    with SyncCluster(configs=configs) as cluster:
        cluster.state.append(
            [
                m.DelegationTokenRecord("User:bob", "User:bob", [], 1, ends_ms, ends_ms, name)
                for name, ends_ms in (("over", 2), ("goes on", 2**63 - 1))
            ]
        )
        cluster.clock.advance(_HOUR_MS / 1000 - 60)
        assert len(cluster.state.cluster.delegation_tokens) == 2
        cluster.clock.advance(61)
        assert list(cluster.state.cluster.delegation_tokens) == ["goes on"]


def test_tokens_of_a_cluster_on_disk_go_on(tmp_path: Path) -> None:
    """The log has no HMAC: the key makes it again."""

    def cluster() -> SyncCluster:
        listeners = {"SASL": "SASL_PLAINTEXT"}
        return SyncCluster(listeners=listeners, users=PASSWORDS, configs=KEY, data=tmp_path)

    with cluster() as before, peer(before.bootstrap_servers) as client:
        client.handshake("PLAIN")
        client.authenticate(b"\0bob\0bob-secret")
        token = client.ask(CreateDelegationTokenRequest(), 3)
    files = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert not [each for each in files if token.hmac in each.read_bytes()]
    with cluster() as after:
        with peer(after.bootstrap_servers) as client:
            code, _ = with_token(client, "SCRAM-SHA-256", token.token_id, token.hmac)
            assert code == 0
        with peer(after.bootstrap_servers) as client:
            client.handshake("PLAIN")
            client.authenticate(b"\0bob\0bob-secret")
            gone = m.ExpireDelegationTokenRequest(token.hmac, -1)
            assert client.ask(gone, 2).error_code == 0
        with peer(after.bootstrap_servers) as client:
            assert with_token(client, "SCRAM-SHA-256", token.token_id, token.hmac) == (58, 0)


def test_a_server_that_answers_with_something_else() -> None:
    """A credential alone says neither whose a token is nor for how long."""
    credential: Any = ScramCredential.of_password("SCRAM-SHA-256", "p")
    server = SaslServer(scram_sha_256=lambda user: None, delegation_tokens=lambda *_: credential)
    exchange = server.exchange("SCRAM-SHA-256")
    assert exchange is not None
    with pytest.raises(TypeError, match="delegation_tokens of SaslServer returned an object of"):
        exchange.take(b"n,,n=id,r=abc,tokenauth=true")
