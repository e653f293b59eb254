"""SCRAM users: the salted password is RFC 5802's, and no password is shown."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import traceback
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.errors import BrokerError, RequestTimedOutError
from kafka_admin_proto.admin.operations.users.scram_credentials import (
    ScramCredential,
    ScramDeletion,
    ScramMechanism,
    ScramUpsertion,
    UserOperations,
    salted_password,
)
from kafka_admin_proto.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
)
from kafka_admin_proto.messages.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from kafka_admin_proto.messages.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
)
from kafka_admin_proto.messages.describe_user_scram_credentials_response import (
    CredentialInfo,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from kafka_admin_proto.render.meanings import all_meanings
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
NOT_FOUND = 91


class Client(UserOperations, FakeCaller):
    """A controller that keeps credentials as Kafka does: a user's alterations all or none."""

    def __init__(self) -> None:
        super().__init__(
            {
                AlterUserScramCredentialsRequest: self._alter,
                DescribeUserScramCredentialsRequest: self._describe,
            },
            controller=3,
        )
        self.kept: dict[tuple[str, int], tuple[int, bytes, bytes]] = {}

    def _alter(self, request: Message, call: Call) -> Message:
        assert isinstance(request, AlterUserScramCredentialsRequest)
        assert call.broker == 3
        changed = [each.name for each in request.deletions]
        changed += [each.name for each in request.upsertions]
        assert len(set(changed)) == len(changed), "KRaft refuses a user twice"
        missing = {
            each.name for each in request.deletions if (each.name, each.mechanism) not in self.kept
        }
        for gone in request.deletions:
            if gone.name not in missing:
                del self.kept[gone.name, gone.mechanism]
        for new in request.upsertions:
            if new.name not in missing:
                value = (new.iterations, bytes(new.salt), bytes(new.salted_password))
                self.kept[new.name, new.mechanism] = value
        names = {each.name for each in request.deletions} | {
            each.name for each in request.upsertions
        }
        return AlterUserScramCredentialsResponse(
            results=[
                AlterUserScramCredentialsResult(name, NOT_FOUND if name in missing else 0)
                for name in sorted(names, reverse=True)
            ]
        )

    def _describe(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeUserScramCredentialsRequest)
        assert request.users is not None, "4.3.1 never answers this to whom it is not allowed"
        users = [each.name for each in request.users] or sorted({u for u, _ in self.kept})
        results = []
        for user in users:
            infos = [
                CredentialInfo(mechanism, iterations)
                for (name, mechanism), (iterations, _, _) in self.kept.items()
                if name == user
            ]
            code = 0 if infos else NOT_FOUND
            results.append(DescribeUserScramCredentialsResult(user, code, None, infos))
        return DescribeUserScramCredentialsResponse(results=results)


def test_the_salted_password_proves_as_in_rfc_7677() -> None:
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = salted_password("pencil", salt, 4096, SHA_256)
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    said = (
        f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
        f"c=biws,r={nonce}"
    )
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    signature = hmac.digest(server_key, said.encode(), "sha256")
    assert base64.b64encode(signature) == b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@given(st.text("aäß💥 ", min_size=1, max_size=8), st.binary(min_size=1, max_size=9))
def test_what_is_sent_is_the_salted_password_alone(password: str, salt: bytes) -> None:
    client = Client()
    upsertion = ScramUpsertion("u", password, SHA_512, 4096, salt)
    (altered,) = asyncio.run(client.alter_users([upsertion]))
    assert altered.error is None
    expected = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 4096)
    assert client.kept == {("u", 2): (4096, salt, expected)}


def test_each_salt_is_a_new_one() -> None:
    client = Client()
    users = [ScramUpsertion(name, "same") for name in ("a", "b")]
    asyncio.run(client.alter_users(users))
    (_, salt, password), (_, other_salt, other_password) = client.kept.values()
    assert len(salt) >= 16
    assert salt != other_salt
    assert password != other_password


