"""SCRAM users: made and removed over the wire, and of a cluster on disk."""

from __future__ import annotations

import hashlib
from pathlib import Path

from kafka_admin_proto.messages import (
    AlterUserScramCredentialsRequest,
    DescribeUserScramCredentialsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.alter_user_scram_credentials_request import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka_admin_proto.server import SyncCluster
from tests.server.security.secured import PASSWORDS, Peer, peer, scram

EVERYTHING = MetadataRequest(topics=None)


def test_users_come_and_go_over_the_wire(cluster: SyncCluster) -> None:
    """A credential is valid with the answer, and no more with the answer to its deletion."""
    mechanism, address = "SCRAM-SHA-256", cluster.addresses("SASL")
    salt = b"salt" * 4
    salted = hashlib.pbkdf2_hmac("sha256", b"carol-secret", salt, 4096)
    new = ScramCredentialUpsertion("carol", 1, 4096, salt, salted)
    with peer(cluster.addresses("PLAINTEXT")) as admin:

        def code(client: Peer) -> int:
            found: int = scram(client, mechanism, "carol", "carol-secret").error_code
            return found

        with peer(address) as client:
            assert code(client) == 58
        answer = admin.ask(AlterUserScramCredentialsRequest(upsertions=[new]), 0)
        assert [each.error_code for each in answer.results] == [0]
        with peer(address) as client:
            assert code(client) == 0
            gone = AlterUserScramCredentialsRequest([ScramCredentialDeletion("carol", 1)])
            assert [each.error_code for each in admin.ask(gone, 0).results] == [0]
            assert client.ask(EVERYTHING, 12).brokers  # who is in stays
        with peer(address) as client:
            assert code(client) == 58
        described = admin.ask(DescribeUserScramCredentialsRequest(), 0)
        assert {each.user for each in described.results} == set(PASSWORDS)


def test_a_cluster_that_goes_on_with_other_listeners_and_users(tmp_path: Path) -> None:
    """On disk: a new password counts, the rest of the log stays as it is."""
    listeners = {"OLD": "SASL_PLAINTEXT"}
    with SyncCluster(listeners=listeners, users={"a": "1", "b": "2"}, data=tmp_path) as cluster:
        kept = cluster.state.cluster.scram_users["b", 2]
    listeners = {"NEW": "SASL_PLAINTEXT", "PLAIN": "PLAINTEXT"}
    with SyncCluster(listeners=listeners, users={"a": "3", "b": "2"}, data=tmp_path) as cluster:
        assert cluster.state.cluster.scram_users["b", 2] == kept
        for password, code in (("1", 58), ("3", 0)):
            with peer(cluster.addresses("NEW")) as client:
                assert scram(client, "SCRAM-SHA-512", "a", password).error_code == code
        with peer(cluster.addresses("PLAIN")) as client:
            (broker,) = client.ask(EVERYTHING, 12).brokers
            assert cluster.addresses("PLAIN") == f"127.0.0.1:{broker.port}"
    with SyncCluster(data=tmp_path) as cluster:  # without users, those of the log stay
        assert len(cluster.state.cluster.scram_users) == 4