def test_results_are_in_order_and_a_failing_user_leaves_the_others() -> None:
    client = Client()
    results = asyncio.run(
        client.alter_users(
            [
                ScramUpsertion("b", "x"),
                ScramUpsertion("a", "y", SHA_256, 8192),
                ScramUpsertion("b", "z", SHA_256),
            ],
            [ScramDeletion("gone", SHA_512)],
        )
    )
    assert [(each.user, each.mechanism, each.error) for each in results] == [
        ("b", SHA_512, None),
        ("a", SHA_256, None),
        ("b", SHA_256, None),
        ("gone", SHA_512, "RESOURCE_NOT_FOUND"),
    ]
    described = asyncio.run(client.describe_users())
    assert [(each.user, each.credentials) for each in described] == [
        ("a", [ScramCredential(SHA_256, 8192)]),
        ("b", [ScramCredential(SHA_256, 4096), ScramCredential(SHA_512, 4096)]),
    ]  # fmt: skip
    (gone, known) = asyncio.run(client.describe_users(["gone", "b"]))
    assert (gone.error, known.error) == ("RESOURCE_NOT_FOUND", None)
    assert asyncio.run(client.describe_users([])) == []
    assert msgspec.to_builtins(known)["credentials"][1] == {
        "mechanism": "SCRAM-SHA-512",
        "iterations": 4096,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        ScramUpsertion("u", ""),
        ScramUpsertion("", "secret-word"),
        ScramUpsertion("u", "secret-word", iterations=4095),
        ScramUpsertion("u", "secret-word", iterations=16385),
        ScramUpsertion("u", "secret-word", ScramMechanism.UNKNOWN),
        ScramUpsertion("twice", "secret-word"),
    ],
)
def test_what_no_broker_takes_is_refused_here(wrong: ScramUpsertion) -> None:
    client = Client()
    with pytest.raises(ValueError, match=r"user|name") as caught:
        asyncio.run(client.alter_users([wrong], [ScramDeletion("twice", SHA_512)]))
    assert client.calls == []
    assert "secret-word" not in "".join(traceback.format_exception(caught.value))


def test_no_password_is_shown() -> None:
    upsertion = ScramUpsertion("alice", "secret-word", salt=b"salt-bytes")
    shown: list[Any] = [upsertion, [upsertion], upsertion.__rich_repr__()]
    assert all("secret-word" not in str(each) and "salt-bytes" not in str(each) for each in shown)
    assert "alice" in repr(upsertion)


def test_a_refusal_of_the_whole_description_is_raised() -> None:
    client = Client()
    client.handlers[DescribeUserScramCredentialsRequest] = lambda request, call: (
        DescribeUserScramCredentialsResponse(error_code=31)
    )
    with pytest.raises(BrokerError, match="CLUSTER_AUTHORIZATION_FAILED"):
        asyncio.run(client.describe_users())


def test_mechanisms_are_those_of_the_meanings() -> None:
    said = all_meanings()["scram_mechanism"]
    for each in ScramMechanism:
        assert said.name(each.code).replace("_", "-") == each.value
        assert ScramMechanism.of_code(each.code) is each
    assert ScramMechanism.of_code(9) is ScramMechanism.UNKNOWN


def test_a_password_that_is_set_is_known_when_the_next_request_fails() -> None:
    client = Client()
    alter = client.handlers[AlterUserScramCredentialsRequest]
    late = RequestTimedOutError("no answer")
    client.handlers[AlterUserScramCredentialsRequest] = lambda request, call: (
        late if len(client.calls) == 2 else alter(request, call)
    )
    both = [ScramUpsertion("alice", "pw", each) for each in (SHA_256, SHA_512)]
    results = asyncio.run(client.alter_users(both))
    assert [(each.mechanism, each.error) for each in results] == [
        (SHA_256, None),
        (SHA_512, "RequestTimedOutError"),
    ]
